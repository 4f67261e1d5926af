"""Verdicts: a claim against its threshold, by the confidence sequence over seeds (`sequential.py`).

supported        the sequence lies on the claim's side
refuted          it lies on the other
tie              it lies within the margin of the threshold, where a difference does not matter
open             else: `why` says what is in the way, `would_decide` what it takes
by construction  true by construction: no evidence
not asked        at this scale: the claim says at which scales it is asked

A decision stays, whatever seeds are added. A claim "for every X" is supported if it is for each of its m cells, and
refuted if it is for some cell at level .05 / m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ..statistics.intervals import Interval, over_seeds
from .boundaries import LOOKS
from .cell_verdict import LEAST_SHARE, CellVerdict, empty_judgement
from .claims import Bound as Bound
from .claims import Claim as Claim
from .claims import Measurement as Measurement
from .claims import Reading as Reading
from .claims import at_least as at_least
from .claims import at_most as at_most
from .evidence import for_every, survivors
from .forecast import HOPELESS, chances, seeds_to_decide
from .seed_readings import ONE, Series, number_of, read_seeds
from .sequential import OPEN, REFUTED, SUPPORTED, TIE, Judgement
from .study_table import StudyTable

MIN_SEEDS = LOOKS[0]
BY_CONSTRUCTION, NOT_ASKED = "by construction", "not asked"
Outcome = Literal["supported", "refuted", "tie", "open", "by construction", "not asked"]
OUTCOMES: tuple[Outcome, ...] = ("supported", "refuted", "tie", "open", "by construction", "not asked")
ALWAYS_COUNTED = ("supported", "refuted", "open")


def counts(outcomes: Sequence[str]) -> list[tuple[str, int]]:
    """How often each outcome came out; rare kinds are counted only where there is such a claim."""
    found = [(name, outcomes.count(name)) for name in OUTCOMES]
    return [(name, number) for name, number in found if number or name in ALWAYS_COUNTED]


def surviving(verdicts: Sequence[Verdict]) -> list[int]:
    """Which of many verdicts survive e-BH at 5 %: of these, at most that share is decided by chance, on average.

    Only decided claims can; what holds by construction or is not asked has no evidence and is not counted.
    """
    there = [(i, e) for i, verdict in enumerate(verdicts) if (e := verdict.e_value) is not None]
    kept = survivors([e for _, e in there])
    return [
        i for (i, _), stays in zip(there, kept, strict=True) if stays and verdicts[i].outcome in (SUPPORTED, REFUTED)
    ]


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim at a scale.

    Args:
        claim: what is claimed.
        outcome: what came out.
        scale: at which it was asked.
        cells: what the seeds say of each reading of the claim; of most claims there is one.
        decided_at: after how many seeds it was decided; 0 if it is not.
        why: why it is open, or what a decision leaves out.
        error: that the reading of a seed cannot be: an error of the study.

    Example:
        >>> import pandas
        >>> from recombine.lab.study_table import StudyTable
        >>> from recombine.lab.verdicts import judge
        >>> seeds = StudyTable(pandas.DataFrame({"seed": range(6), "value": [0.9, 0.91, 0.92, 0.9, 0.91, 0.9]}), "")
        >>> verdict = judge(claim, seeds, "laptop")
        >>> verdict.on_side, verdict.decided_at
        ((6, 6), 3)
    """

    claim: Claim
    outcome: Outcome
    scale: str
    cells: tuple[CellVerdict, ...] = ()
    decided_at: int = 0
    why: str = ""
    error: str = ""

    # -- numbers ------------------------------------------------------------------------------------------------
    @cached_property
    def lead(self) -> CellVerdict:
        """The cell that stands for the claim: the one farthest from its side."""
        if not self.cells:
            return CellVerdict(self.claim, ONE, Series())
        sign = self.claim.bound.sign

        def standing(cell: CellVerdict) -> float:
            one = cell.judgement
            far = one.effect if math.isfinite(one.effect) else one.mean
            return math.inf if math.isnan(far) else far if self.claim.how_often is not None else sign * far

        return min(self.cells, key=standing)

    @property
    def judgement(self) -> Judgement:
        """That of the cell which stands for the claim."""
        return self.lead.judgement if self.lead.met else empty_judgement(self.claim)

    @property
    def interval(self) -> Interval:
        """Mean and confidence sequence over seeds, on the scale of the readings (of a share, in shares)."""
        one = self.judgement
        if not one.looks:
            return Interval(one.mean, -math.inf, math.inf, one.n)
        return Interval(one.mean, min(one.low, one.high), max(one.low, one.high), one.n)

    @property
    def values(self) -> dict[int, float]:
        """The reading of each seed that has one."""
        return self.lead.values

    @property
    def on_side(self) -> tuple[int, int]:
        """How many seeds lie on the claim's side, and of how many."""
        values = self.lead.values.values()
        return sum(self.claim.bound.holds(value) for value in values), len(values)

    @property
    def effect(self) -> float | None:
        """Distance of the mean from the threshold, in standard deviations over seeds; above it is positive."""
        value = self.judgement.effect
        return value if math.isfinite(value) else None

    @property
    def effect_words(self) -> list[str]:
        """What to know of the numbers beside mean and interval: the effect, and how many seeds lie on the side."""
        (k, n), effect = self.on_side, self.effect
        if not n:
            return []
        words = []
        if effect is not None and self.judgement.n >= MIN_SEEDS and self.outcome != BY_CONSTRUCTION:  # no evidence
            words.append(f"{abs(effect):.1f} sd {'above' if effect >= 0 else 'below'} the threshold")
        low, high = self.judgement.often
        more = f" ({low:.2f} to {high:.2f} of all)" if self.judgement.n >= MIN_SEEDS else ""
        return [*words, f"{k} of {n} seeds on its side{more}"]

    @property
    def notes(self) -> list[str]:
        """Why it is open, what would decide it, what a decision leaves out, and when it was made."""
        decided = f"decided at {self.decided_at} seeds" if self.decided_at else ""
        return [words for words in (decided, self.why, self.would_decide) if words]

    @property
    def counts_as_evidence(self) -> bool:
        """Whether it has enough seeds, and is not true by construction."""
        return self.outcome not in (BY_CONSTRUCTION, NOT_ASKED) and self.judgement.n >= MIN_SEEDS

    @cached_property
    def e_value(self) -> float | None:
        """Evidence against a mean at the threshold; of several cells against a worst cell there (`evidence.py`)."""
        return for_every([cell.e_sides for cell in self.cells]) if self.counts_as_evidence else None

    # -- what is still to come --------------------------------------------------------------------------------------
    @cached_property
    def chances(self) -> dict[int, float]:
        """Of an open claim, the chance that it is decided by each look to come."""
        return chances(self.cells) if self.may_be_fed else {}

    @property
    def may_be_fed(self) -> bool:
        """Whether more seeds could decide it."""
        return self.outcome == OPEN and not self.error and max((c.asked for c in self.cells), default=0) < LOOKS[-1]

    @property
    def hopeless(self) -> bool:
        """Whether seeds will not decide it."""
        return bool(self.chances) and self.chances[LOOKS[-1]] < HOPELESS

    @cached_property
    def would_decide(self) -> str:
        """What would decide an open claim; nothing where it is decided."""
        if self.outcome != OPEN or self.error:
            return ""
        if not self.chances:
            return "" if self.may_be_fed else "seeds will not decide it; change the reading or the scale"
        by_the_last = self.chances[LOOKS[-1]]
        if self.hopeless:
            return (
                f"seeds will not decide it (by {LOOKS[-1]} with a chance of {_percent(by_the_last)}); "
                "change the reading or the scale"
            )
        seeds = seeds_to_decide(self.lead)
        words = f"at this mean and spread {seeds} seeds would" if seeds else f"{LOOKS[-1]} seeds as these would not"
        return f"{words}; by {LOOKS[-1]} seeds it is decided with a chance of {_percent(by_the_last)}"

    @property
    def learned(self) -> str:
        """How many seeds met the precondition, where some did not."""
        one = max(self.cells, key=lambda cell: len(cell.series.unmet), default=self.lead)
        if not one.series.unmet:
            return ""
        seed, reason = next(iter(sorted(one.series.unmet.items())))
        what = "learned" if all("learned" in text for text in one.series.unmet.values()) else "precondition met"
        where = f" ({one.cell})" if one.cell else ""
        return f"{what} in {one.met} of {one.asked} seeds{where}; seed {seed}: {reason}"

    def to_json(self) -> dict[str, Any]:
        one, claim = self.judgement, self.claim
        k, n = self.on_side
        return {
            "claim": claim.id,
            "text": claim.text,
            "side": claim.side,
            "threshold": claim.threshold,
            "transform": claim.transform,
            "how_often": claim.how_often,
            "verdict": self.outcome,
            "value": _number(one.mean),
            "interval": [_number(self.interval.low), _number(self.interval.high)] if one.looks else None,
            "effect": self.effect,
            "seeds": one.n,
            "on_side": [k, n],
            "share_on_side": list(one.often),
            "e_value": self.e_value,
            "decided_at": self.decided_at or None,
            "why": self.why,
            "would_decide": self.would_decide,
            "learned": self.learned,
            "error": self.error,
            "by_seed": {str(seed): value for seed, value in self.values.items() if math.isfinite(value)},
            "cells": [cell_json(cell) for cell in self.cells] if self.cells and self.cells[0].cell else [],
        }


