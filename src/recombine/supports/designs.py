"""Designs: ways to choose what is trained. Each is a function `design(space, ..., seed) -> Support`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..keys import key_for, generator
from ..registry import Registry
from ..spaces import LISTED_UP_TO, Product, Space, Subsets
from .balance import balance
from .certificate import components, element_usage
from .groups import Blocks, Has, Lacks
from .sides import Rule, Ruled
from .support import Support, from_ranks

supports: Registry[Callable[..., Support]] = Registry("support")

ATTEMPTS = 1000


@supports.register("random")
def random(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A random share is held out; drawn again until compositional and connected, unless told not to."""
    if space.size > LISTED_UP_TO:
        return implicit(space, held_out=held_out, seed=seed, compositional=compositional, connected=connected)
    n_held = _held_out_count(space, held_out)

    def draw(rng: np.random.Generator, n_train: int) -> np.ndarray:
        return rng.permutation(space.size)[:n_train]

    train = _until(space, draw, space.size - n_held, seed, compositional, connected)
    return from_ranks(space, train, None, "random", settings={"held_out": held_out, "seed": seed})


@supports.register("balanced")
def balanced(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """Random, then exchanged until no element is trained more than once oftener than another of its kind."""
    n_held = _held_out_count(space, held_out)

    def draw(rng: np.random.Generator, n_train: int) -> np.ndarray:
        best = None
        for _ in range(10):
            ranks, left = balance(space, rng.permutation(space.size)[:n_train], rng)
            if left <= 1:
                return ranks
            best = left if best is None else min(best, left)
        raise UserError(
            f"no balanced split of {space} with {n_train:,} training combinations was found: usage still differs by "
            f"{best}; another held_out or the design 'random' would do"
        )

    train = _until(space, draw, space.size - n_held, seed, compositional, connected)
    return from_ranks(space, train, None, "balanced", settings={"held_out": held_out, "seed": seed})


@supports.register("missing")
def missing(space: Space, *, elements: Sequence[Any] | None = None, seed: int = 0) -> Support:
    """Everything with one or more given elements (default: the last module or level) is held out: not compositional."""
    ids = _element_ids(space, [len(space.element_names) - 1] if elements is None else elements)
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
def disconnected(
    space: Space, *, blocks: Sequence[int] | None = None, within: float = 0.0, seed: int = 0
) -> Support:
    """Elements fall into blocks (default: two equal) and only combinations inside a block are trained.

    `within` is the share of the inside combinations that is held out too, as their own group: a control that asks
    whether the net generalizes at all inside what it saw. Each block stays compositional and connected.
    """
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
    )


@supports.register("popular")
def popular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """Every training combination has at least one of a few popular elements."""
    n_train = space.size - _held_out_count(space, held_out)
    rows, order = space.enumerate(), _element_order(space)
    p, chosen = _largest(lambda p: Has(space, order[:p])(rows), len(order), n_train)
    if not p:
        raise UserError(
            f"held_out={held_out} leaves {n_train:,} training combinations, fewer than the "
            f"{int(Has(space, order[:1])(rows).sum()):,} that contain one popular element of {space}; hold out less"
        )
    more = np.flatnonzero(~chosen & Has(space, order[p : p + 1])(rows)) if p < len(order) else np.empty(0, int)
    extra = generator(key_for("support-popular", seed)).permutation(more)[: n_train - int(chosen.sum())]
    return from_ranks(
        space,
        np.concatenate([np.flatnonzero(chosen), extra]),
        None,
        "popular",
        settings={"held_out": held_out, "seed": seed, "popular": [space.element_names[i] for i in order[:p]]},
    )


