"""Pairs of levels that never occur though they were to be expected: impossible, or a blind spot?"""

from __future__ import annotations

import itertools
import math

import numpy as np

from ..tables import Observed
from .findings import Impossible

_ERROR = 0.001  # chance that any of all pairs is named though its factors are independent
_MOST_CELLS = 4_000_000  # of a table of two factors
_LISTED = 50


def never_occur(observed: Observed) -> list[Impossible]:
    """Pairs in no row, those with most rows expected first.

    If the two factors were independent, no row where E are expected has a chance of e^-E; E is so large that none of
    all pairs of levels is expected to be named by chance.
    """
    rows, sizes = observed.rows.astype(np.int64), observed.space.levels
    times = (observed.trained + observed.tested).astype(float)
    total = times.sum()
    margins = [np.bincount(rows[:, i], times, n) for i, n in enumerate(sizes)]
    places = [(i, j) for i, j in itertools.combinations(range(len(sizes)), 2) if sizes[i] * sizes[j] <= _MOST_CELLS]
    least = math.log(max(sum(sizes[i] * sizes[j] for i, j in places), 1) / _ERROR)
    found = []
    for i, j in places:
        there = np.zeros(sizes[i] * sizes[j], bool)
        there[rows[:, i] * sizes[j] + rows[:, j]] = True
        expected = np.outer(margins[i], margins[j]).ravel() / total
        for cell in np.flatnonzero(~there & (expected > least)).tolist():
            found.append((float(expected[cell]), i, cell // sizes[j], j, cell % sizes[j]))
    levels = list(observed.space.factors.items())
    named = sorted(found, key=lambda one: (-one[0], *one[1:]))[:_LISTED]
    return [
        Impossible({levels[i][0]: str(levels[i][1][a]), levels[j][0]: str(levels[j][1][b])}, expected)
        for expected, i, a, j, b in named
    ]
