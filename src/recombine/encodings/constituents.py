"""Encodings of constituents: weights of modules (..., M) -> code (..., size).

Definitions after Redhardt, Akram, Schug 2025 and its public code; where the two differ, it is said which is followed.

An encoding made for a task is given `example_size`, the numbers in one labeled example of it, if the task can make
examples, and is called with a key and a function that makes them; all but `few-shot` ignore both.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import UserError, require_int
from .base import Encoding, encodings

#: (key, n, shared) -> n inputs and targets of each task, (tasks, n, input size) and (tasks, n, output size);
#: shared: the inputs are the same for all tasks
Examples = Callable[[jax.Array, int, bool], tuple[jax.Array, jax.Array]]


class ConstituentEncoding(Encoding):
    """What every encoding of constituents has; `linear` is meant on the weights that tasks draw."""

    shows = "constituents"

    def __call__(
        self, constituents: jax.Array, key: jax.Array | None = None, examples: Examples | None = None
    ) -> jax.Array:
        raise TypeError("use a registered encoding")


@encodings.register("identity")
class Identity(ConstituentEncoding):
    """The constituents themselves."""

    linear = True
    injective = True

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        self.size = constituents

    def __call__(self, constituents, key=None, examples=None):
        return constituents


@encodings.register("orthogonal")
class Orthogonal(ConstituentEncoding):
    """The constituents turned by a fixed random rotation, uniform over the orthogonal matrices."""

    linear = True
    injective = True
    matrix: jax.Array

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        self.size = constituents
        self.matrix = jax.random.orthogonal(key, constituents)

    def __call__(self, constituents, key=None, examples=None):
        return jnp.matmul(constituents, self.matrix.T, precision="highest")


@encodings.register("language")
class Language(ConstituentEncoding):
    """Whole numbers 1, w_1, 2, w_2, ..., M, w_M with w = floor(10 z) + M + 1, given as numbers and not embedded.

    Made for weights that are tenths; of continuous ones it shows the first decimal only.
    """

    linear = True  # module numbers are constants, and 10 z is whole for weights that are tenths
    injective = True

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        self.size = 2 * constituents

    def __call__(self, constituents, key=None, examples=None):
        m = constituents.shape[-1]
        words = _tenths(constituents) + m + 1.0
        numbers = jnp.broadcast_to(jnp.arange(1.0, m + 1), words.shape)
        return jnp.stack([numbers, words], axis=-1).reshape(*constituents.shape[:-1], 2 * m)


@encodings.register("tokens")
class Tokens(Language):
    """The word numbers of `language`, looked up in a table that the net learns, and not read as sizes."""

    linear = True  # as numbers; what a net sees of them is its own table

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        super().__init__(constituents, key)
        self.vocabulary = 2 + constituents + 10  # 0 is no word, then M modules, then floor(10 z) from 0 to 10

    def __call__(self, constituents, key=None, examples=None):
        return super().__call__(constituents).astype(jnp.int32)


@encodings.register("invertible")
class Invertible(ConstituentEncoding):
    """A fixed random invertible net: coupling layers that scale and shift one half by a function of the other.

    Five layers, as the paper says (the public code always uses three). With the published deviation of the inner
    weights (scale .1) it is almost affine: a linear probe reads the constituents off it with an R^2 of .998, where the
    paper reports .56. A larger scale bends it: at 1 the probe gets .33 to .56, by seed.
    """

    linear = False
    injective = True
    layers: tuple[tuple[jax.Array, ...], ...]  # weights of the inner nets, M/2 -> 2M -> 2M -> M

    def __init__(
        self,
        constituents: int,
        key: jax.Array,
        *,
        example_size: int | None = None,
        layers: int = 5,
        scale: float = 0.1,
    ):
        m = constituents
        if not 0 < scale < 100:
            raise UserError(
                f"scale={scale} of the encoding 'invertible' must lie between 0 and 100; .1 is the published one"
            )
        if m % 2:
            raise UserError(f"the encoding 'invertible' halves the constituents, so {m} must be even; {m + 1} would do")
        self.size = m
        sizes = (m // 2, 2 * m, 2 * m, m)
        self.layers = tuple(
            tuple(
                scale * jax.random.normal(k, shape)
                for k, shape in zip(jax.random.split(one, 3), zip(sizes, sizes[1:], strict=False), strict=True)
            )
            for one in jax.random.split(key, require_int("layers", layers, at_least=1))
        )

    def __call__(self, constituents, key=None, examples=None):
        code = constituents
        for number, weights in enumerate(self.layers):
            code = _flip(code, number)
            kept, changed = jnp.split(code, 2, axis=-1)
            scale, shift = self._inner(weights, kept)
            code = _flip(jnp.concatenate([kept, changed * scale + shift], axis=-1), number)
        return code

    def inverse(self, code: jax.Array) -> jax.Array:
        """The constituents that `code` came from."""
        for number in reversed(range(len(self.layers))):
            code = _flip(code, number)
            kept, changed = jnp.split(code, 2, axis=-1)
            scale, shift = self._inner(self.layers[number], kept)
            code = _flip(jnp.concatenate([kept, (changed - shift) / scale], axis=-1), number)
        return code

    @staticmethod
    def _inner(weights: tuple[jax.Array, ...], half: jax.Array) -> tuple[jax.Array, jax.Array]:
        for w in weights[:-1]:
            half = jax.nn.sigmoid(half @ w)
        a, shift = jnp.split(half @ weights[-1], 2, axis=-1)
        return 1 + 0.5 * jnp.tanh(a), shift


def _flip(code: jax.Array, number: int) -> jax.Array:
    """Every second layer acts on the reversed vector."""
    return code[..., ::-1] if number % 2 else code


@encodings.register("interval-shuffle")
class IntervalShuffle(ConstituentEncoding):
    """Ten intervals of [0, 1] trade places, the same way in every coordinate; 1 stays 1. A lookup table, in effect."""

    linear = False
    injective = True
    order: jax.Array  # interval i goes to place order[i]

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        self.size = constituents
        self.order = jax.random.permutation(key, 10).astype(jnp.float32)

    def __call__(self, constituents, key=None, examples=None):
        interval = jnp.clip(_tenths(constituents), 0, 9)
        inside = 10 * constituents - interval
        moved = (self.order[interval.astype(int)] + inside) / 10
        return jnp.where(constituents >= 1, constituents, moved)


@encodings.register("few-shot")
class FewShot(ConstituentEncoding):
    """Labeled examples of the task instead of a description: all inputs, then all targets (50 pairs as published).

    redraw: fresh inputs for every task (as published), or the same inputs for all.
    """

    linear = False
    injective = False  # with chance one for enough pairs, but not by construction
    pairs: int = eqx.field(static=True)
    redraw: bool = eqx.field(static=True)
    fixed: jax.Array

    def __init__(
        self,
        constituents: int,
        key: jax.Array,
        *,
        example_size: int | None = None,
        pairs: int = 50,
        redraw: bool = True,
    ):
        if example_size is None:
            raise UserError("the encoding 'few-shot' shows labeled examples, and this task makes none; use another")
        self.pairs, self.redraw, self.fixed = require_int("pairs", pairs, at_least=1), redraw, key
        self.size = self.pairs * example_size

    def __call__(self, constituents, key=None, examples=None):
        if examples is None or key is None:
            raise UserError("the encoding 'few-shot' has to be called with a key and what makes examples")
        inputs, targets = examples(key if self.redraw else self.fixed, self.pairs, not self.redraw)
        flat = (part.reshape(*part.shape[:-2], -1) for part in (inputs, targets))
        return jnp.concatenate(list(flat), axis=-1)


def _tenths(constituents: jax.Array) -> jax.Array:
    """floor(10 z), where 10 z may be short of a whole number by rounding."""
    return jnp.floor(10 * constituents + 1e-4)
