"""Exact ridge regression: one Gram matrix, one Cholesky factor, any number of targets.

    minimize |Y - X W - b|^2 + strength |W|^2        (the intercept b is not penalized)

Centering removes b. With more features than rows the same solution comes from the rows x rows matrix. `Sums` is what
a fit needs of some rows: sums of blocks can be added up, and rows can be left out again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg


def fit(features: np.ndarray, targets: np.ndarray, strength: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Weights (features, targets) and intercept (targets,)."""
    mean_x, mean_y = features.mean(0), targets.mean(0)
    n, d = features.shape
    x = features - mean_x
    if n >= d:
        gram = x.T @ x
        gram[np.diag_indices(d)] += strength
        weights = solve_positive(gram, x.T @ (targets - mean_y))
    else:
        gram = x @ x.T
        gram[np.diag_indices(n)] += strength
        weights = x.T @ solve_positive(gram, targets - mean_y)
    return weights, mean_y - mean_x @ weights


@dataclass(frozen=True)
class Sums:
    """Sums over rows, from which a fit follows. Center the rows roughly first: sums of large numbers lose digits."""

    rows: int
    x: np.ndarray  # (features,)
    y: np.ndarray  # (targets,)
    xx: np.ndarray  # (features, features)
    xy: np.ndarray  # (features, targets)

    @classmethod
    def of(cls, features: np.ndarray, targets: np.ndarray) -> Sums:
        """Of the rows of one block; products in their own precision, sums of blocks in float64."""
        sums = (features.sum(0), targets.sum(0), features.T @ features, features.T @ targets)
        return cls(len(features), *(one.astype(np.float64) for one in sums))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.rows + other.rows, self.x + other.x, self.y + other.y, self.xx + other.xx, self.xy + other.xy)

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.rows - other.rows, self.x - other.x, self.y - other.y, self.xx - other.xx, self.xy - other.xy)

    def solve(self, strength: float) -> tuple[np.ndarray, np.ndarray]:
        """Weights (features, targets) and intercept (targets,), as `fit` gives them for all rows together."""
        mean_x, mean_y = self.x / self.rows, self.y / self.rows
        gram = self.xx - self.rows * np.outer(mean_x, mean_x)
        gram[np.diag_indices(len(gram))] += strength
        weights = solve_positive(gram, self.xy - self.rows * np.outer(mean_x, mean_y))
        return weights, mean_y - mean_x @ weights


def solve_positive(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """gram^-1 right by Cholesky, for a positive definite matrix. Both are given away: they may be overwritten."""
    factor = scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    return scipy.linalg.cho_solve(factor, right, overwrite_b=True, check_finite=False)


def r2_by_target(predicted: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """R^2 of each target column; NaN, not a number, where the column does not vary."""
    spread = ((targets - targets.mean(0)) ** 2).sum(0)
    error = ((predicted - targets) ** 2).sum(0)
    varies = np.ptp(targets, axis=0) > 0  # not spread > 0: rounding gives a constant a tiny spread
    return np.where(varies, 1 - error / np.where(varies, spread, 1.0), np.nan)
