"""The two sides of a split: what was trained on and what was held out.

A side is explicit (the ranks of its combinations) or implicit (a keyed rule that decides for any combination on
which side it falls, so that spaces that cannot be listed can still be split). Both can be sampled on the host and,
inside a compiled step, on the device. An explicit side may have weights: how often each combination is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..keys import generator
from ..spaces import LISTED_UP_TO, Space
from .weights import WeightedSampler, shares_of, starts_of

#: (rows) -> one bool per row; written with operators that numpy and jax arrays share
Predicate = Callable[[Any], Any]

_PAD_TO_SPACE_BELOW = 1 << 16


class TableSampler(eqx.Module):
    """Draws rows of a table on the device. `count` is data, so tables padded alike share a compiled program."""

    rows: jax.Array  # (padded, width)
    count: jax.Array  # how many of them are real

    def __call__(self, key: jax.Array, n: int) -> jax.Array:
        return self.rows[jax.random.randint(key, (n,), 0, self.count)]


class Rule(eqx.Module):
    """Held out if a keyed hash of the combination's elements falls below a cut; the same on host and device."""

    salt: jax.Array  # uint32
    cut: jax.Array  # uint32: held out if hash < cut
    held_out: bool = eqx.field(static=True)

    def __call__(self, elements: Any) -> Any:
        xp = jnp if isinstance(elements, jax.Array) else np
        salt, cut = (self.salt, self.cut) if xp is jnp else (np.uint32(self.salt), np.uint32(self.cut))
        with np.errstate(over="ignore"):
            state = xp.full(elements.shape[:-1], salt, dtype=xp.uint32)
            for column in range(elements.shape[-1]):
                state = _mix(state ^ (elements[..., column].astype(xp.uint32) + xp.uint32(0x9E3779B9)), xp)
            below = _mix(state, xp) < cut
        return below if self.held_out else ~below


def _mix(x: Any, xp: Any) -> Any:
    """A 32-bit finalizer: every input bit reaches every output bit."""
    x = (x ^ (x >> xp.uint32(16))) * xp.uint32(0x7FEB352D)
    x = (x ^ (x >> xp.uint32(15))) * xp.uint32(0x846CA68B)
    return x ^ (x >> xp.uint32(16))


class RuleSampler(eqx.Module):
    """Draws combinations that fall on one side of a rule, by rejection, on the device."""

    space: Space = eqx.field(static=True)
    rule: Rule
    groups: tuple[Predicate, ...] = eqx.field(static=True, default=())

    def __call__(self, key: jax.Array, n: int) -> jax.Array:
        def keep(rows: jax.Array) -> jax.Array:
            kept = self.rule(self.space.elements(rows))
            for group in self.groups:
                kept = kept & group(rows)
            return kept

        def again(state: tuple) -> jax.Array:
            return ~state[2].all()

        def redraw(state: tuple) -> tuple:
            key, rows, kept = state
            key, now = jax.random.split(key)
            fresh = self.space.draw(now, n)
            rows = jnp.where(kept[:, None], rows, fresh)
            return key, rows, kept | keep(fresh)

        empty = jnp.full((n, self.space.width), -1, self.space.dtype)
        return jax.lax.while_loop(again, redraw, (key, empty, jnp.zeros(n, bool)))[1]


class Side:
    """One side of a split: what was trained on, or what was held out. Use `ListedSide` or `RuledSide`.

    A side that is listed knows its combinations by rank. One that follows a rule lists nothing, and knows of any
    combination whether it is one of them.

    Example:
        >>> side = support.held_out
        >>> side.listed, len(side), side.contains(side.sample(0, n=3)).all().item()
        (True, 2, True)
    """

    space: Space
    size: int
    #: whether `size` and `combinations()` are exact facts about a list, or follow from a rule
    listed: bool
    #: how often each of `combinations()` is drawn, up to a factor; None where all are drawn alike
    weights: np.ndarray | None = None

    def sample(self, key: Any, n: int) -> np.ndarray:
        """`n` combinations of this side with replacement, uniform or by weight, made on the host."""
        raise TypeError("use ListedSide or RuledSide")

    def contains(self, rows: Any) -> np.ndarray:
        """Whether each combination is on this side."""
        raise TypeError("use ListedSide or RuledSide")

    def combinations(self) -> np.ndarray:
        """All combinations of this side."""
        raise TypeError("use ListedSide or RuledSide")

    def where(self, predicate: Predicate) -> Side:
        """The part of this side for which the predicate holds."""
        raise TypeError("use ListedSide or RuledSide")

    def sampler(self) -> Callable[[jax.Array, int], jax.Array]:
        """What draws combinations of this side inside a compiled step (a pytree)."""
        raise TypeError("use ListedSide or RuledSide")

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:  # len() cannot say how large a side of 10^30 is
        return self.size > 0


