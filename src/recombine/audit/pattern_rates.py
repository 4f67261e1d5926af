"""How often a model is right on part of the combinations, with an interval.

Answers on one combination are alike, so that they count for fewer. Of n_c answers on combination c with correlation rho
between them, the mean has the variance p(1-p) sum_c n_c (1 + (n_c - 1) rho) / n^2, which is that of

    n_eff = n^2 / sum_c n_c (1 + (n_c - 1) rho)

answers that are independent; rho is what the findings leave unexplained. Intervals are exact (Clopper, Pearson 1934)
with n_eff trials: either end is wrong at most as rarely as said, also for rare failures, where Wilson's is not.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from .outcomes import Evaluated

LEVEL = 0.9  # of intervals


@dataclass(frozen=True)
class Share:
    """A share of right answers on some combinations.

    Args:
        right: the share; NaN without answers.
        low: of its interval.
        high: of it, too.
        n: answers.
        effective: how many independent answers they are worth.
        combinations: that have answers.
    """

    right: float
    low: float
    high: float
    n: float
    effective: float
    combinations: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if not self.n:
            return "no answers"
        return f"{self.right:.1%} right [{self.low:.1%}, {self.high:.1%}]"


def share(evaluated: Evaluated, chosen: np.ndarray, overdispersion: float = 0.0, level: float = LEVEL) -> Share:
    """The share of right answers on the chosen ones of the evaluated combinations.

    Args:
        evaluated: combinations with their answers.
        chosen: (combinations with answers,) bool.
        overdispersion: how much alike answers on one combination are, 0 to 1.
        level: of the interval.
    """
    answers, right = evaluated.answers[chosen], evaluated.right[chosen]
    n = float(answers.sum())
    if not n:
        return Share(math.nan, 0.0, 1.0, 0.0, 0.0, 0)
    effective = n * n / float((answers * (1 + np.maximum(answers - 1, 0) * overdispersion)).sum())
    mean = float(right.sum()) / n
    low, high = exact_at(mean, effective, level)
    return Share(mean, float(low), float(high), n, effective, len(answers))


def exact_at(mean: Any, n: Any, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Clopper's and Pearson's interval of shares of n trials, of which there may be parts.

    Args:
        mean: the shares.
        n: trials, more than zero.
        level: of the interval.
    """
    right, tail = np.asarray(mean, float) * n, (1 - level) / 2
    wrong = np.maximum(n - right, 0.0)
    low = np.where(right > 0, betaincinv(np.maximum(right, 1e-12), wrong + 1, tail), 0.0)
    high = np.where(wrong > 0, betaincinv(right + 1, np.maximum(wrong, 1e-12), 1 - tail), 1.0)
    return low, high


def wilson_at(mean: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's interval of a share of n trials, at any level."""
    z2 = quantile(level) ** 2
    middle = (mean + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * max(mean * (1 - mean), 0.0) / n + z2 * z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def quantile(level: float) -> float:
    """How many standard deviations an interval of this level goes out on either side."""
    return float(-ndtri((1 - level) / 2))


def apart(first: Share, second: Share, level: float) -> tuple[float, float, float]:
    """The first share less the second, with an interval (Newcombe 1998: squared and added), of independent answers."""
    if not (first.n and second.n):
        return math.nan, -1.0, 1.0
    gap = first.right - second.right
    (a_low, a_high), (b_low, b_high) = (wilson_at(one.right, one.effective, level) for one in (first, second))
    below = math.hypot(first.right - a_low, b_high - second.right)
    above = math.hypot(a_high - first.right, second.right - b_low)
    return gap, max(-1.0, gap - below), min(1.0, gap + above)


def paired_change(change: np.ndarray, weight: np.ndarray, level: float) -> tuple[float, float, float]:
    """The mean change of rows that were answered twice, with an interval.

    Bonett and Price 2012: of n rows, b got worse and c better; with p = (b + 1)/(n + 2) and q = (c + 1)/(n + 2) the
    interval is q - p +- z sqrt((p + q - (q - p)^2)/(n + 2)). A change of part of an answer counts in part, which makes
    it no narrower than it should be; n is what the weights are worth.

    Args:
        change: (rows,) from -1 to 1.
        weight: (rows,) how many rows each counts as.
        level: of the interval.
    """
    total = float(weight.sum())
    if not total:
        return math.nan, -1.0, 1.0
    n = total * total / float((weight * weight).sum())
    worse, better = (float((np.maximum(sign * change, 0) * weight).sum()) / total * n for sign in (-1, 1))
    p, q = (worse + 1) / (n + 2), (better + 1) / (n + 2)
    half = quantile(level) * math.sqrt(max(p + q - (q - p) ** 2, 0.0) / (n + 2))
    return (better - worse) / n, max(-1.0, q - p - half), min(1.0, q - p + half)
