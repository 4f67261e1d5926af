"""Verdicts: a claim against its threshold, by the 95 % interval over seeds.

supported  all of the interval lies on the claim's side
refuted    all of it lies on the other
undecided  else, and always with fewer than three seeds, or where the precondition of the claim does not hold
not asked  at this scale: the claim says at which scales it is asked
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UserError, unknown
from ..intervals import Interval, over_seeds
from .scales import SCALES
from .study_table import PreconditionFailed, StudyTable

MIN_SEEDS = 3
MANY_SEEDS = 200
Outcome = Literal["supported", "refuted", "undecided", "not asked"]
OUTCOMES: tuple[Outcome, ...] = ("supported", "refuted", "undecided", "not asked")


def counts(outcomes: Sequence[str]) -> list[tuple[str, int]]:
    """How often each outcome came out; what was not asked is counted only where there is such a claim."""
    found = [(name, outcomes.count(name)) for name in OUTCOMES]
    return [(name, number) for name, number in found if number or name != "not asked"]


Reading = Callable[[StudyTable], float]  # of the trials of one seed; may raise PreconditionFailed


@dataclass(frozen=True)
class Bound:
    """Which side of which number a claim is on."""

    side: Literal["at least", "at most"]
    value: float


def at_least(value: float) -> Bound:
    return Bound("at least", float(value))


def at_most(value: float) -> Bound:
    return Bound("at most", float(value))


@dataclass(frozen=True)
class Claim:
    """What is claimed, by whom, and the number that decides; the threshold is written before the run.

    Args:
        id: a short name.
        reading: the trials of one seed -> the number that decides; may raise PreconditionFailed.
        bound: `at_least(number)` or `at_most(number)`.
        text: the claim as a sentence.
        false_in: the control in which it is false by construction: one of the world's ("lookup"), one of the study's,
            "same-arms" (what varies is recorded and not applied) or "unrelated" (scores are replaced by chance).
        description: the reading in words; the first line of its docstring, if none is given.
        source: who claims it; the study's source, if none is given.
        scales: at which it is asked.
        supported: what the headline says if it is supported.
        refuted: and if it is refuted.
    """

    id: str
    reading: Reading
    bound: Bound
    text: str
    false_in: str = ""
    description: str = ""
    source: str = ""
    scales: tuple[str, ...] = SCALES
    supported: str = ""
    refuted: str = ""

    def __post_init__(self):
        if not self.description:
            object.__setattr__(self, "description", _first_line(self.reading, self.id))
        for scale in self.scales:
            if scale not in SCALES:
                raise unknown(f"scale of claim {self.id!r}", scale, SCALES)

    @property
    def side(self) -> str:
        return self.bound.side

    @property
    def threshold(self) -> float:
        return self.bound.value


@dataclass(frozen=True)
class Measurement:
    """A reading without a threshold: measured and reported.

    Args:
        id: a short name.
        reading: the trials of one seed -> a number; may raise PreconditionFailed.
        text: what is measured.
        description: the reading in words; the first line of its docstring, if none is given.
    """

    id: str
    reading: Reading
    text: str
    description: str = ""

    def __post_init__(self):
        if not self.description:
            object.__setattr__(self, "description", _first_line(self.reading, self.id))


def _first_line(reading: Any, id: str) -> str:
    """A reading in words, by its docstring, as they stand in a sentence."""
    line = (getattr(reading, "__doc__", None) or "").strip().split("\n")[0].rstrip(".")
    if not line:
        raise UserError(f"the reading of {id!r} has no docstring, and no description says what it reads")
    return line[:1].lower() + line[1:] if line[1:2].islower() or line[1:2] == " " else line


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim at a scale."""

    claim: Claim
    outcome: Outcome
    interval: Interval
    values: dict[int, float]  # by seed
    scale: str
    why: str = ""

    @property
    def would_change(self) -> str:
        """What would leave a decided claim undecided; nothing where it is undecided (`why` says what it takes)."""
        if self.outcome not in ("supported", "refuted"):
            return ""
        above = (self.claim.side == "at least") == (self.outcome == "supported")  # where the interval lies
        values = list(self.values.values())
        low, high = (_short(_tipping_seed(values, self.claim.threshold, above, way)) for way in (-1.0, 1.0))
        return f"undecided with one more seed below {low} or above {high}"

    def to_json(self) -> dict[str, Any]:
        finite = self.interval.seeds >= 2
        return {
            "claim": self.claim.id,
            "verdict": self.outcome,
            "value": self.interval.mean if self.interval.seeds else None,
            "interval": [self.interval.low, self.interval.high] if finite else None,
            "threshold": self.claim.threshold,
            "seeds": self.interval.seeds,
        }


