"""Designs: ways to choose what is trained. Each is a function `design(space, ..., seed) -> Support`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..registry import Registry
from ..spaces import LISTED_UP_TO, Space, require_free
from .balance import balance
from .certificate import enough_to_meet_all
from .drawn_sides import (
    ATTEMPTS,
    accepted,
    accepted_ranks,
    fewest_trained,
    refuse_single,
    refuse_unlisted,
    seeded,
    share_number,
    training_ranks,
    wanted_words,
)
from .groups import Has, Lacks
from .sides import Rule, RuledSide
from .support import Support, from_ranks
from .weights import checked_weights

supports: Registry[Callable[..., Support]] = Registry("support")


@supports.register("random")
def random(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A random split: a share of combinations is held out, drawn again until compositional and connected.

    Args:
        space: what is split; a space too large to list is split by a rule (`implicit`).
        held_out: share of the combinations that is held out.
        seed: decides which.
        compositional: every element must be trained in some combination.
        connected: training must link all elements.

    Example:
        >>> rc.supports.random(rc.Product(color=4, shape=5), held_out=0.3, seed=1)
        Support(random on Product(color=4, shape=5): 14 trained, 6 held out)
    """
    if space.size > LISTED_UP_TO:
        return implicit(space, held_out=held_out, seed=seed, compositional=compositional, connected=connected)
    rng = seeded("support", seed)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        drawn = (rng.permutation(space.size)[:n_train] for _ in range(tries))
        return next((r for r in drawn if accepted_ranks(space, r, compositional, connected)), None)

    train = training_ranks(
        space, held_out, choose, wanted_words(compositional, connected), fewest_trained(space, connected)
    )
    return from_ranks(space, train, None, "random", settings={"held_out": held_out, "seed": seed})