def cell_json(cell: CellVerdict) -> dict[str, Any]:
    """One cell of a claim "for every X"."""
    one = cell.judgement
    return {
        "cell": cell.cell,
        "verdict": cell.decision()[0],
        "value": _number(one.mean),
        "interval": [_number(one.low), _number(one.high)] if one.looks else None,
        "seeds": one.n,
        "e_value": one.e_value,
        "by_seed": {str(seed): value for seed, value in cell.values.items() if math.isfinite(value)},
    }


def judge(claim: Claim, table: StudyTable, scale: str, blocked: Mapping[int, str] | None = None) -> Verdict:
    """What the seeds of a table say of a claim.

    Args:
        claim: what is claimed.
        table: the trials of all seeds.
        scale: of the run.
        blocked: seeds that lack a trial which the claim reads, and which one; they end what counts.

    Example:
        >>> import pandas
        >>> from recombine.lab.study_table import StudyTable
        >>> from recombine.lab.verdicts import judge
        >>> seeds = StudyTable(pandas.DataFrame({"seed": range(6), "value": [0.9, 0.91, 0.92, 0.9, 0.91, 0.9]}), "")
        >>> judge(claim, seeds, "laptop").outcome
        'supported'
    """
    if scale not in claim.scales:
        where = " and ".join(claim.scales)
        return Verdict(claim, NOT_ASKED, scale, why=f"not asked at {scale} scale, but at {where}")
    found = read_seeds(claim, table, blocked)
    cells = tuple(CellVerdict(claim, name, series) for name, series in found.series.items())
    if claim.by_construction:
        return Verdict(claim, BY_CONSTRUCTION, scale, cells, 0, claim.by_construction, found.error)
    outcome, decided_at = _decision(cells)
    verdict = Verdict(claim, outcome, scale, cells, decided_at, error=found.error)
    why = _why(verdict, found.waits)
    return Verdict(claim, outcome, scale, cells, decided_at, why, found.error)


