"""Pairs: two elements that are each trained, and never together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import UserError
from ..spaces import Space, tuple_places
from .certificate import components, element_usage
from .designs import supports
from .drawn_sides import held_out_count, refuse_unlisted, seeded
from .support import Support, from_ranks


@supports.register("pairs")
def pairs(space: Space, *, pairs: Sequence[Any] | None = None, held_out: float | None = None, seed: int = 0) -> Support:
    """Every combination with one of a few pairs of elements is held out; each element stays trained, and connected.

    Args:
        space: what can be combined.
        pairs: the pairs, as ("color=red", "shape=box") or "color=red & shape=box"; drawn by seed if left out.
        held_out: share of the combinations that drawn pairs hold out, or a little less (default: a quarter).
        seed: of the draw.

    Example:
        >>> toys = rc.Product(color=["red", "blue"], shape=["box", "ball"], size=3)
        >>> rc.supports.pairs(toys, pairs=["color=red & shape=box"])
        Support(pairs on Product(color=2, shape=2, size=3): 9 trained, 3 held out)
    """
    refuse_unlisted(space)
    rows = space.enumerate()
    if pairs is not None:
        if held_out is not None:
            raise UserError(f"held_out={held_out} is for pairs that are drawn; pairs= says which are held out")
        chosen = _named_pairs(space, pairs)
        inside = np.logical_or.reduce([_contain(space, rows, pair) for pair in chosen])
        settings: dict[str, Any] = {"seed": seed}
    else:
        share = 0.25 if held_out is None else held_out
        chosen, inside = _drawn_pairs(space, rows, share, seed)
        settings = {"held_out": share, "seed": seed}
    names = [[space.element_names[i] for i in pair] for pair in chosen]
    return from_ranks(
        space, np.flatnonzero(~inside), np.flatnonzero(inside), "pairs", settings={"pairs": names, **settings}
    )


def _named_pairs(space: Space, pairs: Any) -> list[tuple[int, int]]:
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        pairs = [pairs]
    found = []
    for pair in pairs:
        parts = [part.strip() for part in pair.split("&")] if isinstance(pair, str) else pair
        if not isinstance(parts, Sequence) or len(parts) != 2:
            raise UserError(f"{pair!r} is no pair of elements; write it as 'color=red & shape=box'")
        first, second = sorted(space.element_id(part) for part in parts)
        if not _contain(space, space.enumerate(), (first, second)).any():
            names = " and ".join(space.element_names[i] for i in (first, second))
            raise UserError(f"{names} stand together in no combination of {space}; name a pair that does")
        found.append((first, second))
    if not found:
        raise UserError("pairs=[] holds out nothing; name at least one pair, such as 'color=red & shape=box'")
    return found


def _contain(space: Space, rows: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
    """(n,): which combinations have both elements."""
    ids = space.elements(rows)
    return (ids == pair[0]).any(1) & (ids == pair[1]).any(1)


def _drawn_pairs(
    space: Space, rows: np.ndarray, held_out: float, seed: int
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Pairs in a drawn order: each that leaves the rest compositional, connected and large enough."""
    most = held_out_count(space, held_out)
    elements = len(space.element_names)
    codes, places = tuple_places(space.element_sets(rows), 2, elements)
    order = np.argsort(codes, kind="stable")
    known, starts = np.unique(codes[order], return_index=True)
    members = np.split(places[order], starts[1:])  # the combinations of each pair
    inside, chosen = np.zeros(len(rows), bool), []
    usage, occurs = element_usage(space, rows), space.occurs
    smallest, parts = len(rows), len(components(space, rows))  # a list may fall into parts by itself
    for at in seeded("support-pairs", seed).permutation(len(known)).tolist():
        new = members[at][~inside[members[at]]]
        left = usage - element_usage(space, rows[new])
        if not len(new) or not (left > 0)[occurs].all():
            continue
        smallest = min(smallest, len(new))
        if inside.sum() + len(new) > most:
            continue
        tried = inside.copy()
        tried[new] = True
        if len(components(space, rows[~tried])) == parts:
            inside, usage = tried, left
            code = int(known[at])
            chosen.append((code // elements, code % elements))
    if chosen:
        return chosen, inside
    asked = f"held_out={held_out} of the {space.size:,} combinations of {space} is {most:,}"
    if most < smallest < len(rows):
        near = round((smallest + 0.5) / space.size, len(str(space.size)) + 1)
        raise UserError(f"{asked}, fewer than the combinations of any pair; the nearest possible is held_out={near:g}")
    raise UserError(f"{asked}, and no pair leaves each element trained and connected; use the design 'missing'")
