"""Ranks of the combinations of a side: each once, met in both sides, written as text.

Ranks are numbers below the size of their space, so where that is small a table of flags does what sorting would, in a
tenth of the time.
"""

from __future__ import annotations

import numpy as np

from ..spaces import LISTED_UP_TO, Space


def distinct_ranks(
    space: Space, ranks: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Each rank once, rising, with the sum of its weights."""
    if space.size > LISTED_UP_TO or not len(ranks):
        found, at = np.unique(ranks, return_inverse=True)
        return found, None if weights is None else np.bincount(at, weights=weights, minlength=len(found))
    there = np.zeros(space.size, dtype=bool)
    there[ranks] = True
    found = np.flatnonzero(there)
    return found, None if weights is None else np.bincount(ranks, weights=weights, minlength=space.size)[found]


def in_both(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The ranks that two sides share; those of each are distinct and rise."""
    if len(second) < len(first):
        first, second = second, first
    if not len(first):
        return first
    at = np.minimum(np.searchsorted(second, first), len(second) - 1)
    return first[second[at] == first]


def as_text(ranks: np.ndarray) -> bytes:
    """Rising ranks in decimal, with commas between them: what is hashed."""
    if ranks.dtype == object or not len(ranks):
        return ",".join(map(str, ranks)).encode()
    parts = []
    digits = len(str(int(ranks[-1])))
    ends = np.searchsorted(ranks, [10**d for d in range(1, digits)])  # where numbers with one digit more begin
    for length, part in enumerate(np.split(ranks, ends), start=1):
        text = np.full((len(part), length + 1), ord(","), np.uint8)
        for place in range(length - 1, -1, -1):
            rest = part // 10
            text[:, place] = part - 10 * rest + ord("0")
            part = rest
        parts.append(text.tobytes())
    return b"".join(parts)[:-1]
