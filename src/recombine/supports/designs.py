"""Designs: ways to choose what is trained. Each is a function `design(space, ..., seed) -> Support`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..registry import Registry
from ..spaces import LISTED_UP_TO, Space, require_free
from .balance import balance
from .certificate import components, element_usage, enough_to_meet_all
from .groups import Blocks, Has, Lacks
from .sides import Rule, RuledSide
from .support import Support, from_ranks
from .weights import checked_weights

supports: Registry[Callable[..., Support]] = Registry("support")

ATTEMPTS = 1000


@supports.register("random")
def random(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A random share is held out; drawn again until compositional and connected, unless told not to."""
    if space.size > LISTED_UP_TO:
        return implicit(space, held_out=held_out, seed=seed, compositional=compositional, connected=connected)
    rng = _rng("support", seed)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        drawn = (rng.permutation(space.size)[:n_train] for _ in range(tries))
        return next((r for r in drawn if _accept(space, space.unrank(r), compositional, connected)), None)

    train = _training_ranks(space, held_out, choose, _wanted(compositional, connected), _fewest(space, connected))
    return from_ranks(space, train, None, "random", settings={"held_out": held_out, "seed": seed})


@supports.register("balanced")
def balanced(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """Random, then exchanged until no element is trained more than once oftener than another of its kind."""
    require_free(space, "balanced")
    rng = _rng("support", seed)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        for _ in range(min(tries, 100)):  # an exchange mends what another draw would: few tries are enough
            ranks, left = balance(space, rng.permutation(space.size)[:n_train], rng)
            if left <= 1 and _accept(space, space.unrank(ranks), compositional, connected):
                return ranks
        return None

    wanted = _wanted(compositional, connected)
    wanted = f"balanced, {wanted}" if wanted else "balanced"
    train = _training_ranks(space, held_out, choose, wanted, _fewest(space, connected))
    return from_ranks(space, train, None, "balanced", settings={"held_out": held_out, "seed": seed})


@supports.register("missing")
def missing(space: Space, *, elements: Sequence[Any] | None = None, seed: int = 0) -> Support:
    """Everything with one or more given elements (default: the last module or level) is held out: not compositional."""
    require_int("seed", seed, at_least=0)
    _refuse_single(space)
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
    """Elements fall into blocks (default: two equal) and only combinations inside a block are trained.

    `within` is the share of the inside combinations that is held out too, as their own group: a control that asks
    whether the net generalizes at all inside what it saw. Each block stays compositional and connected.
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


@supports.register("popular")
def popular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """Every training combination has at least one of a few popular elements."""
    rng = _rng("support-popular", seed)
    _refuse_unlisted(space)
    rows, order = space.enumerate(), _element_order(space)
    # combinations with at least one of the first p elements, for every p
    with_first = [Has(space, order[:p])(rows) for p in range(len(order) + 1)]

    def count_popular(n_train: int) -> int:
        return max(p for p, chosen in enumerate(with_first) if chosen.sum() <= n_train)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        p = count_popular(n_train)
        if not p:
            return None  # fewer than the combinations of one popular element
        chosen = with_first[p]
        more = np.flatnonzero(~chosen & Has(space, order[p : p + 1])(rows)) if p < len(order) else np.empty(0, int)
        return np.concatenate([np.flatnonzero(chosen), rng.permutation(more)[: n_train - int(chosen.sum())]])

    train = _training_ranks(space, held_out, choose, "all combinations of at least one popular element")
    names = [space.element_names[i] for i in order[: count_popular(len(train))]]
    return from_ranks(space, train, None, "popular", settings={"held_out": held_out, "seed": seed, "popular": names})


@supports.register("unpopular")
def unpopular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """All combinations of a core of elements, one task for each other element, and the rest with the first of those."""
    rng = _rng("support-unpopular", seed)
    _refuse_unlisted(space)
    rows, order = space.enumerate(), _element_order(space)

    def rare_elements(n_train: int) -> tuple[int, ...] | None:
        """Those outside the core, which is as large as the number allows once each of them has its one task."""
        for core in range(len(order) - 1, 0, -1):
            inside = Lacks(space, order[core:])(rows)
            if inside.any() and inside.sum() + len(order) - core <= n_train:
                return order[core:]
        return None

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        rare = rare_elements(n_train)
        if rare is None:
            return None
        chosen = Lacks(space, rare)(rows)
        for element in rare:  # the first in rank with this rare element and otherwise only the core
            alone = Has(space, (element,))(rows) & Lacks(space, tuple(e for e in rare if e != element))(rows)
            several = alone & ((space.elements(rows) >= 0).sum(1) > 1)
            if not alone.any():
                return None  # a list need not have it with the core alone
            chosen[np.flatnonzero(several if several.any() else alone)[0]] = True
        more = Has(space, rare[:1])(rows) & Lacks(space, rare[1:])(rows) & ~chosen
        extra = rng.permutation(np.flatnonzero(more))[: n_train - int(chosen.sum())]
        return np.concatenate([np.flatnonzero(chosen), extra])

    train = _training_ranks(space, held_out, choose, "a core and one task for each other element")
    rare = rare_elements(len(train)) or order  # found above, or there were no training ranks
    rarest, name = rare[-1:], space.element_names[rare[-1]]
    return from_ranks(
        space,
        train,
        None,
        "unpopular",
        settings={"held_out": held_out, "seed": seed, "rare": [space.element_names[i] for i in rare]},
        named={f"with rarest ({name})": Has(space, rarest), "without rarest": Lacks(space, rarest)},
    )


@supports.register("fewer-active")
def fewer_active(space: Space, *, most: int | None = None, seed: int = 0) -> Support:
    """Combinations of at most `most` elements (default: all but the largest number) are trained, no larger ones."""
    require_int("seed", seed, at_least=0)
    _refuse_unlisted(space)
    if space.fixed_size:
        raise UserError(
            f"fewer-active needs combinations of different sizes, such as subsets of at least two modules, got {space}"
        )
    least, largest = space.sizes[0], space.sizes[-1]
    most = require_int("most", space.sizes[-2] if most is None else most, at_least=least, at_most=largest - 1)
    train = np.flatnonzero((space.elements(space.enumerate()) >= 0).sum(-1) <= most)
    return from_ranks(space, train, None, "fewer-active", settings={"most": most, "seed": seed})


@supports.register("implicit")
def implicit(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A keyed rule decides for every combination: for spaces that cannot be listed."""
    held_out = _number("held_out", held_out)
    require_int("seed", seed, at_least=0)
    _refuse_single(space)

    def choose(share: float, tries: int) -> tuple[RuledSide, RuledSide] | None:
        cut = min(max(round(share * 2**32), 1), 2**32 - 1)
        for attempt in range(tries):
            salt = _rng("support-implicit", seed * ATTEMPTS + attempt).integers(0, 2**32, dtype=np.uint64)
            sides = [RuledSide(space, Rule(jnp.uint32(salt), jnp.uint32(cut), held_out=side)) for side in (False, True)]
            if space.size <= LISTED_UP_TO:
                looked, rest = (side.combinations() for side in sides)
            else:
                looked, rest = (side.sample(0, enough_to_meet_all(space)) for side in sides)
            if len(looked) and len(rest) and _accept(space, looked, compositional, connected):
                return sides[0], sides[1]
        return None

    # in a space too large to list, what a few rules do not give none will
    if 0 < held_out < 1 and (sides := choose(held_out, ATTEMPTS if space.size <= LISTED_UP_TO else 10)):
        return Support(space, *sides, "implicit", settings={"held_out": held_out, "seed": seed})
    wanted = _wanted(compositional, connected) or "possible"
    trained = max(1 - held_out, 1 / space.size)
    while held_out > 0 and (trained := trained * 1.25) < 1:
        if choose(round(1 - trained, 9), 20):
            raise UserError(
                f"no rule with held_out={held_out} on {space} was {wanted}; the nearest found is "
                f"held_out={round(1 - trained, 9):.9f}"
            )
    raise UserError(f"no rule with held_out={held_out} on {space} is {wanted}; the share must lie between 0 and 1")


@supports.register("listed")
def listed(space: Space, *, ranks: Sequence[int] = (), seed: int = 0) -> Support:
    """The combinations of these ranks are trained, all others are held out: what was chosen elsewhere, as data."""
    require_int("seed", seed, at_least=0)
    _refuse_unlisted(space)
    if not len(ranks):
        raise UserError(f"the design 'listed' needs the ranks that are trained, such as ranks=[0, 1], of {space}")
    train = [require_int("rank", rank, at_least=0, at_most=space.size - 1) for rank in ranks]
    return from_ranks(space, np.array(train), None, "listed", settings={"ranks": sorted(set(train)), "seed": seed})


def from_combinations(space: Space, train: Any, held_out: Any = None, weights: Any = None) -> Support:
    """A support from rows of your own; `held_out=None` means all the rest.

    weights: how often each row of `train` is drawn in training, up to a factor, such as how often a data set repeats
    it; those of a row that is given twice add up. All alike by default.
    """
    if held_out is None and space.size > LISTED_UP_TO:
        raise UserError(
            f"{space} has {space.size:,} combinations; name the held-out ones, the rest is too many to list"
        )
    held = None if held_out is None else space.rank(space.check(held_out))
    rows = space.check(train)
    checked = None if weights is None else checked_weights(space, rows, weights)
    return from_ranks(space, space.rank(rows), held, "from_combinations", weights=checked)


# -- what the designs share -------------------------------------------------------------------------------------


def _refuse_single(space: Space) -> None:
    if space.size < 2:
        raise UserError(f"{space} has one combination, so it cannot be split; a split needs at least two")


def _refuse_unlisted(space: Space) -> None:
    if space.size > LISTED_UP_TO:
        raise UserError(f"{space} has {space.size:,} combinations, too many to list; use the design 'implicit'")


def _rng(name: str, seed: int) -> np.random.Generator:
    return generator(key_for(name, require_int("seed", seed, at_least=0)))


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise UserError(f"{name}={value!r} is not a number between 0 and 1")
    return float(value)


def _wanted(compositional: bool, connected: bool) -> str:
    return " and ".join(word for word, on in (("compositional", compositional), ("connected", connected)) if on)


def _accept(space: Space, rows: np.ndarray, compositional: bool, connected: bool) -> bool:
    if compositional and not (element_usage(space, rows) > 0)[space.occurs].all():
        return False
    return not connected or len(components(space, rows)) == 1


def _training_ranks(
    space: Space, held_out: float, choose: Callable[[int, int], np.ndarray | None], wanted: str, fewest: int = 1
) -> np.ndarray:
    """What `choose(number, tries)` finds for the share that is asked; else a refusal that names a near share.

    int(N * share) combinations are held out, as published. `fewest`: no smaller number can do.
    """
    held_out = _number("held_out", held_out)
    _refuse_single(space)
    _refuse_unlisted(space)
    n = space.size - int(space.size * held_out)
    asked = f"held_out={held_out} of the {space.size:,} combinations of {space}"
    if 1 <= n < space.size and held_out > 0:
        found = choose(n, ATTEMPTS) if n >= fewest else None
        if found is not None:
            return found
        why = f"{asked} leaves {n:,} to train on, and no such split was {wanted} in {ATTEMPTS:,} tries"
    else:
        why = f"{asked} " + ("holds out none" if n >= space.size else "leaves none to train on")
    for near in range(space.size - 1, 0, -1) if n >= space.size else _rising(max(n, fewest - 1), space.size):
        if choose(near, 5) is not None:
            share = round((space.size - near + 0.5) / space.size, len(str(space.size)) + 1)
            raise UserError(f"{why}; the nearest found is held_out={share:g} (train on {near:,} of {space.size:,})")
    raise UserError(f"{why}, and no other share was found that is")


def _fewest(space: Space, connected: bool) -> int:
    """The fewest combinations that can connect all elements: each joins as many as it has. None can if that is 1."""
    if not connected:
        return 1
    most = max(space.sizes)
    return math.ceil((int(space.occurs.sum()) - 1) / (most - 1)) if most > 1 else space.size


def _rising(after: int, below: int) -> Iterator[int]:
    """Numbers to try, an eighth apart where they are large."""
    while (after := max(after + 1, after * 9 // 8)) < below:
        yield after


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
    return tuple(element for _, element in sorted(ranked) if space.occurs[element])


def _block_of(space: Space, blocks: Sequence[int] | None) -> tuple[int, ...]:
    """The block of each element. In a Product each factor's levels are cut in two halves."""
    require_free(space, "disconnected")
    if space.columns:
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
    drop = int(len(ranks) * _number("within", share))
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
