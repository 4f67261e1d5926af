"""Grids: how data are collected over factors in robotics and vision practice, as supports that can be compared.

Stair, L and diagonal are strategies of Gao, Xie, Xiao, Finn, Sadigh 2024 (efficient data collection for robotic
manipulation by compositional generalization); orthotopes, where at most so many factors are extreme at once, follow
the splits of the public code IBM/scalable-compositional-generalization. A base in the middle (`cross-arms`) is ours;
`cross` is another design here, a region that is held out. For factors of n_1, ..., n_F levels the sizes are

    stair, l-shape, cross-arms   1 + sum (n_f - 1)      connected, every level trained
    diagonal                     max n_f                every level trained, nothing connected (if all n_f are equal)
    orthotope                    sum over sets S of at most c factors of prod_S e_f prod_(not S) (n_f - e_f)
with e_f the extreme levels of a factor.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import UserError, require_int, require_number
from ..spaces import LISTED_UP_TO, Space
from .designs import supports
from .regions import drawn
from .support import Support, from_ranks


@supports.register("stair")
def stair(space: Space, *, trained: int | None = None, seed: int = 0) -> Support:
    """A stair: from the first level of every factor, one factor after the other goes up by one level, in turns.

    Args:
        space: a Product of two or more factors.
        trained: only so many first steps.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.stair(rc.Product(x=3, y=3)).train.combinations().tolist()
        [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]]
    """
    levels = _levels(space, "stair", seed)
    row = [0] * len(levels)
    rows = [list(row)]
    while any(at + 1 < n for at, n in zip(row, levels, strict=True)):
        for factor, n in enumerate(levels):
            if row[factor] + 1 < n:
                row[factor] += 1
                rows.append(list(row))
    return _first(space, rows, "stair", trained)


@supports.register("l-shape")
def l_shape(space: Space, *, trained: int | None = None, seed: int = 0) -> Support:
    """An L: every factor goes through its levels while the others stay at their first.

    Args:
        space: a Product of two or more factors.
        trained: only so many of them, with arms of even length.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.l_shape(rc.Product(x=3, y=3)).train.combinations().tolist()
        [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]]
    """
    levels = _levels(space, "l-shape", seed)
    return _first(space, _arms(levels, [0] * len(levels)), "l-shape", trained)


@supports.register("cross-arms")
def cross_arms(space: Space, *, trained: int | None = None, seed: int = 0) -> Support:
    """A cross: every factor goes through its levels while the others stay at their middle one.

    Args:
        space: a Product of two or more factors.
        trained: only so many of them, with arms of even length.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.cross_arms(rc.Product(x=3, y=3)).train.combinations().tolist()
        [[0, 1], [1, 0], [1, 1], [1, 2], [2, 1]]
    """
    levels = _levels(space, "cross-arms", seed)
    return _first(space, _arms(levels, [n // 2 for n in levels]), "cross-arms", trained)


@supports.register("diagonal")
def diagonal(space: Space, *, trained: int | None = None, seed: int = 0) -> Support:
    """A diagonal: all factors go up together, those with fewer levels begin again.

    Args:
        space: a Product of two or more factors.
        trained: only so many first ones.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.diagonal(rc.Product(x=3, y=2)).train.combinations().tolist()
        [[0, 0], [1, 1], [2, 0]]
    """
    levels = _levels(space, "diagonal", seed)
    rows = [[i % n for n in levels] for i in range(max(levels))]
    return _first(space, rows, "diagonal", trained)


@supports.register("orthotope")
def orthotope(
    space: Space, *, extreme: float = 1 / 3, at_most: int = 1, trained: int | None = None, seed: int = 0
) -> Support:
    """An orthotope split: at most `at_most` factors are at one of their last levels at once.

    Args:
        space: a Product of two or more factors.
        extreme: share of the levels of each factor that counts as its last ones.
        at_most: how many factors may be at one of them.
        trained: only so many of these combinations.
        seed: decides which.

    Example:
        >>> rc.supports.orthotope(rc.Product(x=3, y=3)).held_out.combinations().tolist()
        [[2, 2]]
    """
    levels = _levels(space, "orthotope", seed)
    extreme = require_number("extreme", extreme, above=0, at_most=1)
    at_most = require_int("at_most", at_most, at_least=0, at_most=len(levels) - 1)
    ends = extreme_levels(levels, extreme)
    rows = space.enumerate()
    many = (rows >= np.array(levels) - np.array(ends)).sum(1)
    chosen = drawn(np.flatnonzero(many <= at_most), "trained", trained, "combinations of the orthotope", seed)
    settings = {
        "extreme": extreme,
        "at_most": at_most,
        **({} if trained is None else {"trained": trained, "seed": seed}),
    }
    return from_ranks(space, chosen, None, "orthotope", settings=settings)


def extreme_levels(levels: tuple[int, ...], share: float) -> list[int]:
    """How many levels of each factor are extreme: the share, at least one, and never all."""
    return [min(max(math.floor(n * share + 1e-9), 1), n - 1) for n in levels]


# -- what these designs share -----------------------------------------------------------------------------------------
def _levels(space: Space, design: str, seed: int) -> tuple[int, ...]:
    require_int("seed", seed, at_least=0)
    if len(space.columns) < 2 or space.size < 3:
        raise UserError(f"{design} needs a Product of two or more factors, as Product(color=4, shape=4); got {space}")
    if space.size > LISTED_UP_TO:
        raise UserError(f"{space} has {space.size:,} combinations, too many to hold out all others of; merge levels")
    return space.levels


def _arms(levels: tuple[int, ...], base: list[int]) -> list[list[int]]:
    """The base, then each factor in turn one level further from it, so that a cut leaves arms of even length."""
    rows = [list(base)]
    order = [
        sorted((at for at in range(n) if at != base[f]), key=lambda at, f=f: abs(at - base[f]))
        for f, n in enumerate(levels)
    ]
    for i in range(max(levels) - 1):
        for factor, others in enumerate(order):
            if i < len(others):
                rows.append([*base[:factor], others[i], *base[factor + 1 :]])
    return rows


def _first(space: Space, rows: list[list[int]], design: str, trained: int | None) -> Support:
    if trained is not None and require_int("trained", trained, at_least=1) > len(rows):
        raise UserError(f"trained={trained} is more than the {len(rows):,} combinations of {design!r} on {space}")
    kept = np.array(rows[:trained], dtype=space.dtype)
    kept = kept[space.contains(kept)]  # of a list, what is there of them
    settings = {} if trained is None else {"trained": trained}
    return from_ranks(space, space.rank(kept), None, design, settings=settings)
