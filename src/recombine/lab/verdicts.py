"""Verdicts: a claim against its threshold, by the 95 % interval over seeds.

supported  all of the interval lies on the claim's side
refuted    all of it lies on the other
undecided  else, and always with fewer than three seeds, or where the precondition of the claim does not hold
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..intervals import Interval, over_seeds
from .store import Table

MIN_SEEDS = 3
MANY_SEEDS = 200
Outcome = Literal["supported", "refuted", "undecided"]


class NotMet(Exception):
    """The precondition of a claim does not hold for a seed; the text says which."""


@dataclass(frozen=True)
class Claim:
    """What is claimed, by whom, and the number that decides; the threshold is written before the run."""

    id: str
    text: str
    source: str
    side: Literal["at least", "at most"]
    threshold: float
    reading: Callable[[Table], float]  # table of one seed -> value; may raise NotMet
    reads: str  # the reading in words
    control: str  # the control world in which this claim is false by construction


@dataclass(frozen=True)
class Question:
    """A reading without a threshold: asked, measured, reported."""

    id: str
    text: str
    reading: Callable[[Table], float]
    reads: str


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
        if self.outcome == "undecided":
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


def judge(claim: Claim, table: Table, scale: str) -> Verdict:
    """Reads the claim's number for every seed and compares the interval with the threshold."""
    values, why = _by_seed(claim.reading, table)
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


def answer(question: Question, table: Table) -> tuple[Interval, dict[int, float]]:
    """The reading of a question over seeds."""
    values, _ = _by_seed(question.reading, table)
    return over_seeds(list(values.values())), values


def _by_seed(reading: Callable[[Any], float], table: Table) -> tuple[dict[int, float], str]:
    values: dict[int, float] = {}
    why = ""
    if table.empty:
        return {}, "nothing was measured"
    for seed, part in table.groupby("seed"):
        try:
            value = float(reading(part))
        except NotMet as problem:
            why = why or f"seed {seed}: {problem}"
            continue
        if not math.isfinite(value):
            why = why or f"seed {seed}: the reading is {'undefined' if math.isnan(value) else 'infinite'}"
            continue
        values[int(seed)] = value  # type: ignore[arg-type]
    return values, why