def _decision(cells: Sequence[CellVerdict]) -> tuple[Outcome, int]:
    """The first thing that is decided of all cells together, and after how many seeds."""
    if len(cells) == 1:
        return cells[0].decision()  # type: ignore[return-value]
    each = [cell.decision() for cell in cells]
    strict = [cell.decision(len(cells)) for cell in cells]
    refuted = min((at for outcome, at in strict if outcome == REFUTED), default=0)
    held = max((at for _, at in each), default=0) if all(one in (SUPPORTED, TIE) for one, _ in each) else 0
    if refuted and (not held or refuted <= held):
        return REFUTED, refuted
    if not held:
        return OPEN, 0
    return TIE if any(outcome == TIE for outcome, _ in each) else SUPPORTED, held


def _why(verdict: Verdict, waits: str) -> str:
    """Why a claim is open, or what was left out where it is decided."""
    if verdict.error:
        return f"an error of the study: {verdict.error}"
    if verdict.outcome != OPEN:
        return "; ".join(filter(None, (_since_decided(verdict), _left_out(verdict))))
    if waits:
        return "; ".join(filter(None, (waits, verdict.learned)))
    if verdict.learned and not all(cell.may_be_judged for cell in verdict.cells):
        low, high = max(verdict.cells, key=lambda cell: len(cell.series.unmet)).share_met
        return (
            f"{verdict.learned}. That is {low:.2f} to {high:.2f} of all seeds, and a claim is judged on those that do "
            f"where it is {LEAST_SHARE:g} at least"
        )
    fewest = min(verdict.cells, key=lambda cell: cell.met)
    if fewest.met < MIN_SEEDS:
        plural = "" if fewest.met == 1 else "s"
        return "; ".join(filter(None, (f"{fewest.met} seed{plural}; it takes {MIN_SEEDS}", verdict.learned)))
    return "; ".join(filter(None, (_why_open(verdict), verdict.learned)))


def _left_out(verdict: Verdict) -> str:
    """What a decision leaves out."""
    return verdict.learned and f"judged on the seeds that count: {verdict.learned}"


def _since_decided(verdict: Verdict) -> str:
    """That seeds which came after a decision speak against it: it stays, and the page says so."""
    disagreements = (_disagreement(cell) for cell in verdict.cells)
    return next((f"later seeds do not agree with those that decided: {words}" for words in disagreements if words), "")


def _disagreement(cell: CellVerdict) -> str:
    """That seeds of different looks do not go together; nothing where they do."""
    where = f"for {cell.cell} " if cell.cell else ""
    if any(one.disagree for one in cell.ends):
        return f"{where}seeds disagree with themselves, no mean is left that all looks allow"
    if any(one.looks and not one.low <= one.mean <= one.high for one in cell.ends):
        return f"{where}the mean of all seeds is none that all looks allow"
    return ""


def _why_open(verdict: Verdict) -> str:
    """Why whole seeds do not decide."""
    lead = verdict.lead
    where = f"for {lead.cell} " if lead.cell else ""
    if disagreement := _disagreement(lead):
        return disagreement
    if lead.censored:
        return f"{where}{len(lead.censored)} of {lead.met} readings are known to an interval, whose ends do not agree"
    return f"{where}the interval contains the threshold"


def measured(measurement: Measurement, table: StudyTable) -> tuple[Interval, dict[int, float]]:
    """A measurement over seeds: every seed counts that has a number."""
    each = ((seed, number_of(measurement.reading, part)) for seed, part in (table.seeds() if len(table) else ()))
    values = {seed: value for seed, value in each if value is not None}
    return over_seeds(list(values.values())), values


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
