"""Regions: splits of ordered factors by place. What lies inside a region is held out, all around it is trained.

After the hold-outs of Liang, Qian, Ziyin, Fiete 2025 and its public code: a square hole (`donut`), a corner, a cross
(whole rows and columns: single factors are extrapolated) and a gap of angles. The band along the diagonal is ours.

A region is one of pairs of factors. Factors that are called x and y with the same ending are a pair: (x, y), or
(x1, y1) and (x2, y2); where there is none, the first two factors are. A combination is held out if any of its pairs
lies in the region, whatever its other factors are. A pair of which a level is "none" (its factor is absent) lies in no
region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from ..keys import generator, key_for
from ..spaces import Space
from .designs import supports
from .sides import Predicate
from .support import Support, from_ranks

ABSENT = "none"  # the last level of a factor that a combination can lack


def where(
    space: Space,
    held_out: Callable[[np.ndarray], np.ndarray],
    *,
    trained: int | None = None,
    seed: int = 0,
    design: str = "where",
    settings: dict[str, Any] | None = None,
    named: dict[str, Predicate] | None = None,
) -> Support:
    """A split by a predicate: the combinations for which it is true are held out.

    With the same seed, a larger number of trained combinations contains the smaller one.

    Args:
        space: what is split.
        held_out: a function of rows (n, width) that says true or false of each.
        trained: how many of the others are trained; all by default.
        seed: decides which.
        design: the name of the split.
        settings: what stands beside the name.
        named: groups of the held-out side by name, as predicates on rows.

    Example:
        >>> rc.supports.where(rc.Product(x=4, y=4), lambda rows: rows.sum(1) > 4)
        Support(where on Product(x=4, y=4): 13 trained, 3 held out)
    """
    require_int("seed", seed, at_least=0)
    rows = space.enumerate()
    inside = np.asarray(held_out(rows), bool)
    if inside.shape != (len(rows),):
        raise UserError(f"the predicate gave {inside.shape} for {len(rows):,} rows; it must say true or false of each")
    others = drawn(np.flatnonzero(~inside), "trained", trained, f"combinations outside {design!r}", seed)
    all_settings = {**(settings or {}), **({} if trained is None else {"trained": trained, "seed": seed})}
    return from_ranks(space, others, np.flatnonzero(inside), design, settings=all_settings, named=named or {})


def drawn(ranks: np.ndarray, name: str, number: int | None, what: str, seed: int, at_least: int = 1) -> np.ndarray:
    """`number` of the ranks, drawn by seed, or all of them; the option `name` is to blame if there are not as many."""
    if number is None:
        return ranks
    if require_int(name, number, at_least=at_least) > len(ranks):
        raise UserError(f"{name}={number} is more than the {len(ranks):,} {what}")
    return generator(key_for(f"support-{name}", seed)).permutation(ranks)[:number]


@supports.register("donut")
def donut(
    space: Space, *, low: int | None = None, high: int | None = None, trained: int | None = None, seed: int = 0
) -> Support:
    """A square hole: combinations with both factors of a pair from `low` to `high` are held out.

    Args:
        space: a Product of two or more ordered factors.
        low: first level of the hole. Default: the middle three fifths, as published for 28 levels (6 to 22).
        high: last level of the hole.
        trained: how many of the combinations around it are trained; all by default.
        seed: decides which.

    Example:
        >>> rc.supports.donut(rc.Product(x=6, y=6), low=2, high=3).held_out.combinations().tolist()
        [[2, 2], [2, 3], [3, 2], [3, 3]]
    """
    low, high = donut_range(space, low, high)
    region = Region(pairs_of(space), "donut", low, high)
    return _outside(space, region, {"low": low, "high": high}, trained, seed)


@supports.register("corner")
def corner(space: Space, *, low: int | None = None, trained: int | None = None, seed: int = 0) -> Support:
    """A corner: combinations with both factors of a pair at `low` or beyond are held out.

    Each factor is trained at these levels, with small levels of the other only.

    Args:
        space: a Product of two or more ordered factors.
        low: first level of the corner. Default: three eighths, as published for 32 levels (12).
        trained: how many of the other combinations are trained; all by default.
        seed: decides which.

    Example:
        >>> rc.supports.corner(rc.Product(x=4, y=4), low=2).held_out.combinations().tolist()
        [[2, 2], [2, 3], [3, 2], [3, 3]]
    """
    levels = least_places(space)
    low = require_int("low", round(12 / 32 * levels) if low is None else low, at_least=0, at_most=levels - 1)
    return _outside(space, Region(pairs_of(space), "corner", low), {"low": low}, trained, seed)


@supports.register("cross")
def cross(
    space: Space, *, low: int | None = None, high: int | None = None, trained: int | None = None, seed: int = 0
) -> Support:
    """A held-out cross: combinations with one or both factors of a pair from `low` to `high` are held out.

    These levels are not trained at all: single factors are extrapolated.

    Args:
        space: a Product of two or more ordered factors.
        low: first level. Default: the middle, as published for 28 levels (11 to 16).
        high: last level.
        trained: how many of the other combinations are trained; all by default.
        seed: decides which.

    Example:
        >>> rc.supports.cross(rc.Product(x=3, y=3), low=1, high=1).train.combinations().tolist()
        [[0, 0], [0, 2], [2, 0], [2, 2]]
    """
    low, high = _range(space, low, high, (11 / 28, 6 / 28))
    region = Region(pairs_of(space), "cross", low, high)
    return _outside(space, region, {"low": low, "high": high}, trained, seed)


@supports.register("band")
def band(space: Space, *, width: int | None = None, trained: int | None = None, seed: int = 0) -> Support:
    """A diagonal band: combinations whose two factors of a pair differ by `width` levels or less are held out.

    Args:
        space: a Product of two or more ordered factors.
        width: levels. Default: 5 of 28 levels, which holds out about as much as the hole of `donut`.
        trained: how many of the other combinations are trained; all by default.
        seed: decides which.

    Example:
        >>> rc.supports.band(rc.Product(x=3, y=3), width=0).held_out.combinations().tolist()
        [[0, 0], [1, 1], [2, 2]]
    """
    levels = least_places(space)
    width = require_int("width", round(5 / 28 * levels) if width is None else width, at_least=0, at_most=levels - 2)
    return _outside(space, Region(pairs_of(space), "band", high=width), {"width": width}, trained, seed)


@supports.register("gap")
def gap(
    space: Space,
    *,
    low: int | None = None,
    high: int | None = None,
    factor: str | None = None,
    trained: int | None = None,
    seed: int = 0,
) -> Support:
    """A gap: levels `low` to `high` of one factor are held out, whatever the others are.

    Args:
        space: a Product with an ordered factor.
        low: first level. Default: from 160 to 200 of 360 degrees, as published for angles.
        high: last level.
        factor: which one; the first by default.
        trained: how many of the other combinations are trained; all by default.
        seed: decides which.

    Example:
        >>> rc.supports.gap(rc.Product(angle=36)).held_out.combinations().ravel().tolist()
        [16, 17, 18, 19, 20]
    """
    if not space.columns:
        raise UserError(f"a gap needs a Product with an ordered factor, such as Product(angle=36); got {space}")
    if factor is not None and factor not in space.columns:
        raise unknown("factor", factor, space.columns)
    name = next(iter(space.columns)) if factor is None else factor
    column = list(space.columns).index(name)
    levels = _places(space, column)
    first, last = -(-levels * 160 // 360), max(levels * 200 // 360, -(-levels * 160 // 360))
    low, high = _checked(first if low is None else low, last if high is None else high, levels, name)
    return where(
        space,
        lambda rows: (rows[:, column] >= low) & (rows[:, column] <= high),
        trained=trained,
        seed=seed,
        design="gap",
        settings={"factor": name, "low": low, "high": high},
    )


# -- what the regions share ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Region:
    """Which combinations have a pair in a region, as a predicate for host and device alike. low, high: its levels."""

    pairs: tuple[tuple[int, int, int, int], ...]  # the columns of two factors and the numbers of their places
    kind: str
    low: int = 0
    high: int = 0
    exactly: int | None = None  # so many pairs lie in it; None: any number above zero

    def __call__(self, rows: Any) -> Any:
        number: Any = 0
        for first, second, *places in self.pairs:
            x, y = rows[..., first], rows[..., second]
            there = (x < places[0]) & (y < places[1])
            number = number + (there & self.holds(x, y))
        return number > 0 if self.exactly is None else number == self.exactly

    def holds(self, x: Any, y: Any) -> Any:
        if self.kind == "corner":
            return (x >= self.low) & (y >= self.low)
        if self.kind == "band":
            return abs(x - y) <= self.high
        x_in, y_in = ((at >= self.low) & (at <= self.high) for at in (x, y))
        return x_in | y_in if self.kind == "cross" else x_in & y_in


def pairs_of(space: Space) -> tuple[tuple[int, int, int, int], ...]:
    """The columns of the factors that make a place, and how many places each has: x and y with the same ending."""
    if len(space.columns) < 2:
        raise UserError(f"a region needs a Product of two or more ordered factors, as Product(x=28, y=28); got {space}")
    names = list(space.columns)
    named = [(names.index(n), names.index("y" + n[1:])) for n in names if n.startswith("x") and "y" + n[1:] in names]
    return tuple((a, b, _places(space, a), _places(space, b)) for a, b in named or [(0, 1)])


def _places(space: Space, column: int) -> int:
    """Levels of a factor that are places: all but a last one that is called none."""
    levels = list(space.columns.values())[column]
    return len(levels) - (str(levels[-1]) == ABSENT)


def least_places(space: Space) -> int:
    """The least number of places along a factor that a region is about."""
    return min(number for _, _, *places in pairs_of(space) for number in places)


def donut_range(space: Space, low: int | None, high: int | None) -> tuple[int, int]:
    """First and last level of the hole of `donut`."""
    return _range(space, low, high, (6 / 28, 17 / 28))


def _range(space: Space, low: int | None, high: int | None, default: tuple[float, float]) -> tuple[int, int]:
    """First and last level of a region: those asked for, or by default (where, how wide) in shares of the levels."""
    levels = least_places(space)
    start, width = round(default[0] * levels), max(round(default[1] * levels), 1)
    low = start if low is None else low
    high = min(start + width, levels) - 1 if high is None else high
    return _checked(low, high, levels, "each factor")


def _checked(low: int, high: int, levels: int, factor: str) -> tuple[int, int]:
    require_int("low", low, at_least=0)
    require_int("high", high, at_least=0)
    if not low <= high < levels:
        raise UserError(f"low={low} and high={high} must be levels of {factor}, 0 to {levels - 1}, the lower one first")
    return low, high


def _outside(space: Space, region: Region, settings: dict[str, Any], trained: int | None, seed: int) -> Support:
    """All but the region is trained. Where a combination has several places, how many lie inside is scored apart."""
    several = range(1, len(region.pairs) + 1) if len(region.pairs) > 1 else ()
    named = {f"{n} inside": Region(region.pairs, region.kind, region.low, region.high, exactly=n) for n in several}
    return where(space, region, trained=trained, seed=seed, design=region.kind, settings=settings, named=named)