def judge(claim: Claim, table: StudyTable, scale: str) -> Verdict:
    """Reads the claim's number for every seed and compares the interval with the threshold."""
    if scale not in claim.scales:
        where = " and ".join(claim.scales)
        return Verdict(claim, "not asked", over_seeds([]), {}, scale, f"not asked at {scale} scale, but at {where}")
    values, why = values_by_seed(claim.reading, table)
    interval = over_seeds(list(values.values()))
    if why:
        return Verdict(claim, "undecided", interval, values, scale, why)
    if len(values) < MIN_SEEDS:
        plural = "" if len(values) == 1 else "s"
        return Verdict(claim, "undecided", interval, values, scale, f"{len(values)} seed{plural}; it takes {MIN_SEEDS}")
    above, below = interval.low >= claim.threshold, interval.high <= claim.threshold
    holds, fails = (
        (above, interval.high < claim.threshold)
        if claim.side == "at least"
        else (below, interval.low > claim.threshold)
    )
    if holds:
        return Verdict(claim, "supported", interval, values, scale)
    if fails:
        return Verdict(claim, "refuted", interval, values, scale)
    why = f"the interval contains the threshold; {_what_it_takes(list(values.values()), claim.threshold)}"
    return Verdict(claim, "undecided", interval, values, scale, why)


def _what_it_takes(values: list[float], threshold: float) -> str:
    """How many seeds would decide if mean and spread over seeds stayed as they are: an estimate, said as one."""
    from scipy.special import stdtrit

    mean, spread = statistics.fmean(values), statistics.stdev(values)
    for seeds in range(len(values) + 1, MANY_SEEDS + 1):
        if stdtrit(seeds - 1, 0.975) * spread / seeds**0.5 < abs(mean - threshold):
            return f"at this spread it would take about {seeds} seeds"
    return f"at this spread {MANY_SEEDS} seeds would not decide"


def _tipping_seed(values: list[float], threshold: float, above: bool, way: float) -> float:
    """The value of one more seed at which the interval would reach the threshold; it lies above it or below it now.

    way: 1 looks above the mean, -1 below it. There is one such value on each side, since an end of the interval is a
    straight line in the value of a seed minus (or plus) a spread, which is convex: toward the threshold the mean moves,
    and away from it the interval widens faster than the mean moves.
    """
    mean = statistics.fmean(values)

    def clear(value: float) -> bool:
        interval = over_seeds([*values, value])
        return interval.low >= threshold if above else interval.high <= threshold

    step = max(abs(mean - threshold), 1e-9)
    while clear(mean + way * step):
        step *= 2
    inner, outer = 0.0, step
    for _ in range(60):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if clear(mean + way * middle) else (inner, middle)
    return mean + way * outer


def _short(value: float) -> str:
    """Three digits, with a real minus."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}") if abs(value) >= 0.001 else f"{value:z.3f}"


def measured(measurement: Measurement, table: StudyTable) -> tuple[Interval, dict[int, float]]:
    """A measurement over seeds."""
    values, _ = values_by_seed(measurement.reading, table)
    return over_seeds(list(values.values())), values


def values_by_seed(reading: Reading, table: StudyTable) -> tuple[dict[int, float], str]:
    """The reading of each seed that has one, and why the first that has none has none."""
    values: dict[int, float] = {}
    why = ""
    if not len(table):
        return {}, "nothing was measured"
    for seed, part in table.seeds():
        try:
            value = float(reading(part))
        except PreconditionFailed as problem:
            why = why or f"seed {seed}: {problem}"
            continue
        if not math.isfinite(value):
            why = why or f"seed {seed}: the reading is {'undefined' if math.isnan(value) else 'infinite'}"
            continue
        values[seed] = value
    return values, why
