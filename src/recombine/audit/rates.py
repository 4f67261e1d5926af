"""Rates with intervals. Answers on one combination are alike, so the combination is what is drawn again, not the row.

The interval of a rate is a bootstrap over combinations (95 %, percentiles). A bootstrap says nothing where all
combinations agree, and little where they are fewer than ten; there it is at least as wide as Wilson's interval with the
number of combinations as the number of trials. Neither says anything about another training run of the model.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

_DRAWS = 1000
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
    if n <= 0:
        return 0.0, 1.0
    p, z2 = right / n, _Z * _Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(max(p * (1 - p), 0.0) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def rate(name: str, right: np.ndarray, answers: np.ndarray, seed: int = 0) -> Rate:
    """The rate over combinations with `right` of `answers` each."""
    used = answers > 0
    right, answers = right[used], answers[used]
    if not len(answers):
        return Rate(name, 0, 0, math.nan, 0.0, 1.0)
    mean = float(right.sum() / answers.sum())
    drawn = _draw(np.stack([right, answers]), seed)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
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


def _draw(values: np.ndarray, seed: int) -> np.ndarray:
    """(draws, 2) sums over combinations drawn with replacement."""
    rng = np.random.default_rng(seed)
    n = values.shape[1]
    draws = _DRAWS if n <= 20_000 else 200
    sums = np.empty((draws, 2))
    step = max(1, 4_000_000 // n)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        times = rng.multinomial(n, np.full(n, 1 / n), size=size)
        sums[start : start + size] = times @ values.T
    return sums
