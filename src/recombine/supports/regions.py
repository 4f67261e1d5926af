"""Regions: splits of ordered factors by place. What lies inside a region is held out, all around it is trained.

After the hold-outs of Liang, Qian, Ziyin, Fiete 2025 and its public code: a square hole (`donut`), a corner, a cross
(whole rows and columns: single factors are extrapolated), a band.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..spaces import Product, Space
from .designs import supports
from .support import Support, from_ranks


def where(
    space: Space,
    held_out: Callable[[np.ndarray], np.ndarray],
    *,
    trained: int | None = None,
    seed: int = 0,
    design: str = "where",
    settings: dict[str, Any] | None = None,
) -> Support:
    """Holds out the combinations for which a predicate on rows is true. trained: draw only so many of the others."""
    rows = space.enumerate()
    inside = np.asarray(held_out(rows), bool)
    others = np.flatnonzero(~inside)
    if trained is not None:
        require_int("trained", trained, at_least=1)
        if trained > len(others):
            raise UserError(f"trained={trained} is more than the {len(others):,} combinations outside {design!r}")
        rng = generator(key_for("support-trained", seed))
        others = rng.permutation(others)[:trained]
    told = {**(settings or {}), **({} if trained is None else {"trained": trained, "seed": seed})}
    return from_ranks(space, others, np.flatnonzero(inside), design, settings=told)


@supports.register("donut")
def donut(
    space: Space, *, low: int | None = None, high: int | None = None, trained: int | None = None, seed: int = 0
) -> Support:
    """Combinations with both of the first two factors from `low` to `high` are held out: a square hole.

    Default: the middle three fifths, as published for 28 levels (6 to 22).
    """
    levels = _two_ordered(space)
    low = round(6 / 28 * min(levels)) if low is None else low
    high = round(22 / 28 * min(levels)) if high is None else high
    require_int("low", low, at_least=0)
    if not low <= high < min(levels):
        raise UserError(f"low={low} and high={high} must be levels of {space}, low first")
    return where(
        space,
        lambda rows: ((rows[:, :2] >= low) & (rows[:, :2] <= high)).all(-1),
        trained=trained, seed=seed, design="donut", settings={"low": low, "high": high},
    )  # fmt: skip


def _two_ordered(space: Space) -> tuple[int, int]:
    """Levels of the first two factors."""
    if not isinstance(space, Product) or len(space.factors) < 2:
        raise UserError(f"a region needs a Product of two or more ordered factors, as Product(x=28, y=28); got {space}")
    first, second = (len(levels) for levels in list(space.factors.values())[:2])
    return first, second
