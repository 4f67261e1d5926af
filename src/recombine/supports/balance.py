"""Balancing: exchange training and held-out combinations until every element is used equally often.

The published search tries swaps one by one. Here a whole transfer of usage from element a to element b is one
vectorized operation: every training combination with a and without b has one partner with b in place of a, the map
is injective, and exchanging d such pairs moves exactly d units of usage. What is left at the end (a handful of
units where no partner is held out) goes through the best exchange among the most promising ones.
"""

from __future__ import annotations

import numpy as np

from ..spaces import Space
from .certificate import element_usage

_SHORTLIST = 256


def balance(space: Space, train: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Balanced training ranks of the same number, and the spread (max - min usage in a class) that is left."""
    in_train = np.zeros(space.size, dtype=bool)
    in_train[train] = True
    rows = space.enumerate()
    for members in space.classes:
        _transfer(space, rows, in_train, np.array(members), rng)
    _polish(space, rows, in_train)
    return np.flatnonzero(in_train), spread(space, element_usage(space, rows[in_train]))


def spread(space: Space, usage: np.ndarray) -> int:
    """The largest difference of usage between two elements of one class."""
    return max(int(np.ptp(usage[list(members)])) for members in space.classes)


def _transfer(space: Space, rows: np.ndarray, in_train: np.ndarray, members: np.ndarray, rng: np.random.Generator):
    usage = element_usage(space, rows[in_train])[members]
    # The goal: as even as whole numbers allow, the larger shares going to those that have most already.
    goal = np.full(len(members), usage.sum() // len(members))
    goal[np.argsort(-usage, kind="stable")[: usage.sum() % len(members)]] += 1
    surplus = usage - goal
    for a in np.argsort(-surplus, kind="stable"):
        for b in np.argsort(surplus, kind="stable"):
            d = min(int(surplus[a]), int(-surplus[b]))
            if d <= 0:
                break
            moved = _exchange(space, rows, in_train, int(members[a]), int(members[b]), d, rng)
            surplus[a] -= moved
            surplus[b] += moved


def _exchange(space, rows, in_train, a: int, b: int, d: int, rng: np.random.Generator) -> int:
    """Moves up to d units of usage from element a to element b; says how many."""
    ids = space.elements(rows)
    out = np.flatnonzero(in_train & (ids == a).any(1) & ~(ids == b).any(1))
    into = space.rank(space.replace(rows[out], a, b)).astype(np.int64)
    free = np.flatnonzero(~in_train[into])
    chosen = rng.permutation(free)[:d]
    in_train[out[chosen]] = False
    in_train[into[chosen]] = True
    return len(chosen)


def _polish(space: Space, rows: np.ndarray, in_train: np.ndarray) -> None:
    """Best exchanges of two combinations, while they lower the sum of squared deviations from even use."""
    n = len(space.element_names)
    ids = space.elements(rows).astype(np.int64)
    hot = np.zeros(n + 1)
    while spread(space, usage := element_usage(space, rows[in_train])) > 1:
        for members in space.classes:  # deviation from the mean of the class; padding (-1) reads the last, zero
            hot[list(members)] = usage[list(members)] - usage[list(members)].mean()
        weight = hot[ids].sum(1)  # how much over-use a combination carries
        trained, free = np.flatnonzero(in_train), np.flatnonzero(~in_train)
        out = trained[np.argsort(-weight[trained], kind="stable")[:_SHORTLIST]]
        into = free[np.argsort(weight[free], kind="stable")[:_SHORTLIST]]
        x, y = space.multihot(rows[out]).astype(float), space.multihot(rows[into]).astype(float)
        # |u - x + y|^2 - |u|^2 = 2 u.(y - x) + |x|^2 + |y|^2 - 2 x.y, with u the deviations
        change = 2 * (y @ hot[:n] - (x @ hot[:n])[:, None]) + x.sum(1)[:, None] + y.sum(1) - 2 * x @ y.T
        i, j = np.unravel_index(np.argmin(change), change.shape)
        if change[i, j] >= -1e-9:
            return
        in_train[out[i]], in_train[into[j]] = False, True