@supports.register("unpopular")
def unpopular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """All combinations of a core of elements, one task for each other element, and the rest with the first of those."""
    n_train = space.size - _held_out_count(space, held_out)
    rows, order = space.enumerate(), _element_order(space)
    n = len(order)
    # The core is as large as the budget allows once every other element has its one task.
    for core in range(n - 1, 0, -1):
        rare = order[core:]
        inside = Lacks(space, rare)(rows)
        if inside.any() and inside.sum() + len(rare) <= n_train:
            break
    else:
        raise UserError(f"held_out={held_out} leaves too few training combinations of {space} for a core; hold out less")
    chosen = inside.copy()
    for element in rare:  # one task each: the first in rank with just this rare element and something of the core
        has = Has(space, (element,))(rows) & Lacks(space, tuple(e for e in rare if e != element))(rows)
        several = has & ((space.elements(rows) >= 0).sum(1) > 1)
        chosen[np.flatnonzero(several if several.any() else has)[0]] = True
    first = Has(space, rare[:1])(rows) & Lacks(space, rare[1:])(rows)
    more = generator(key_for("support-unpopular", seed)).permutation(np.flatnonzero(first & ~chosen))
    train = np.concatenate([np.flatnonzero(chosen), more[: n_train - int(chosen.sum())]])
    rarest = (rare[-1],)
    name = space.element_names[rare[-1]]
    return from_ranks(
        space,
        train,
        None,
        "unpopular",
        settings={"held_out": held_out, "seed": seed, "rare": [space.element_names[i] for i in rare]},
        named={f"with rarest ({name})": Has(space, rarest), "without rarest": Lacks(space, rarest)},
    )


