"""How well what each combination is made of can be read off a layer by a linear map: one number per combination.

    1 - (mean squared error of the combination) / (variance over the combinations that the map is fitted on)

1 is read without error, and 0 is as far off as combinations are from their mean, on average. Of some combinations
together it is 1 - (their errors) / (their errors if the mean were always said): 0 is no better than that.

The map is a ridge regression fitted on training combinations. What is said of one of these comes from a map that has
not seen it: training combinations are dealt into four parts, and each part is read by the map of the other three. The
strength is the one of STRENGTHS that reads the parts that were left out best, so that a wide layer of noise is not read
worse than by the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics import ridge

PARTS = 4
STRENGTHS = (1e-4, 1e-2, 1.0, 100.0)  # per row, for features with a variance of 1 on average
FIT_ROWS = 4096  # rows are one draw of one combination: more would take longer and change little


@dataclass(frozen=True)
class Decoded:
    """What was read of each combination: squared errors of all targets together, mean over draws."""

    errors: np.ndarray  # (combinations,); NaN where it is undefined
    by_mean: np.ndarray  # (combinations,), if the mean of what was fitted on were always said
    variance: float  # the mean of these over the combinations that the map is fitted on

    @property
    def values(self) -> np.ndarray:
        """(combinations,): how well each is read."""
        return 1 - self.errors / self.variance

    def together(self, some: np.ndarray) -> float:
        """How well some combinations are read, a mask (combinations,); NaN where that is undefined."""
        known = some & np.isfinite(self.errors)
        by_mean = self.by_mean[known].sum()
        return float(1 - self.errors[known].sum() / by_mean) if by_mean > 0 else float("nan")


def decoded_combinations(features: np.ndarray, targets: np.ndarray, fitted_on: np.ndarray) -> Decoded:
    """How well each combination is decoded.

    Undefined for a combination with a feature that is not finite, and for all if the targets do not vary or if there
    are less than two combinations to fit on.

    Args:
        features: (combinations, draws, features), one layer.
        targets: (combinations, draws, targets), what is decoded.
        fitted_on: (combinations,), which ones the map is fitted on.
    """
    known = _finite(features) & _finite(targets)
    inside = np.flatnonzero(fitted_on & known)
    if len(inside) < 2 or not np.ptp(targets[inside], axis=(0, 1)).any():
        undefined = np.full(len(features), np.nan)
        return Decoded(undefined, undefined, float("nan"))
    x, y = (_centered(np.where(known[:, None, None], values, 0), inside) for values in (features, targets))
    by_mean = (y**2).sum(2).mean(1)
    scale = np.sqrt((x[inside] ** 2).mean())
    x, y = (x / scale if scale > 0 else x).astype(np.float32), y.astype(np.float32)
    draws = max(1, min(x.shape[1], FIT_ROWS // len(inside)))
    parts = np.array_split(np.random.default_rng(0).permutation(inside), min(PARTS, len(inside)))
    sums = [ridge.Sums.of(_rows(x[part, :draws]), _rows(y[part, :draws])) for part in parts]
    whole = sum(sums[1:], start=sums[0])
    left_out = [_left_out(x, y, parts, sums, whole, strength) for strength in STRENGTHS]
    best = int(np.argmin([errors[inside].mean() for errors in left_out]))
    errors = _errors(x, y, whole.solve(STRENGTHS[best] * whole.rows))
    errors[inside] = left_out[best][inside]
    return Decoded(np.where(known, errors, np.nan), by_mean, float(by_mean[inside].mean()))


def _left_out(
    x: np.ndarray,
    y: np.ndarray,
    parts: list[np.ndarray],
    sums: list[ridge.Sums],
    whole: ridge.Sums,
    strength: float,
) -> np.ndarray:
    """(combinations,) errors of each part by the map of the others."""
    found = np.full(len(x), np.nan)
    for part, own in zip(parts, sums, strict=True):
        others = whole - own
        found[part] = _errors(x[part], y[part], others.solve(strength * others.rows))
    return found


def _errors(x: np.ndarray, y: np.ndarray, fit: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(combinations,) squared error of all targets together, mean over draws."""
    weights, intercept = (part.astype(np.float32) for part in fit)
    missed = _rows(x) @ weights + intercept - _rows(y)
    return (missed**2).sum(1).reshape(x.shape[:2]).mean(1)


def _finite(values: np.ndarray) -> np.ndarray:
    """(combinations,)"""
    return np.all(np.isfinite(values), axis=tuple(range(1, values.ndim)))


def _centered(values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Less the mean over the rows of some combinations."""
    return values - values[inside].mean((0, 1))


def _rows(values: np.ndarray) -> np.ndarray:
    """(combinations, draws, n) -> (rows, n)"""
    return values.reshape(-1, values.shape[2])
