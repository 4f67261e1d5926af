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
) -> np.ndarray:
    """(n, width) combinations that buy much, some of them twice.

    extra: (elements, elements) worth of having two elements together, beside what is new.
    seeds: (n, k) elements that the rows begin with.
    staged: levels and joins count before tuples; else tuples are all that counts while there are any.
    size: elements of a row, of modules; as many as can be if left out.
    """
    space = covered.space
    n = len(space.element_names)
    t = covered.strength
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
    rows = np.arange(number)
    dead = np.zeros(number, bool)
    for place in range(space.width if product or size is None else size):
        worth = gain + (fresh if apart else 0.0)
        if apart:
            worth = worth + _JOIN * ~same
        if place + 1 < t or not place:  # no tuple is complete yet: those with many open ones go first
            worth = worth + (_reach(covered, chosen[:, :place]) if t > 1 else 0.0)
        if extra is not None and place:
            worth = worth + extra[chosen[:, :place]].sum(1)
        worth = (worth + rng.random((number, n)) * 0.5) * thrift
        allowed = ~taken
        if watch is not None:
            allowed &= ~watch.blocked()
        if seeds is not None and place < seeds.shape[1]:
            pick = seeds[:, place]
        else:
            if product and (place or extra is not None):
                # the next factor of the row's own order that has no level yet
                done = np.zeros((number, space.width), bool)
                filled = chosen[:, :place]
                done[rows[:, None], column[filled]] = True
                pending = ~done[rows[:, None], order]
                factor = order[rows, np.argmax(pending, axis=1)]
                allowed &= column == factor[:, None]
            pick = np.argmax(np.where(allowed, worth, -1.0), axis=1)
            stuck = ~allowed[rows, pick]
            if product:
                dead |= stuck
            pick = np.where(stuck, -1, pick)
        chosen[:, place] = pick
        has = pick >= 0
        if watch is not None:
            watch.take(pick)
        if t > 1:
            _add_gain(covered.open, gain, chosen[:, : place + 1], has, t)
        if apart:
            same |= (covered.component == covered.component[pick][:, None]) & has[:, None]
        taken |= (column == column[pick][:, None]) & has[:, None] if product else False
        if not product:
            taken[rows[has], pick[has]] = True
    return _as_rows(covered, chosen[~dead])


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
