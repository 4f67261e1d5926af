"""Greedy: candidates for the next combination, many at once, each filled place by place with what buys most.

In the manner of AETG (Cohen, Dalal, Fredman, Patton 1997): a row begins with an element that has many tuples left to
see, its factors are filled in random order, each with the level that covers most with those already there, and the
best of many such rows is taken. Ours: never trained levels count before groups that were never combined, and these
before tuples; rows keep clear of forbidden clauses on the way; cheap levels are preferred; it works on elements, so it
serves subsets of modules as well as factors.

Why not a library: allpairspy and covertable (the ones on PyPI) make a table from nothing. A plan goes on from what was
trained, is cut at a budget (so its order counts), has costs, must say which tuples are impossible and why, and must do
for subsets of modules. Sizes are next to theirs (tests/test_plan.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .covered import Covered
from .forbidden import Watch

_FRESH, _JOIN = 1e9, 1e6  # a new level before a join before tuples (of which a place adds fewer than a million)
_WORK = 4_000_000  # numbers handled at once


def candidates(
    covered: Covered,
    rng: np.random.Generator,
    number: int,
    thrift: np.ndarray,
    extra: np.ndarray | None = None,
    seeds: np.ndarray | None = None,
    staged: bool = True,
    size: int | None = None,
    likes: np.ndarray | None = None,
) -> np.ndarray:
    """(n, width) combinations that buy much, some of them twice.

    extra: (elements, elements) worth of having two elements together, beside what is new.
    seeds: (n, k) elements that the rows begin with.
    staged: levels and joins count before tuples; else tuples are all that counts while there are any.
    size: elements of a row, of modules; as many as can be if left out.
    likes: (elements,) from 0 to 1: which of those that add as much are preferred; chance decides if left out.
    """
    space, t = covered.space, covered.strength
    n = len(space.element_names)
    number = max(1, min(number, _WORK // max(n ** max(t - 1, 1), 1)))
    if seeds is not None:
        number = len(seeds)
    product = bool(space.columns)
    column = np.repeat(np.arange(space.width), space.levels) if product else np.zeros(n, np.int64)
    watch = Watch(covered.forbidden, number) if covered.forbidden else None
    apart = staged and (covered.parts() != 1 or bool(covered.fresh.any()))
    fresh = covered.fresh * _FRESH
    gain = np.zeros((number, n))  # tuples that an element would add to a row
    same = np.zeros((number, n), bool)  # the row has an element of its component
    taken = np.broadcast_to(covered.never, (number, n)).copy()  # elements that cannot be taken any more
    chosen = np.full((number, space.width), -1, np.int64)
    order = np.argsort(rng.random((number, space.width)), axis=1)
    rows, dead = np.arange(number), np.zeros(number, bool)
    levels = _levels_by_factor(space.levels) if product and watch is None and seeds is None and extra is None else None
    for place in range(space.width if product or size is None else size):
        # of a product only the levels of one factor are asked about, which each row has for itself; else every element
        of_one = levels if place else None
        asked: Any = slice(None)
        if of_one is not None:
            asked = rows[:, None], of_one[_next_factor(order, column[chosen[:, :place]])]
        worth = gain[asked] + (_at(fresh, gain, asked) + _JOIN * ~same[asked] if apart else 0.0)
        worth = worth + _at(_worth_ahead(covered, chosen[:, :place], extra), gain, asked)
        worth = (worth + _among(rng, gain, likes)[asked] * 0.5) * _at(thrift, gain, asked)
        allowed = ~taken[asked]
        if watch is not None:
            allowed &= ~watch.blocked()
        if seeds is not None and place < seeds.shape[1]:
            pick = seeds[:, place]
        else:
            if product and (place or extra is not None) and levels is None:
                allowed &= column == _next_factor(order, column[chosen[:, :place]])[:, None]
            pick = np.argmax(np.where(allowed, worth, -1.0), axis=1)
            dead |= (stuck := ~allowed[rows, pick]) & product
            pick = np.where(stuck, -1, pick if of_one is None else asked[1][rows, pick])
        chosen[:, place], has = pick, pick >= 0
        if watch is not None:
            watch.take(pick)
        if t > 1:
            _add_gain(covered.open, gain, chosen[:, : place + 1], has, t)
        if apart:
            same |= (covered.component == covered.component[pick][:, None]) & has[:, None]
        if product:
            taken |= (column == column[pick][:, None]) & has[:, None]
        else:
            taken[rows[has], pick[has]] = True
    return _as_rows(covered, chosen[~dead])


def _among(rng: np.random.Generator, gain: np.ndarray, likes: np.ndarray | None) -> np.ndarray:
    """(rows, elements) from 0 to 1: what decides among elements that add as much."""
    chance = rng.random(gain.shape)
    return chance if likes is None else 0.5 * chance + 0.5 * likes


def _at(values: Any, like: np.ndarray, asked: Any) -> np.ndarray:
    """Values of elements, alike for all rows or not, where they are asked about."""
    return np.broadcast_to(values, like.shape)[asked]


def _levels_by_factor(levels: Sequence[int]) -> np.ndarray:
    """(factors, most levels) the elements of each factor; what is missing repeats the last one, which never wins."""
    ends = np.cumsum(levels)
    return np.minimum((ends - levels)[:, None] + np.arange(max(levels)), ends[:, None] - 1)


def _worth_ahead(covered: Covered, chosen: np.ndarray, extra: np.ndarray | None) -> Any:
    """(rows or 1, elements), or 0: what an element is worth beside the tuples that it completes."""
    place, worth = chosen.shape[1], 0.0
    if covered.strength > 1 and (place + 1 < covered.strength or not place):
        worth = _reach(covered, chosen)  # no tuple is complete yet: those with many open ones go first
    if extra is not None and place:
        worth = worth + extra[chosen].sum(1)
    return worth


def _next_factor(order: np.ndarray, filled: np.ndarray) -> np.ndarray:
    """(rows,) the first factor in the own order of each row that has no level yet."""
    rows = np.arange(len(order))
    done = np.zeros(order.shape, bool)
    done[rows[:, None], filled] = True
    pending = ~done[rows[:, None], order]
    return order[rows, np.argmax(pending, axis=1)]


def _reach(covered: Covered, chosen: np.ndarray) -> np.ndarray:
    """(rows or 1, elements): open tuples that contain the elements of a row and one more, in every order."""
    if not chosen.shape[1]:
        return covered.urgency[None].astype(float)
    part = covered.open[tuple(np.maximum(chosen, 0).T)]  # (rows, elements, ...)
    return part.reshape(len(part), part.shape[1], -1).sum(2).astype(float)


def _add_gain(open_tuples: np.ndarray, gain: np.ndarray, chosen: np.ndarray, has: np.ndarray, t: int) -> None:
    """Tuples that the element taken last forms with t - 2 earlier ones and one more."""
    last = chosen.shape[1] - 1
    for others in itertools.combinations(range(last), t - 2):
        at = (chosen[:, last], *(chosen[:, i] for i in others))
        there = has & np.all([column >= 0 for column in at], axis=0)
        if there.all():
            gain += open_tuples[at]
        else:
            gain[there] += open_tuples[tuple(column[there] for column in at)]


def _as_rows(covered: Covered, chosen: np.ndarray) -> np.ndarray:
    """Elements in the order they were taken -> combinations of the space that are not forbidden."""
    space = covered.space
    n = len(space.element_names)
    ids = np.sort(np.where(chosen >= 0, chosen, n), axis=1)
    if space.columns:
        rows = (ids - np.array([members[0] for members in space.classes])).astype(space.dtype)
    else:
        rows = np.where(ids < n, ids, -1).astype(space.dtype)
        rows = rows[rows[:, 0] >= 0]
    return rows[covered.forbidden.allowed(rows)] if covered.forbidden else rows
