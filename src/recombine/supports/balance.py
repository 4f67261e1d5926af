"""Balancing: exchange training and held-out combinations until every element is used equally often.

The published search tries swaps one by one. Here a whole transfer of usage from element a to element b is one
vectorized operation: every training combination with a and without b has one partner with b in place of a, the map
is injective, and exchanging d such pairs moves exactly d units of usage. What is left at the end (a handful of
units where no partner is held out) goes through the best exchange among the most promising ones.

Pairs are looked for from the smaller side, which is kept in columns: the space is not listed, and a pair of elements
costs a look at the elements of one side. Usage is known beforehand, and changes by what is exchanged.
"""

from __future__ import annotations

import math

import numpy as np

from ..spaces import Space
from .certificate import element_usage

_SHORTLIST = 256


def balance(space: Space, train: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Balanced training ranks of the same number, and the spread (max - min usage in a class) that is left."""
    in_train = np.zeros(space.size, dtype=bool)
    in_train[train] = True
    side = _SmallerSide(space, in_train)
    usage = side.usage() if side.trained else usage_of_all(space) - side.usage()
    for members in space.classes:
        _transfer(side, in_train, usage, np.array(members), rng)
    if spread(space, usage) > 1:
        _polish(space, in_train, usage)
    return np.flatnonzero(in_train), spread(space, usage)


def usage_of_all(space: Space) -> np.ndarray:
    """(elements,) how many combinations of the space contain each element, where elements combine freely."""
    usage = np.zeros(len(space.element_names), np.int64)
    for members in space.classes:
        if space.columns:
            usage[list(members)] = space.size // len(members)
        else:
            usage[list(members)] = sum(math.comb(len(members) - 1, k - 1) for k in space.sizes)
    return usage


def spread(space: Space, usage: np.ndarray) -> int:
    """The largest difference of usage between two elements of one class."""
    return max(int(np.ptp(usage[list(members)])) for members in space.classes)


class _SmallerSide:
    """The smaller of the two sides: its ranks in some order, its combinations, and their elements by column."""

    def __init__(self, space: Space, in_train: np.ndarray):
        self.space = space
        self.trained = 2 * int(in_train.sum()) <= len(in_train)
        self.ranks = np.flatnonzero(in_train if self.trained else ~in_train)
        self.rows = space.unrank(self.ranks)
        self.columns = np.ascontiguousarray(space.elements(self.rows).T)  # (width, n)

    def usage(self) -> np.ndarray:
        return element_usage(self.space, self.rows)

    def with_and_without(self, having: int, lacking: int) -> np.ndarray:
        """Where combinations have the one element and not the other."""
        has, lacks = self.columns[0] == having, self.columns[0] != lacking
        for column in self.columns[1:]:
            has |= column == having
            lacks &= column != lacking
        return np.flatnonzero(has & lacks)

    def put(self, at: np.ndarray, ranks: np.ndarray, rows: np.ndarray) -> None:
        """Other combinations take the places of those that go to the other side."""
        self.ranks[at], self.rows[at] = ranks, rows
        self.columns[:, at] = self.space.elements(rows).T


def _transfer(
    side: _SmallerSide, in_train: np.ndarray, usage: np.ndarray, members: np.ndarray, rng: np.random.Generator
) -> None:
    own = usage[members]
    # The goal: as even as whole numbers allow, the larger shares going to those that have most already.
    goal = np.full(len(members), own.sum() // len(members))
    goal[np.argsort(-own, kind="stable")[: own.sum() % len(members)]] += 1
    surplus = own - goal
    for a in np.argsort(-surplus, kind="stable"):
        for b in np.argsort(surplus, kind="stable"):
            d = min(int(surplus[a]), int(-surplus[b]))
            if d <= 0:
                break
            moved = _exchange(side, in_train, int(members[a]), int(members[b]), d, rng)
            surplus[a] -= moved
            surplus[b] += moved
    usage[members] = goal + surplus


def _exchange(side: _SmallerSide, in_train: np.ndarray, a: int, b: int, d: int, rng: np.random.Generator) -> int:
    """Moves up to d units of usage from element a to element b; says how many."""
    having, lacking = (a, b) if side.trained else (b, a)
    at = side.with_and_without(having, lacking)
    partners = side.space.replace(side.rows[at], having, lacking)
    ranks = side.space.rank(partners).astype(np.int64)
    usable = np.flatnonzero(in_train[ranks] != side.trained)
    at, partners, ranks = at[usable], partners[usable], ranks[usable]
    # drawn from pairs in the order of their trained combination, whichever side is the smaller one
    order = np.argsort(side.ranks[at] if side.trained else ranks, kind="stable")
    chosen = order[rng.permutation(len(order))[:d]]
    in_train[side.ranks[at[chosen]]] = not side.trained
    in_train[ranks[chosen]] = side.trained
    side.put(at[chosen], ranks[chosen], partners[chosen])
    return len(chosen)


def _polish(space: Space, in_train: np.ndarray, usage: np.ndarray) -> None:
    """Best exchanges of two combinations, while they lower the sum of squared deviations from even use."""
    n = len(space.element_names)
    rows = space.enumerate()
    ids = space.elements(rows).astype(np.int64)
    hot = np.zeros(n + 1)
    while spread(space, usage) > 1:
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
        usage += element_usage(space, rows[into[j : j + 1]]) - element_usage(space, rows[out[i : i + 1]])
