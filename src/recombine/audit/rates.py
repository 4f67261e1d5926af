"""Rates with intervals. Answers on one combination are alike, so the combination is what is drawn again, not the row.

The interval of a rate (95 %) is Wilson's with as many trials as the answers are worth: the spread of the combinations
around the rate says how many (a ratio estimator's variance, linearized; Cochran 1977, section 6.3). It is made wider
for few combinations (Student's t), and where all of them agree, or fewer than ten are there, it is at least as wide as
Wilson's with the number of combinations as the number of trials. It says nothing about another training run of the
model.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

_Z = 1.959963984540054


@dataclass(frozen=True)
class Rate:
    """A share of right answers."""

    name: str
    combinations: int
    answers: int
    mean: float  # over answers
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if not self.answers:
            return "no answers"
        of = f"{self.answers:,} answers on {self.combinations:,} combinations"
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}] ({of})"


def wilson(right: int | float, n: int | float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    return wilson_of(right / n, n) if n > 0 else (0.0, 1.0)


def wilson_of(p: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many trials, which need not be a whole number."""
    z2 = _Z * _Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(max(p * (1 - p), 0.0) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def clustered(right: np.ndarray, answers: np.ndarray) -> tuple[float, float]:
    """95 % interval of a rate whose answers are alike within a combination, from the spread of the combinations."""
    n, total = len(answers), float(answers.sum())
    p = float(right.sum()) / total
    if n < 2 or not 0 < p < 1:
        return wilson(p * n, n)
    leverage = answers / total  # one combination with most of the answers moves the rate to itself
    residual = (right - p * answers) / np.maximum(1 - leverage, 0.05)
    variance = float((residual**2).sum()) / total**2
    worth = p * (1 - p) / variance if variance > 0 else math.inf
    # so many combinations as the answers are spread over: few large ones count as few
    spread = max(total**2 / float((answers**2).sum()) - 1, 1.0)
    wider = float(stdtrit(spread, 0.975)) / _Z
    return wilson_of(p, min(worth, 1e12) / wider**2)


def rate(name: str, right: np.ndarray, answers: np.ndarray) -> Rate:
    """The rate over combinations with `right` of `answers` each."""
    used = answers > 0
    right, answers = right[used], answers[used]
    if not len(answers):
        return Rate(name, 0, 0, math.nan, 0.0, 1.0)
    mean = float(right.sum() / answers.sum())
    low, high = clustered(right, answers)
    least = wilson(mean * len(answers), len(answers))
    if len(answers) < 10 or not 0 < mean < 1 or np.ptp(right / answers) == 0:
        low, high = min(low, least[0]), max(high, least[1])
    return Rate(name, len(answers), int(answers.sum()), mean, float(low), float(high))


def difference(first: Rate, second: Rate) -> tuple[float, float, float]:
    """The first rate less the second, with an interval from both of theirs (squared and added, after Newcombe 1998)."""
    if not (first.answers and second.answers):
        return math.nan, math.nan, math.nan
    gap = first.mean - second.mean
    below = math.hypot(first.mean - first.low, second.high - second.mean)
    above = math.hypot(first.high - first.mean, second.mean - second.low)
    return gap, max(-1.0, gap - below), min(1.0, gap + above)
