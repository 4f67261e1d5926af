"""Exact ridge regression: one Gram matrix, one Cholesky factor, any number of targets.

    minimize |Y - X W - b|^2 + strength |W|^2        (the intercept b is not penalized)

Centering removes b. With more features than rows the same solution comes from the rows x rows matrix.
"""

from __future__ import annotations

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
        weights = _solve(gram, x.T @ (targets - mean_y))
    else:
        gram = x @ x.T
        gram[np.diag_indices(n)] += strength
        weights = x.T @ _solve(gram, targets - mean_y)
    return weights, mean_y - mean_x @ weights


def _solve(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    factor = scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    return scipy.linalg.cho_solve(factor, right, overwrite_b=True, check_finite=False)


def r2_by_target(predicted: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """R^2 of each target column; NaN, not a number, where the column does not vary."""
    spread = ((targets - targets.mean(0)) ** 2).sum(0)
    error = ((predicted - targets) ** 2).sum(0)
    varies = np.ptp(targets, axis=0) > 0  # not spread > 0: rounding gives a constant a tiny spread
    return np.where(varies, 1 - error / np.where(varies, spread, 1.0), np.nan)