@supports.register("implicit")
def implicit(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A keyed rule decides for every combination: for spaces that cannot be listed."""
    if not 0 < held_out < 1:
        raise UserError(f"held_out={held_out} must lie between 0 and 1; try 0.25")
    _refuse_single(space)
    cut = min(max(round(held_out * 2**32), 1), 2**32 - 1)
    for attempt in range(ATTEMPTS):
        salt = generator(key_for("support-implicit", seed * ATTEMPTS + attempt)).integers(0, 2**32, dtype=np.uint64)
        train, held = (
            Ruled(space, Rule(jnp.uint32(salt), jnp.uint32(cut), held_out=side)) for side in (False, True)
        )
        if space.size <= LISTED_UP_TO and (not train.combinations().size or not held.combinations().size):
            continue
        looked = train.sample(generator(seed), min(20_000, 50 * len(space.element_names)))
        if _accept(space, looked, compositional, connected):
            return Support(space, train, held, "implicit", settings={"held_out": held_out, "seed": seed})
    raise UserError(f"no rule with held_out={held_out} on {space} was compositional and connected in {ATTEMPTS} tries")


def from_combinations(space: Space, train: Any, held_out: Any = None) -> Support:
    """A support from rows of your own; `held_out=None` means all the rest."""
    if held_out is None and space.size > LISTED_UP_TO:
        raise UserError(f"{space} has {space.size:,} combinations; name the held-out ones, the rest is too many to list")
    held = None if held_out is None else space.rank(space.check(held_out))
    return from_ranks(space, space.rank(space.check(train)), held, "from_combinations")


# -- what the designs share -------------------------------------------------------------------------------------


def _refuse_single(space: Space) -> None:
    if space.size < 2:
        raise UserError(f"{space} has one combination, so it cannot be split; a split needs at least two")


def _held_out_count(space: Space, held_out: float) -> int:
    """int(N * fraction), as published; refused where a side would be empty."""
    _refuse_single(space)
    if isinstance(held_out, bool) or not isinstance(held_out, (int, float)) or not math.isfinite(held_out):
        raise UserError(f"held_out={held_out!r} is not a number between 0 and 1")
    if space.size > LISTED_UP_TO:
        raise UserError(f"{space} has {space.size:,} combinations, too many to list; use the design 'implicit'")
    count = int(space.size * held_out)
    if held_out < 0 or count < 1:
        raise UserError(
            f"held_out={held_out} of the {space.size:,} combinations of {space} holds out none; "
            f"the nearest possible is {math.ceil(1e6 / space.size) / 1e6:g} (1 of {space.size:,})"
        )
    if held_out >= 1 or count >= space.size:
        raise UserError(
            f"held_out={held_out} holds out all {space.size:,} combinations of {space} and leaves none to train on; "
            f"the nearest possible is {math.floor(1e6 * (1 - 1 / space.size)) / 1e6:g} (train on 1 of {space.size:,})"
        )
    return count


def _accept(space: Space, rows: np.ndarray, compositional: bool, connected: bool) -> bool:
    if compositional and not (element_usage(space, rows) > 0).all():
        return False
    return not connected or len(components(space, rows)) == 1


def _until(
    space: Space,
    draw: Callable[[np.random.Generator, int], np.ndarray],
    n_train: int,
    seed: int,
    compositional: bool,
    connected: bool,
    attempts: int = ATTEMPTS,
) -> np.ndarray:
    """Draws until the two conditions hold; if they never do, says so and names the nearest number that works."""
    rng = generator(key_for("support", seed))

    def try_with(n: int, tries: int) -> np.ndarray | None:
        for _ in range(tries):
            ranks = draw(rng, n)
            if _accept(space, space.unrank(ranks), compositional, connected):
                return ranks
        return None

    found = try_with(n_train, attempts)
    if found is not None:
        return found
    wanted = " and ".join(w for w, on in (("compositional", compositional), ("connected", connected)) if on)
    n = n_train
    while (n := min(max(n + 1, n * 5 // 4), space.size - 1)) > n_train:
        if try_with(n, 20) is not None:
            raise UserError(
                f"no split of {space} with {n_train:,} training combinations was {wanted} in {attempts} tries; "
                f"the nearest that works is about {n:,} (held_out={math.floor(1e4 * (1 - n / space.size)) / 1e4:g})"
            )
        if n == space.size - 1:
            break
    raise UserError(f"no split of {space} is {wanted}: it cannot be had by holding out less either")


def _element_ids(space: Space, elements: Any) -> tuple[int, ...]:
    if isinstance(elements, (str, int, np.integer)):
        elements = [elements]
    ids = tuple(sorted({space.element_id(e) for e in elements}))
    if not ids:
        raise UserError("elements=[] leaves out nothing; name at least one module or level")
    return ids


def _element_order(space: Space) -> tuple[int, ...]:
    """Elements from first to last; in a Product the first levels of all factors come before the second ones."""
    ranked = [(position, element) for members in space.classes for position, element in enumerate(members)]
    return tuple(element for _, element in sorted(ranked))


def _block_of(space: Space, blocks: Sequence[int] | None) -> tuple[int, ...]:
    """The block of each element. In a Product each factor's levels are cut in two halves."""
    if isinstance(space, Product):
        if blocks is not None:
            raise UserError(f"blocks={list(blocks)} is for Subsets; on a Product each factor is cut in two halves")
        if min(space.levels) < 2:
            raise UserError(f"{space} has a factor of one level, which cannot lie in two blocks")
        return tuple(int(position >= len(members) // 2) for members in space.classes for position in range(len(members)))
    assert isinstance(space, Subsets)
    if space.modules < 2:
        raise UserError(f"{space} has one module, which cannot lie in two blocks")
    if space.at_most < 2:
        raise UserError(f"{space} has no combination of two modules, so no block can be apart from another")
    sizes = [space.modules // 2, space.modules - space.modules // 2] if blocks is None else list(blocks)
    sizes = [require_int("block size", size, at_least=1) for size in sizes]
    if len(sizes) < 2 or sum(sizes) != space.modules:
        raise UserError(f"blocks={sizes} must be two or more sizes that add up to {space.modules} modules")
    return tuple(block for block, size in enumerate(sizes) for _ in range(size))


def _thin(space: Space, rows: np.ndarray, ranks: np.ndarray, share: float, seed: int, block: int) -> np.ndarray:
    """Keeps all but a share of a block's combinations, so that all its elements stay trained and connected."""
    drop = int(len(ranks) * share)
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


def _largest(choose: Callable[[int], np.ndarray], n: int, at_most: int) -> tuple[int, np.ndarray]:
    """The largest p for which `choose(p)` picks no more than `at_most`, and its pick."""
    best = 0, choose(0)
    for p in range(1, n + 1):
        picked = choose(p)
        if picked.sum() > at_most:
            break
        best = p, picked
    return best
