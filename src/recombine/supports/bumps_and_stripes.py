"""The split of "Plan B": bumps around a hole and stripes that cross it are trained, the bumps in the hole held out.

For spaces whose two factors can be absent (their last level is "none"): a combination with one factor is a stripe.
The numbers of bumps and stripes are ours: the paper's recipe was not at hand.
"""

from __future__ import annotations

import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..spaces import Space
from .designs import supports
from .regions import ABSENT, Region, donut_range, drawn, pairs_of
from .support import Support, from_ranks


@supports.register("bumps-and-stripes")
def bumps_and_stripes(
    space: Space,
    *,
    low: int | None = None,
    high: int | None = None,
    bumps: int | None = None,
    stripes: int | None = None,
    empty: bool = False,
    seed: int = 0,
) -> Support:
    """Bumps with both factors from `low` to `high` are held out; other bumps, and stripes (one factor), are trained.

    What is drawn by one seed is nested: a larger number of bumps or stripes contains the smaller.

    Args:
        space: two factors whose last level is "none".
        low: first level of the hole; as that of `donut` by default.
        high: last level of the hole.
        bumps: how many of the bumps outside the hole are trained; all by default.
        stripes: how many stripes, from both axes in turn; all by default.
        empty: train the empty picture, too.
        seed: decides which of them.

    Example:
        >>> rc.supports.bumps_and_stripes(rc.tasks.space_with_stripes(6), stripes=4)
        Support(bumps-and-stripes on Product(x=7, y=7): 24 trained, 16 held out)
    """
    require_int("seed", seed, at_least=0)
    if len(space.columns) != 2 or not all(_can_lack(levels) for levels in space.columns.values()):
        raise UserError(
            f"bumps-and-stripes needs two factors whose last level is {ABSENT!r}, as Product(x=[0, 1, 2, {ABSENT!r}], "
            f"y=[0, 1, 2, {ABSENT!r}]); got {space}"
        )
    low, high = donut_range(space, low, high)
    rows, last = space.enumerate(), np.array(space.levels) - 1
    hole = Region(pairs_of(space), "donut", low, high)(rows)
    absent = rows == last
    around = np.flatnonzero(~absent.any(1) & ~hole)
    crossing = _in_turn([np.flatnonzero(~absent[:, factor] & absent[:, 1 - factor]) for factor in (0, 1)], seed)
    if stripes is not None and require_int("stripes", stripes, at_least=0) > len(crossing):
        raise UserError(f"stripes={stripes} is more than the {len(crossing)} stripes there are")
    if bumps == 0 and stripes == 0:
        raise UserError("bumps=0 and stripes=0 leave nothing to train on; give at least one of them")
    trained = [
        drawn(around, "bumps", bumps, f"bumps outside the hole from {low} to {high}", seed, at_least=0),
        crossing[:stripes],
        np.flatnonzero(absent.all(1)) if empty else np.empty(0, int),
    ]
    settings = {"low": low, "high": high, "bumps": len(trained[0]), "stripes": len(trained[1]), "empty": empty}
    return from_ranks(
        space, np.concatenate(trained), np.flatnonzero(hole), "bumps-and-stripes", settings={**settings, "seed": seed}
    )


def _can_lack(levels: tuple) -> bool:
    return len(levels) > 1 and str(levels[-1]) == ABSENT


def _in_turn(axes: list[np.ndarray], seed: int) -> np.ndarray:
    """The stripes of both axes in random order, one of each axis in turn until one runs out."""
    first, second = (generator(key_for(f"support-stripes-{i}", seed)).permutation(a) for i, a in enumerate(axes))
    both = min(len(first), len(second))
    turns = np.stack([first[:both], second[:both]], axis=1).reshape(-1)
    return np.concatenate([turns, first[both:], second[both:]])