@supports.register("balanced")
def balanced(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A random split, balanced by exchange until no element is trained more than once oftener than another of its kind.

    Args:
        space: what is split.
        held_out: share of the combinations that is held out.
        seed: decides which.
        compositional: every element must be trained in some combination.
        connected: training must link all elements.

    Example:
        >>> sorted(rc.supports.balanced(rc.Product(color=4, shape=4)).certificate().usage.values())
        [3, 3, 3, 3, 3, 3, 3, 3]
    """
    require_free(space, "balanced")
    rng = seeded("support", seed)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        for _ in range(min(tries, 100)):  # an exchange mends what another draw would: few tries are enough
            ranks, left = balance(space, rng.permutation(space.size)[:n_train], rng)
            if left <= 1 and accepted_ranks(space, ranks, compositional, connected):
                return ranks
        return None

    wanted = wanted_words(compositional, connected)
    wanted = f"balanced, {wanted}" if wanted else "balanced"
    train = training_ranks(space, held_out, choose, wanted, fewest_trained(space, connected))
    return from_ranks(space, train, None, "balanced", settings={"held_out": held_out, "seed": seed})


@supports.register("popular")
def popular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """Every training combination has at least one of a few popular elements.

    All of as many elements as fit, and some of the next; of the first alone, they are drawn until they are connected.

    Args:
        space: what is split.
        held_out: share of the combinations that is held out; it decides how many elements are popular.
        seed: decides which combinations of the last of them are trained.

    Example:
        >>> rc.supports.popular(rc.Subsets(5, 2), held_out=0.4).settings["popular"]
        ['m0', 'm1']
    """
    rng = seeded("support-popular", seed)
    refuse_unlisted(space)
    rows, order = space.enumerate(), _element_order(space)
    # combinations with at least one of the first p elements, for every p
    with_first = [Has(space, order[:p])(rows) for p in range(len(order) + 1)]

    def count_popular(n_train: int) -> int:
        return max(p for p, chosen in enumerate(with_first) if chosen.sum() <= n_train)

    def choose(n_train: int, tries: int) -> np.ndarray | None:
        p = count_popular(n_train)
        chosen = with_first[p]
        more = np.flatnonzero(~chosen & Has(space, order[p : p + 1])(rows)) if p < len(order) else np.empty(0, int)
        extra = n_train - int(chosen.sum())
        if p:
            return np.concatenate([np.flatnonzero(chosen), rng.permutation(more)[:extra]])
        drawn = (rng.permutation(more)[:extra] for _ in range(tries))
        return next((r for r in drawn if accepted_ranks(space, r, True, True)), None)

    train = training_ranks(space, held_out, choose, "of popular elements and connected", rounded="trained")
    names = [space.element_names[i] for i in order[: max(count_popular(len(train)), 1)]]
    return from_ranks(space, train, None, "popular", settings={"held_out": held_out, "seed": seed, "popular": names})


@supports.register("unpopular")
def unpopular(space: Space, *, held_out: float = 0.25, seed: int = 0) -> Support:
    """All combinations of a core of elements, one task for each other element, and the rest with the first of those.

    As published, but that the rest is drawn at random, and may hold that element by itself: the public code takes the
    first ones with others of the core, the same for every seed.

    Args:
        space: what is split.
        held_out: share of the combinations that is held out; it decides how large the core is.
        seed: decides which combinations of the first rare element are trained.

    Example:
        >>> rc.supports.unpopular(rc.Subsets(5, 2), held_out=0.4).settings["rare"]
        ['m3', 'm4']
    """
    rng = seeded("support-unpopular", seed)
    refuse_unlisted(space)
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

    train = training_ranks(space, held_out, choose, "a core and one task for each other element", rounded="trained")
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


@supports.register("implicit")
def implicit(
    space: Space, *, held_out: float = 0.25, seed: int = 0, compositional: bool = True, connected: bool = True
) -> Support:
    """A keyed rule decides for every combination: a split of spaces that cannot be listed.

    Args:
        space: what is split.
        held_out: share of the combinations that is held out, on average.
        seed: of the key.
        compositional: every element must be trained in some combination.
        connected: training must link all elements.

    Example:
        >>> split = rc.supports.implicit(rc.Subsets(modules=100, at_most=8), held_out=0.25)
        >>> split.train.listed, split.train.size > 10**11
        (False, True)
    """
    held_out = share_number("held_out", held_out)
    require_int("seed", seed, at_least=0)
    refuse_single(space)

    def choose(share: float, tries: int) -> tuple[RuledSide, RuledSide] | None:
        cut = min(max(round(share * 2**32), 1), 2**32 - 1)
        for attempt in range(tries):
            salt = seeded("support-implicit", seed * ATTEMPTS + attempt).integers(0, 2**32, dtype=np.uint64)
            sides = [RuledSide(space, Rule(jnp.uint32(salt), jnp.uint32(cut), held_out=side)) for side in (False, True)]
            if space.size <= LISTED_UP_TO:
                looked, rest = (side.combinations() for side in sides)
            else:
                looked, rest = (side.sample(0, enough_to_meet_all(space)) for side in sides)
            if len(looked) and len(rest) and accepted(space, looked, compositional, connected):
                return sides[0], sides[1]
        return None

    # in a space too large to list, what a few rules do not give none will
    if 0 < held_out < 1 and (sides := choose(held_out, ATTEMPTS if space.size <= LISTED_UP_TO else 10)):
        return Support(space, *sides, "implicit", settings={"held_out": held_out, "seed": seed})
    wanted = wanted_words(compositional, connected) or "possible"
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
    """The combinations of these ranks are trained, all others are held out: what was chosen elsewhere, as data.

    Args:
        space: what is split.
        ranks: positions in the order of `space.enumerate()`.
        seed: without effect; every design takes one.

    Example:
        >>> rc.supports.registry["listed"](rc.Product(color=2, shape=2), ranks=[0, 3])
        Support(listed on Product(color=2, shape=2): 2 trained, 2 held out)
    """
    require_int("seed", seed, at_least=0)
    refuse_unlisted(space)
    if not len(ranks):
        raise UserError(f"the design 'listed' needs the ranks that are trained, such as ranks=[0, 1], of {space}")
    train = [require_int("rank", rank, at_least=0, at_most=space.size - 1) for rank in ranks]
    return from_ranks(space, np.array(train), None, "listed", settings={"ranks": sorted(set(train)), "seed": seed})


def from_combinations(space: Space, train: Any, held_out: Any = None, weights: Any = None) -> Support:
    """A split from rows of your own.

    Args:
        space: what is split.
        train: the training combinations (n, width).
        held_out: the held-out ones; None means all the rest.
        weights: how often each row of `train` is drawn in training, up to a factor, such as how often a data set
            repeats it; those of a row that is given twice add up. All alike by default.

    Example:
        >>> rc.supports.from_combinations(rc.Product(color=2, shape=2), train=[[0, 0], [1, 1]])
        Support(from_combinations on Product(color=2, shape=2): 2 trained, 2 held out)
    """
    if held_out is None and space.size > LISTED_UP_TO:
        raise UserError(
            f"{space} has {space.size:,} combinations; name the held-out ones, the rest is too many to list"
        )
    held = None if held_out is None else space.rank(space.check(held_out))
    rows = space.check(train)
    checked = None if weights is None else checked_weights(space, rows, weights)
    return from_ranks(space, space.rank(rows), held, "from_combinations", weights=checked)


def _element_order(space: Space) -> tuple[int, ...]:
    """Elements from first to last; in a Product the first levels of all factors come before the second ones."""
    ranked = [(position, element) for members in space.classes for position, element in enumerate(members)]
    return tuple(element for _, element in sorted(ranked) if space.occurs[element])
