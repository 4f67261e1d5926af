"""One reading of a claim over its seeds: what they decide, and when.

A claim "for every X" has several; any other has one. Seeds that do not meet the precondition are left out, if it is
sure that at least half of all seeds meet it (or if none failed to); censored seeds decide if both their ends do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .boundaries import LEVEL
from .claims import Claim
from .evidence import NONE, Sides
from .seed_readings import Series
from .sequential import OPEN, TRANSFORMS, Judgement, how_often, judged
from .share_sequence import judged_share
from .study_table import Censored

LEAST_SHARE = 0.5  # of seeds that must be sure to meet the precondition


@dataclass(frozen=True)
class CellVerdict:
    """What the seeds say of one cell of a claim.

    Args:
        claim: what is claimed.
        cell: for which X; "" where the claim has one reading.
        series: what was read of each seed.
    """

    claim: Claim
    cell: str
    series: Series

    @cached_property
    def ends(self) -> tuple[Judgement, ...]:
        """The judgement of the readings; of censored ones that of their lower and of their upper ends."""
        return self._judged(1)

    def _judged(self, m: int) -> tuple[Judgement, ...]:
        return tuple(self._judged_at(end, m) for end in self.known_ends)

    @property
    def known_ends(self) -> tuple[np.ndarray, ...]:
        """Readings in the order of seeds; where some are censored once by their lower and once by their upper ends."""
        found = [self.series.values[seed] for seed in sorted(self.series.values)]
        if not any(isinstance(value, Censored) for value in found):
            return (np.array(found, dtype=float),)
        both = [known_ends(value, self.claim) for value in found]
        return np.array([low for low, _ in both]), np.array([high for _, high in both])

    @property
    def worst_ends(self) -> list[float]:
        """Readings in the order of seeds; of a censored one the end farther from the claim's side."""
        ends = self.known_ends
        return list(ends[0] if self.claim.bound.sign > 0 else ends[-1])

    def _judged_at(self, ends: np.ndarray, m: int) -> Judgement:
        claim, bound = self.claim, self.claim.bound
        if claim.how_often is not None:
            return judged_share([bound.holds(value) for value in ends], claim.how_often, m)
        transform = TRANSFORMS[claim.transform]
        known = np.asarray(transform.takes(ends))
        ends = ends if known.all() else ends[: int(known.argmin())]  # nothing is known after a seed without an end
        if not len(ends):
            return empty_judgement(claim)
        return judged(ends, bound.value, bound.sign, transform, claim.margin, claim.resolution, m)

    @property
    def judgement(self) -> Judgement:
        """That of the end which lies farther from the claim's side: what is shown."""
        return min(self.ends, key=lambda one: (one.n, self.claim.bound.sign * _known(one.mean)))

    @property
    def e_sides(self) -> Sides:
        """The parts of its e-value; of censored readings what both ends give, at least."""
        return min(one.e_sides[0] for one in self.ends), min(one.e_sides[1] for one in self.ends)

    @property
    def censored(self) -> dict[int, tuple[float, float]]:
        """The interval of each seed of which only that is known."""
        values = self.series.values.items()
        return {seed: (one.low, one.high) for seed, one in values if isinstance(one, Censored)}

    @property
    def values(self) -> dict[int, float]:
        """The number of each seed; of a censored one the end that is known, on the other side of the claim first."""
        found = {}
        for seed, value in sorted(self.series.values.items()):
            if isinstance(value, Censored):
                ends = (value.low, value.high) if self.claim.bound.sign > 0 else (value.high, value.low)
                value = next((end for end in ends if math.isfinite(end)), ends[0])
            found[seed] = float(value)
        return found

    # -- the precondition -------------------------------------------------------------------------------------------
    @property
    def met(self) -> int:
        return len(self.series.values)

    @property
    def asked(self) -> int:
        return self.met + len(self.series.unmet)

    @cached_property
    def share_met(self) -> tuple[float, float]:
        """The confidence sequence of the share of seeds that meet the precondition."""
        low, high, k = 0.0, 1.0, 0
        for n, seed in enumerate(self.series.seeds, start=1):
            k += seed in self.series.values
            one, other = how_often(k, n, LEVEL)
            low, high = max(low, one), min(high, other)
        return low, high

    @cached_property
    def _sure_at(self) -> list[bool]:
        """After each seed: whether the claim may be judged on those that met the precondition."""
        if not self.series.unmet:
            return [True] * self.asked
        low, k, found = 0.0, 0, []
        for n, seed in enumerate(self.series.seeds, start=1):
            k += seed in self.series.values
            low = max(low, how_often(k, n, LEVEL)[0])
            found.append(k == n or low >= LEAST_SHARE)
        return found

    @property
    def may_be_judged(self) -> bool:
        return not self.series.unmet or self._sure_at[-1]

    # -- decisions --------------------------------------------------------------------------------------------------
    def decision(self, m: int = 1) -> tuple[str, int]:
        """The outcome, and after how many seeds it stood; m cells share the level."""
        found = self.ends if m == 1 else self._judged(m)
        outcomes = {one.outcome for one in found}
        at = 0 if OPEN in outcomes or len(outcomes) > 1 else self._revealed(max(one.decided_at for one in found))
        return (outcomes.pop(), at) if at else (OPEN, 0)

    def _revealed(self, met: int) -> int:
        """The number of seeds at which so many had met the precondition, and were sure to be enough; 0 for not yet."""
        k = 0
        for n, (seed, sure) in enumerate(zip(self.series.seeds, self._sure_at, strict=True), start=1):
            k += seed in self.series.values
            if k >= met and sure:
                return n
        return 0


def known_ends(value: float | Censored, claim: Claim) -> tuple[float, float]:
    """Between which numbers a reading lies.

    An open end counts as the known one if both lie on one side of the threshold: what was never reached lies farther
    off than the last that was tried, and the last that was tried decides already.
    """
    if not isinstance(value, Censored):
        return float(value), float(value)
    low, high, takes, bound = value.low, value.high, TRANSFORMS[claim.transform].takes, claim.bound
    if takes(low) and not takes(high) and low > bound.value:
        high = low
    elif takes(high) and not takes(low) and high < bound.value:
        low = high
    return low, high


def empty_judgement(claim: Claim) -> Judgement:
    """That of a claim without a single number."""
    t, nan = TRANSFORMS[claim.transform], math.nan
    return Judgement(OPEN, t.low, t.high, nan, 0, 0, NONE, nan, (0.0, 1.0), 0, (), claim.side, claim.threshold)


def _known(value: float) -> float:
    return -math.inf if math.isnan(value) else value
