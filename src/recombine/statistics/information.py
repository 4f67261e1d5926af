"""Relative information gain: which share of what is uncertain about one thing another takes away."""

from __future__ import annotations

import numpy as np


def relative_information_gain(outcome: np.ndarray, given: np.ndarray) -> float:
    """(H(Y) - H(Y|X)) / H(Y) over equally likely cases: 0 if X says nothing of Y, 1 if it says all.

    Args:
        outcome: (cases,) whole numbers, Y.
        given: (cases,) or (cases, parts) whole numbers, X.

    Example:
        >>> from recombine.statistics.information import relative_information_gain
        >>> a, b = np.divmod(np.arange(4), 2)
        >>> [relative_information_gain(a ^ b, given) for given in (a, np.stack([a, b], 1))]
        [0.0, 1.0]
    """
    y = np.unique(outcome, return_inverse=True)[1].ravel()
    x = _joint(np.asarray(given))
    whole = _entropy(y)
    if whole == 0:
        return float("nan")
    return float((whole + _entropy(x) - _entropy(x * (int(y.max()) + 1) + y)) / whole)


def _joint(columns: np.ndarray) -> np.ndarray:
    """One number for each combination of values."""
    columns = columns[:, None] if columns.ndim == 1 else columns
    found = np.zeros(len(columns), np.int64)
    for column in columns.T:
        value = np.unique(column, return_inverse=True)[1].ravel()
        found = found * (int(value.max()) + 1) + value
    return np.unique(found, return_inverse=True)[1].ravel()


def _entropy(numbers: np.ndarray) -> float:
    """In nats, of whole numbers from 0 on."""
    share = np.bincount(numbers) / len(numbers)
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())
