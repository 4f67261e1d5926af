"""Two audits of the same factors, before and after: which findings are cured, which remain, which are new.

After data were collected, or for two versions of a model. For every finding of either audit the accuracy on the
combinations that it covers is compared: by rows that both tables have, where ids tell which they are; else as two
samples. Intervals are corrected for the number of findings (Bonferroni), so that all hold together. What is called:

    cured       better, and worse than combinations without findings by no more than the tolerance
    better      better, and it is open whether by that much
    remains     still worse than those (better or not, then by more than the tolerance); also if found only now, where
                it is shown to have been so before
    worse       worse than before
    new         worse than before, or not tested then, and found only now
    undecided   nothing of this is shown: the interval of the difference includes zero
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import listed
from .covering import covered_by, places_in
from .findings import Finding
from .outcomes import Evaluated, evaluate
from .paired_rows import PairedRows
from .pattern_rates import LEVEL, Share, apart, paired_change, share
from .result import Audit
from .seen import Seen

VERDICTS = ("cured", "better", "remains", "worse", "new", "undecided")
_SAID = {
    "cured": "Cured",
    "better": "Better, and perhaps not yet cured",
    "remains": "Remains",
    "worse": "Worse than before",
    "new": "New",
    "undecided": "Undecided",
}


@dataclass(frozen=True)
class Change:
    """What became of a finding.

    Args:
        finding: of the earlier audit; of the later one where the earlier has none such.
        verdict: one of `VERDICTS`.
        before: share of right answers on what it covers, then.
        after: now.
        change: after less before, with its interval, corrected for all findings.
        others: after, where no other finding covers it, less the share on combinations without a finding, with its
            interval, corrected too.
        rows: rows that both tables have, where the change is one of rows; 0 where two samples are compared.
    """

    finding: Finding
    verdict: str
    before: Share
    after: Share
    change: tuple[float, float, float]
    others: tuple[float, float, float]
    rows: int

    @property
    def words(self) -> str:
        mean, low, high = (100 * one for one in self.change)
        if math.isnan(mean):
            lacks = "now" if self.before.n else "before"
            return f"{self.finding.words} (no answers {lacks})"
        shares = f"{self.before.right:.0%} right -> {self.after.right:.0%}"
        return f"{self.finding.words} ({shares}, {mean:+.1f} points [{low:+.1f}, {high:+.1f}])"

    def to_json(self) -> dict[str, Any]:
        return {
            "pattern": self.finding.pattern,
            "rule": self.finding.rule,
            "verdict": self.verdict,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "change": dict(zip(("mean", "low", "high"), self.change, strict=True)),
            "to_others": dict(zip(("mean", "low", "high"), self.others, strict=True)),
            "paired_rows": self.rows,
            "said": self.words,
        }


@dataclass(frozen=True)
class Changes:
    """An audit beside an earlier one.

    Args:
        data: the name of the earlier table.
        overall: share of right answers before and after, and the difference with its 90 % interval.
        rows: rows that both tables have, by their ids; 0 where none are matched.
        changes: of all findings, in the order of `VERDICTS`.
        level: of the corrected intervals.
        notes: how rows were matched.
    """

    data: str
    before: Share
    after: Share
    overall: tuple[float, float, float]
    rows: int
    changes: list[Change]
    level: float
    notes: list[str]

    def __getitem__(self, verdict: str) -> list[Change]:
        return [one for one in self.changes if one.verdict == verdict]

    def sentences(self) -> list[str]:
        mean, low, high = (100 * one for one in self.overall)
        paired = f" on {self.rows:,} rows that both tables have" if self.rows else ""
        if math.isnan(mean):
            said = [f"Against {self.data}: one of the two tables has no answers that count."]
        else:
            verdict = "better" if low > 0 else "worse" if high < 0 else "undecided: the interval includes zero"
            shares = f"{self.before.right:.1%} right before, {self.after.right:.1%} now"
            said = [f"Against {self.data}{paired}: {shares}, {mean:+.1f} points [{low:+.1f}, {high:+.1f}]: {verdict}."]
        for verdict in VERDICTS:
            if found := self[verdict]:
                said.append(f"{_SAID[verdict]}: {listed([one.words for one in found], 8)}.")
        if not self.changes:
            said.append("Neither audit has a finding.")
        return said + self.notes

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "overall": dict(zip(("mean", "low", "high"), self.overall, strict=True)),
            "paired_rows": self.rows,
            "findings": [one.to_json() for one in self.changes],
            "level": self.level,
            "notes": self.notes,
            "summary": self.sentences(),
        }


class _Side:
    """One of the two audits, and which of its combinations are covered by a finding of either."""

    def __init__(self, audit: Audit):
        self.audit, self.observed = audit, audit.observed
        observed = audit.observed
        self.seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
        self.evaluated: Evaluated = evaluate(observed)
        rho = audit.found.overdispersion
        self.overdispersion = rho if math.isfinite(rho) else 0.0

    def covers(self, finding: Finding) -> np.ndarray:
        return covered_by(finding, self.observed, self.seen, self.observed.rows)

    def share(self, covered: np.ndarray, level: float) -> Share:
        return share(self.evaluated, covered[self.evaluated.at], self.overdispersion, level)


def compare_audits(before: Audit, after: Audit, pairs: PairedRows | None = None, tolerance: float = 0.05) -> Changes:
    """What became of the findings of an earlier audit, and which are new.

    Args:
        before: the earlier audit.
        after: the later one, of the same factors.
        pairs: rows that both have.
        tolerance: a cured finding may be worse than combinations without findings by so much, not more.
    """
    then, now = _Side(before), _Side(after)
    known = [(one, then, now) for one in before.findings]
    old = {_key(one) for one in before.findings}
    fresh = [(one, now, then) for one in after.findings if _key(one) not in old]
    level = 1 - (1 - LEVEL) / max(len(known) + len(fresh), 1)
    covers = [_both(one, home, away, then) for one, home, away in (*known, *fresh)]
    clean, times = zip(*(_clean([one[i] for one in covers], side) for i, side in enumerate((then, now))), strict=True)
    made = []
    for (finding, home, _), covered in zip((*known, *fresh), covers, strict=True):
        shares = then.share(covered[0], level), now.share(covered[1], level)
        rows, change = _change(pairs, covered[1], *shares, level)
        gaps = []
        for side, inside, others, n in zip((then, now), covered, clean, times, strict=True):
            own = side.share(inside & (n == 1), level)  # what another finding covers, too, may fail for that
            gaps.append(apart(own if own.n else side.share(inside, level), side.share(others, level), level))
        verdict = _found_now(change, *gaps) if home is now else _verdict(change, gaps[1], tolerance)
        made.append(Change(finding, verdict, *shares, change, gaps[1], rows))
    everything = [np.ones(len(side.observed.rows), bool) for side in (then, now)]
    overall = then.share(everything[0], LEVEL), now.share(everything[1], LEVEL)
    matched, difference = _change(pairs, everything[1], *overall, LEVEL)
    made.sort(key=lambda one: VERDICTS.index(one.verdict))
    notes = pairs.notes if pairs else []
    return Changes(before.data, *overall, difference, matched, made, level, notes)


def _both(finding: Finding, home: _Side, away: _Side, then: _Side) -> tuple[np.ndarray, np.ndarray]:
    """The combinations that a finding covers, in the earlier and in the later table: the same ones, level by level.

    What a rule covers is fixed by the table in which it was found: pairs that were never trained then are trained now.
    """
    own = home.covers(finding)
    if finding.rule:
        place = places_in(home.observed, away.observed)
        other = (place >= 0) & np.append(own, False)[place]
    else:
        other = away.covers(finding)
    return (own, other) if home is then else (other, own)


def _change(
    pairs: PairedRows | None, here: np.ndarray, before: Share, after: Share, level: float
) -> tuple[int, tuple[float, float, float]]:
    """How many rows are compared one by one (0: none), and the difference with its interval."""
    if pairs is not None:
        chosen = here[pairs.at]
        if chosen.any():
            return int(chosen.sum()), paired_change(pairs.change[chosen], pairs.weight[chosen], level)
    return 0, apart(after, before, level)


Interval = tuple[float, float, float]


def _verdict(change: Interval, others: Interval, tolerance: float) -> str:
    """What became of a finding of the earlier audit."""
    better = change[1] > 0
    if change[2] < 0:
        return "worse"
    if others[2] < (-tolerance if better else 0):
        return "remains"
    if not better:
        return "undecided"
    return "cured" if math.isnan(others[0]) or others[1] > -tolerance else "better"


def _found_now(change: Interval, was: Interval, others: Interval) -> str:
    """What a finding is that only the later audit has."""
    if change[2] < 0 or (math.isnan(change[0]) and others[2] < 0):
        return "new"
    return "remains" if was[2] < 0 and others[2] < 0 else "undecided"


def _clean(covers: list[np.ndarray], side: _Side) -> tuple[np.ndarray, np.ndarray]:
    """Which combinations of a table no finding covers, and how many cover each."""
    times = np.sum([np.zeros(len(side.observed.rows), int), *covers], axis=0)
    return times == 0, times


def _key(finding: Finding) -> tuple[Any, ...]:
    return finding.rule, *sorted(finding.pattern.items())
