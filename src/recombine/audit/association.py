"""Association of two factors: what goes together, so that a model cannot tell the two apart.

Cramer's V in the bias-corrected form of Bergsma (2013, "A bias-correction for Cramer's V and Tschuprow's T"), the
chi-squared test behind it with Holm's correction over all pairs of factors, and dependences without exception.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc


def cramers_v(counts: np.ndarray) -> tuple[float, float]:
    """Bias-corrected Cramer's V of a table of counts, and the p value of independence; NaN if a factor is constant."""
    counts = np.asarray(counts, dtype=float)
    counts = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    r, k = counts.shape if counts.size else (0, 0)
    n = counts.sum()
    if r < 2 or k < 2 or n < 2:
        return math.nan, math.nan
    expected = np.outer(counts.sum(1), counts.sum(0)) / n
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    phi2 = max(0.0, chi2 / n - (r - 1) * (k - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    v = math.sqrt(phi2 / least) if least > 0 else math.nan
    return min(v, 1.0), float(chdtrc((r - 1) * (k - 1), chi2))


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for as many tests (Holm 1979); NaN stays out of it."""
    corrected = [math.nan] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    least = 0.0
    for place, (p, i) in enumerate(order):
        least = max(least, min(1.0, p * (len(order) - place)))
        corrected[i] = least
    return corrected


def determines(counts: np.ndarray) -> bool:
    """Whether the row's level leaves only one level of the column, without exception (and the column varies)."""
    there = counts > 0
    used = there[there.any(1)]
    return bool((used.sum(1) == 1).all()) and int(there.any(0).sum()) > 1 and len(used) > 0


def tied_levels(counts: np.ndarray) -> list[tuple[int, int]]:
    """Levels of the row that were seen with one level of the column only, though the column varies: (row, column)."""
    there = counts > 0
    if int(there.any(0).sum()) < 2:
        return []
    return [(int(i), int(np.argmax(there[i]))) for i in np.flatnonzero(there.sum(1) == 1)]