class ListedSide(Side):
    """A side whose combinations are known by rank. weights: one per rank; drawn alike without them."""

    listed = True

    def __init__(self, space: Space, ranks: np.ndarray, weights: np.ndarray | None = None):
        self.space = space
        self.ranks = np.sort(ranks)
        self.size = len(self.ranks)
        if weights is not None:
            self.weights = np.asarray(weights, dtype=float)[np.argsort(ranks, kind="stable")]
            self.weights.setflags(write=False)

    def combinations(self) -> np.ndarray:
        return self._rows

    @cached_property
    def _rows(self) -> np.ndarray:
        rows = self.space.unrank(self.ranks)
        rows.setflags(write=False)
        return rows

    def sample(self, key: Any, n: int) -> np.ndarray:
        self._refuse_if_empty()
        shares = None if self.weights is None else shares_of(self.weights)
        return self.space.unrank(generator(key).choice(self.ranks, size=n, p=shares))

    def contains(self, rows: Any) -> np.ndarray:
        ranks = self.space.rank(rows)
        at = np.minimum(np.searchsorted(self.ranks, ranks), max(self.size - 1, 0))
        return self.ranks[at] == ranks if self.size else np.zeros(len(ranks), bool)

    def where(self, predicate: Predicate) -> ListedSide:
        kept = np.asarray(predicate(self._rows), dtype=bool)
        return ListedSide(self.space, self.ranks[kept], None if self.weights is None else self.weights[kept])

    def sampler(self) -> TableSampler | WeightedSampler:
        self._refuse_if_empty()
        # Padding makes splits of one space, or of like size, share their compiled program.
        padded = self.space.size if self.space.size <= _PAD_TO_SPACE_BELOW else 1 << (self.size - 1).bit_length()
        table = np.zeros((padded, self.space.width), dtype=self.space.dtype)
        table[: self.size] = self._rows
        rows, count = jnp.asarray(table), jnp.asarray(self.size, jnp.int32)
        if self.weights is None:
            return TableSampler(rows, count)
        return WeightedSampler(rows, jnp.asarray(starts_of(self.weights, padded)), count)

    def _refuse_if_empty(self) -> None:
        if not self.size:
            raise UserError(f"this side of the split of {self.space} is empty, so nothing can be sampled from it")


class RuledSide(Side):
    """A side given by a rule: nothing is listed, and membership of any combination is known."""

    listed = False

    def __init__(self, space: Space, rule: Rule, groups: tuple[Predicate, ...] = ()):
        self.space, self.rule, self.groups = space, rule, groups

    @cached_property
    def size(self) -> int:  # type: ignore[override]
        """Exact where the space can be listed, else what the rule gives on average."""
        if self.space.size <= LISTED_UP_TO:
            return len(self.combinations())
        cut = int(self.rule.cut)
        whole = self.space.size * (cut if self.rule.held_out else 2**32 - cut) // 2**32
        if not self.groups:
            return whole
        rows = RuledSide(self.space, self.rule).sample(0, 10_000)  # a part of it: by its share of a sample
        inside = np.logical_and.reduce([np.asarray(group(rows)) for group in self.groups])
        return whole * int(inside.sum()) // len(rows)

    def contains(self, rows: Any) -> np.ndarray:
        rows = self.space.check(rows)
        kept = self.rule(self.space.elements(rows))
        for group in self.groups:
            kept &= np.asarray(group(rows))
        return kept

    def sample(self, key: Any, n: int, tries: int = 1000) -> np.ndarray:
        rng = generator(key)
        found: list[np.ndarray] = []
        missing = n
        for _ in range(tries):
            rows = self.space.sample(rng, max(64, 2 * missing))
            found.append(rows[self.contains(rows)][:missing])
            missing -= len(found[-1])
            if missing <= 0:
                return np.concatenate(found)
        raise UserError(f"in {tries} tries too few combinations of {self.space} fell in the part that was asked for")

    def combinations(self) -> np.ndarray:
        rows = self.space.enumerate()
        return rows[self.contains(rows)]

    def where(self, predicate: Predicate) -> RuledSide:
        return RuledSide(self.space, self.rule, (*self.groups, predicate))

    def sampler(self) -> RuleSampler:
        return RuleSampler(self.space, self.rule, self.groups)
