"""Designs by element: elements left out, blocks of elements held apart, or small combinations only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..spaces import Space, require_free
from .certificate import components, element_usage
from .designs import supports
from .drawn_sides import ATTEMPTS, refuse_single, refuse_unlisted, share_number
from .groups import Blocks, Lacks
from .support import Support, from_ranks


@supports.register("missing")
def missing(space: Space, *, elements: Sequence[Any] | None = None, seed: int = 0) -> Support:
    """Everything with one or more given elements (default: the last module or level) is held out: not compositional.

    Args:
        space: what is split.
        elements: those that are never trained, by id, by name ("m3", "color=red") or as (factor, level).
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.missing(rc.Product(color=["red", "blue"], shape=3), elements=["color=red"])
        Support(missing on Product(color=2, shape=3): 3 trained, 3 held out)
    """
    require_int("seed", seed, at_least=0)
    refuse_single(space)
    ids = _element_ids(space, [int(np.flatnonzero(space.occurs)[-1])] if elements is None else elements)
    for members in space.classes:
        if set(members) <= set(ids):
            names = ", ".join(space.element_names[i] for i in members)
            raise UserError(f"without {names} nothing of {space} is left to train on; leave out fewer elements")
    rows = space.enumerate()
    train = np.flatnonzero(Lacks(space, ids)(rows))
    return from_ranks(
        space, train, None, "missing", settings={"elements": [space.element_names[i] for i in ids], "seed": seed}
    )


@supports.register("disconnected")
def disconnected(space: Space, *, blocks: Sequence[int] | None = None, within: float = 0.0, seed: int = 0) -> Support:
    """A disconnected split: elements fall into blocks, and only combinations inside a block are trained.

    Each block stays compositional and connected. Its score is about the group "cross-block".

    Args:
        space: what is split.
        blocks: sizes of the blocks of modules; two equal ones by default. Where there are factors, each is cut in two
            halves.
        within: share of the inside combinations that is held out too, as their own group: a control that asks whether
            the net generalizes at all inside what it saw.
        seed: decides which of those.

    Example:
        >>> split = rc.supports.disconnected(rc.Subsets(6, 2), within=0.25)
        >>> split.asks, len(split.group("cross-block")), len(split.group("within-block"))
        ('held_out/cross-block', 9, 2)
    """
    require_int("seed", seed, at_least=0)
    block_of = _block_of(space, blocks)
    rows = space.enumerate()
    inside = np.flatnonzero(Blocks(space, block_of, cross=False)(rows))
    kept = []
    for block in range(max(block_of) + 1):
        mine = inside[np.array(block_of)[space.elements(rows[inside])[:, 0]] == block]
        kept.append(_thin(space, rows, mine, within, seed, block))
    named = {f"{word}-block": Blocks(space, block_of, cross=word == "cross") for word in ("cross", "within")}
    sizes = np.bincount(block_of).tolist()
    return from_ranks(
        space,
        np.concatenate(kept),
        None,
        "disconnected",
        settings={"blocks": sizes, "within": within, "seed": seed},
        named=named,
        asks="held_out/cross-block",  # what was never combined; inside a block it is a control
    )


@supports.register("one-apart")
def one_apart(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """The published disconnected split: two blocks of modules, the smaller one as large as the share allows.

    Of the block sizes whose cross-block combinations are no more than the share, the one with the most is taken (of 16
    modules with at most 3 active, 1 against 15). What is missing to the share is filled with random combinations
    inside a block, unchecked, and the score is about all that is held out, as published.

    Args:
        space: what is split.
        held_out: share of the combinations that is held out, at most.
        seed: decides which combinations inside a block.

    Example:
        >>> split = rc.supports.one_apart(rc.Subsets(16, 3), held_out=0.25)
        >>> split.settings["blocks"], split.train.size, split.held_out.size
        ([1, 15], 523, 173)
    """
    require_int("seed", seed, at_least=0)
    held_out = share_number("held_out", held_out)
    if space.columns:
        raise UserError(f"one-apart puts modules in two blocks, so it needs Subsets; got {space}")
    halves = len(space.element_names) // 2
    crossing = {}
    for size in range(1, halves + 1):
        block_of = _block_of(space, [size, len(space.element_names) - size])
        crossing[size] = Blocks(space, block_of, cross=True)(space.enumerate())
    fits = {size: int(rows.sum()) for size, rows in crossing.items() if rows.sum() <= held_out * space.size}
    if not fits:
        least = int(crossing[1].sum()) / space.size + 0.005 if crossing else 1.0
        raise UserError(f"one-apart needs held_out={least:.2f} at least, got {space} and held_out={held_out}")
    size = max(fits, key=lambda one: fits[one])
    inside = np.flatnonzero(~crossing[size])
    more = int((held_out - fits[size] / space.size) * space.size)  # rounded as published: of 16 modules 53, not 54
    train = np.sort(generator(key_for("support-one-apart", seed)).permutation(inside)[more:])
    sizes = [size, len(space.element_names) - size]
    block_of = _block_of(space, sizes)
    named = {f"{word}-block": Blocks(space, block_of, cross=word == "cross") for word in ("cross", "within")}
    settings = {"blocks": sizes, "held_out": held_out, "seed": seed}
    return from_ranks(space, train, None, "one-apart", settings=settings, named=named)


@supports.register("fewer-active")
def fewer_active(space: Space, *, most: int | None = None, seed: int = 0) -> Support:
    """Productivity split: combinations of at most `most` elements are trained, no larger ones.

    Args:
        space: what is split; its combinations must differ in size.
        most: how many elements; all but the largest number by default.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.registry["fewer-active"](rc.Subsets(6, 3))
        Support(fewer-active on Subsets(modules=6, at_most=3): 21 trained, 20 held out)
    """
    require_int("seed", seed, at_least=0)
    refuse_unlisted(space)
    if space.fixed_size:
        raise UserError(
            f"fewer-active needs combinations of different sizes, such as subsets of at least two modules, got {space}"
        )
    least, largest = space.sizes[0], space.sizes[-1]
    most = require_int("most", space.sizes[-2] if most is None else most, at_least=least, at_most=largest - 1)
    train = np.flatnonzero((space.elements(space.enumerate()) >= 0).sum(-1) <= most)
    return from_ranks(space, train, None, "fewer-active", settings={"most": most, "seed": seed})


def _element_ids(space: Space, elements: Any) -> tuple[int, ...]:
    if isinstance(elements, (str, int, np.integer)):
        elements = [elements]
    ids = tuple(sorted({space.element_id(e) for e in elements}))
    if not ids:
        raise UserError("elements=[] leaves out nothing; name at least one module or level")
    return ids


def _block_of(space: Space, blocks: Sequence[int] | None) -> tuple[int, ...]:
    """The block of each element. Where there are factors, the levels of each are cut in two halves."""
    if not space.columns:
        require_free(space, "disconnected")
    else:
        if blocks is not None:
            raise UserError(f"blocks={list(blocks)} is for Subsets; on a Product each factor is cut in two halves")
        if min(space.levels) < 2:
            raise UserError(f"{space} has a factor of one level, which cannot lie in two blocks")
        return tuple(
            int(position >= len(members) // 2) for members in space.classes for position in range(len(members))
        )
    modules = len(space.element_names)
    if modules < 2:
        raise UserError(f"{space} has one module, which cannot lie in two blocks")
    if max(space.sizes) < 2:
        raise UserError(f"{space} has no combination of two modules, so no block can be apart from another")
    if blocks is not None and not isinstance(blocks, Iterable):
        raise UserError(f"blocks={blocks!r} must be two or more sizes, such as blocks=(8, 8)")
    sizes = [modules // 2, modules - modules // 2] if blocks is None else list(blocks)
    sizes = [require_int("block size", size, at_least=1) for size in sizes]
    if len(sizes) < 2 or sum(sizes) != modules:
        raise UserError(f"blocks={sizes} must be two or more sizes that add up to {modules} modules")
    return tuple(block for block, size in enumerate(sizes) for _ in range(size))


def _thin(space: Space, rows: np.ndarray, ranks: np.ndarray, share: float, seed: int, block: int) -> np.ndarray:
    """Keeps all but a share of a block's combinations, so that all its elements stay trained and connected."""
    drop = int(len(ranks) * share_number("within", share))
    if share < 0 or share >= 1 or drop >= len(ranks):
        raise UserError(f"within={share} must be at least 0 and leave something of each block to train on; try 0.25")
    if not drop:
        return ranks
    rng = generator(key_for(f"support-disconnected-{block}", seed))
    used = element_usage(space, rows[ranks]) > 0
    for _ in range(ATTEMPTS):
        kept = rng.permutation(ranks)[drop:]
        if ((element_usage(space, rows[kept]) > 0) == used).all() and len(components(space, rows[kept])) == 1:
            return kept
    raise UserError(f"within={share} leaves no block of {space} compositional and connected; hold out less")
