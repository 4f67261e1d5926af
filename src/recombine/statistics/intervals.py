"""Intervals over seeds: how far a mean of a few independent runs can be trusted.

Not to be mixed with a bootstrap over the samples of one run, which says nothing about another run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Interval:
    """Mean over seeds with its 95 % Student interval; infinite with fewer than two seeds.

    Args:
        mean: over seeds.
        low: the lower end.
        high: the upper end.
        seeds: how many.

    Example:
        >>> print(rc.Interval(mean=0.8, low=0.7, high=0.9, seeds=3))
        0.800 [0.700, 0.900]
    """

    mean: float
    low: float
    high: float
    seeds: int

    def __str__(self) -> str:
        if not self.seeds:
            return "undefined"
        if not math.isfinite(self.low):
            return f"{self.mean:z.3f} ({self.seeds} seed{'s' if self.seeds != 1 else ''})"
        return f"{self.mean:z.3f} [{self.low:z.3f}, {self.high:z.3f}]"


def over_seeds(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The interval of the mean of values, one per seed. NaN among them is an error: say what to do with it first.

    Args:
        values: one per seed.
        confidence: of the interval.

    Example:
        >>> print(rc.over_seeds([0.7, 0.8, 0.9]))
        0.800 [0.552, 1.048]
    """
    array = np.asarray(values, dtype=float)
    if np.isnan(array).any():
        raise ValueError(f"a NaN among {array.tolist()} cannot enter a mean over seeds")
    n = len(array)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, 0)
    mean = float(array.mean())
    if n == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    from scipy.special import stdtrit  # here, since importing it takes a third of a second

    half = float(stdtrit(n - 1, 0.5 + confidence / 2) * array.std(ddof=1) / math.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


def of_difference(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Interval:
    """Mean of `second` minus mean of `first`, one value per seed each, with Welch's interval for unequal spread.

    `seeds` is the smaller number of seeds; the interval is infinite where one side has fewer than two.
    """
    a, b = (np.asarray(values, dtype=float) for values in (first, second))
    for array in (a, b):
        if np.isnan(array).any():
            raise ValueError(f"a NaN among {array.tolist()} cannot enter a mean over seeds")
    n = min(len(a), len(b))
    if not n:
        return Interval(math.nan, -math.inf, math.inf, 0)
    mean = float(b.mean() - a.mean())
    if n == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    errors = [float(array.var(ddof=1)) / len(array) for array in (a, b)]
    if sum(errors) == 0.0:
        return Interval(mean, mean, mean, n)
    from scipy.special import stdtrit

    freedom = sum(errors) ** 2 / sum(e**2 / (len(array) - 1) for e, array in zip(errors, (a, b), strict=True))
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(sum(errors))
    return Interval(mean, mean - half, mean + half, n)
