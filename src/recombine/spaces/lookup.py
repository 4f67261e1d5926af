"""Where combinations stand among known ones."""

from __future__ import annotations

import numpy as np

from .base import Space


def find(space: Space, known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Where each asked combination stands among known, distinct ones; -1 if nowhere."""
    if not len(known):
        return np.full(len(asked), -1)
    if space.size < 2**62:
        ranks, wanted = space.rank(known), space.rank(asked)
        order = np.argsort(ranks, kind="stable")
        at = order[np.minimum(np.searchsorted(ranks[order], wanted), len(known) - 1)]
        return np.where(ranks[at] == wanted, at, -1)
    _, inverse = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    place = np.full(inverse.max(initial=0) + 1, -1)
    place[inverse[: len(known)]] = np.arange(len(known))
    return place[inverse[len(known) :]]
