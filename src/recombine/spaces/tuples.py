"""Sets of elements that occur together, counted."""

from __future__ import annotations

import itertools

import numpy as np

_FLAGS = 1 << 28  # a table of flags up to this size; sorted codes beyond


def count_tuples(sets: np.ndarray, strength: int, elements: int) -> int:
    """How many different sets of `strength` elements some row contains.

    sets: (n, L) ids below `elements`, rising along a row and each once, -1 at the end (`Space.element_sets`).
    """
    cells = elements**strength
    places = itertools.combinations(range(sets.shape[1]), strength)
    coded = (_codes(sets[:, columns], elements) for columns in places)
    if cells <= _FLAGS:
        seen = np.zeros(cells, dtype=bool)
        for codes in coded:
            seen[codes] = True
        return int(seen.sum())
    found = np.empty(0, dtype=np.int64)
    for codes in coded:
        found = np.union1d(found, codes)
    return len(found)


def _codes(part: np.ndarray, elements: int) -> np.ndarray:
    """One number per tuple that is there; ids rise along a row, so a set has one number."""
    kind = np.int64 if elements ** part.shape[1] < 2**62 else object  # exact beyond 64 bits, too
    codes = np.zeros(len(part), dtype=kind)
    for column in range(part.shape[1]):
        codes = codes * elements + part[:, column].astype(kind)
    return codes[(part >= 0).all(1)]


def tuple_places(sets: np.ndarray, strength: int, elements: int) -> tuple[np.ndarray, np.ndarray]:
    """The code of every set of `strength` elements of every row, and the number of the row it stands in."""
    codes, places = [], []
    for columns in itertools.combinations(range(sets.shape[1]), strength):
        part = sets[:, columns]
        codes.append(_codes(part, elements))
        places.append(np.flatnonzero((part >= 0).all(1)))
    if not codes:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(codes), np.concatenate(places)
