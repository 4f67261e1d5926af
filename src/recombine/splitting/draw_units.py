"""Units drawn at random, so that what is left to train on has every level and hangs together as it did."""

from __future__ import annotations

import numpy as np

from ..errors import UserError
from ..keys import generator, key_for
from ..spaces import Space
from ..supports.certificate import components, element_usage

_TRIES = 40  # plain draws, before what must be trained is chosen first


def draw_units(space: Space, units: np.ndarray, wanted: int, seed: int) -> np.ndarray:
    """(combinations,): which to hold out, `wanted` of them or as near below as whole units come.

    A plain draw is taken if every level stays trained and no part of the co-occurrence graph falls apart. Where levels
    are rare no plain draw will do: then enough units to keep all that are set aside first, and the rest is drawn from.
    """
    rng = generator(key_for("split-random", seed))
    rows = space.enumerate()
    sizes = np.bincount(units)
    parts = len(components(space, rows))
    for _ in range(_TRIES):
        order = rng.permutation(len(sizes))
        held = _filled(order, sizes, wanted)[units]
        if held.any() and _keeps(space, rows[~held], parts):
            return held
    needed = _spanning(space, rows, units, rng.permutation(len(sizes)))
    free = np.flatnonzero(~needed)
    held = _filled(rng.permutation(free), sizes, wanted)[units]
    reached = int(held.sum())
    room = int(sizes[free].sum())
    if reached and (reached == wanted or room >= wanted):
        return held
    _refuse(space, sizes[free], wanted, room)
    return held


def _filled(order: np.ndarray, sizes: np.ndarray, wanted: int) -> np.ndarray:
    """Units in this order, each that still fits."""
    held = np.zeros(len(sizes), bool)
    within = np.cumsum(sizes[order]) <= wanted
    first = int(np.argmin(within)) if not within.all() else len(order)
    held[order[:first]] = True
    left = wanted - int(sizes[order[:first]].sum())
    for unit in order[first:].tolist() if left else ():
        if sizes[unit] <= left:
            held[unit] = True
            left -= int(sizes[unit])
        if not left:
            break
    return held


def _keeps(space: Space, rows: np.ndarray, parts: int) -> bool:
    if not len(rows) or not (element_usage(space, rows) > 0)[space.occurs].all():
        return False
    return len(components(space, rows)) == parts


def _spanning(space: Space, rows: np.ndarray, units: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(units,): enough of them, in a drawn order, to have every level and every connection (Kruskal's forest)."""
    parent = list(range(len(space.element_names)))
    fresh = np.ones(len(parent), bool)

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    ids = space.element_sets(rows).tolist()
    members: list[list[int]] = [[] for _ in order]
    for combination, unit in enumerate(units.tolist()):
        members[unit].append(combination)
    needed = np.zeros(len(order), bool)
    for unit in order.tolist():
        for combination in members[unit]:
            own = [i for i in ids[combination] if i >= 0]
            for i in own:
                if fresh[i] or root(i) != root(own[0]):
                    needed[unit], fresh[i], parent[root(i)] = True, False, root(own[0])
    return needed


def _refuse(space: Space, sizes: np.ndarray, wanted: int, room: int) -> None:
    n = space.size
    if not room:
        raise UserError(
            f"each of the {n:,} combinations is needed, for a level that no other has or to connect the levels, so "
            "none can be held out; name fewer --factors, or put rare levels together"
        )
    smallest = int(sizes.min())
    near = smallest if wanted < smallest else room
    share = round((near + 0.5) / n, len(str(n)) + 1)
    raise UserError(
        f"{wanted:,} of {n:,} combinations cannot be held out with each level trained and connected, and no group cut; "
        f"the nearest possible is held_out={share:g} ({near:,} of them)"
    )
