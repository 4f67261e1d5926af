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
    """The base of encodings of constituents. `linear` is meant on the weights that tasks draw.

    Args:
        size: numbers in the code.
        vocabulary: if the code is a sequence of word numbers, how many words there are.

    Example:
        >>> isinstance(task.encoding, rc.encodings.ConstituentEncoding)
        True
    """

    shows = "constituents"

    def __call__(
        self, constituents: jax.Array, key: jax.Array | None = None, examples: Examples | None = None
    ) -> jax.Array:
        raise TypeError("use a registered encoding")


@encodings.register("identity")
class Identity(ConstituentEncoding):
    """The constituents themselves.

    Args:
        constituents: how many there are.
        key: without effect: nothing is drawn.
        example_size: without effect: no examples are shown.

    Example:
        >>> encoding = rc.encodings.Identity(3, jax.random.key(0))
        >>> encoding(jnp.array([0.5, 0.0, 1.0])).tolist()
        [0.5, 0.0, 1.0]
    """

    linear = True
    injective = True

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        self.size = constituents

    def __call__(self, constituents, key=None, examples=None):
        return constituents


@encodings.register("orthogonal")
class Orthogonal(ConstituentEncoding):
    """The constituents turned by a fixed random rotation, uniform over the orthogonal matrices.

    Args:
        constituents: how many there are.
        key: of the rotation.
        example_size: without effect: no examples are shown.

    Example:
        >>> encoding = rc.encodings.encodings["orthogonal"](3, jax.random.key(0))
        >>> code = encoding(jnp.array([0.6, 0.0, 0.8]))
        >>> round(float(jnp.linalg.norm(code)), 3)
        1.0
    """

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

    The paper calls it "language", its public code `tokens`, which is another encoding here. Made for weights that are
    tenths; of continuous ones it shows the first decimal only.

    Args:
        constituents: how many there are, M.
        key: without effect: nothing is drawn.
        example_size: without effect: no examples are shown.

    Example:
        >>> encoding = rc.encodings.encodings["language"](2, jax.random.key(0))
        >>> encoding(jnp.array([0.5, 0.0])).tolist()
        [1.0, 8.0, 2.0, 3.0]
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
    """The word numbers of `language`, looked up in a table that the net learns, and not read as sizes.

    Ours. What the public code calls `tokens` has no table: it is `language`.

    Args:
        constituents: how many there are.
        key: without effect: nothing is drawn.
        example_size: without effect: no examples are shown.

    Example:
        >>> encoding = rc.encodings.encodings["tokens"](2, jax.random.key(0))
        >>> encoding(jnp.array([0.5, 0.0])).tolist(), encoding.vocabulary
        ([1, 8, 2, 3], 14)
    """

    linear = True  # as numbers; what a net sees of them is its own table

    def __init__(self, constituents: int, key: jax.Array, *, example_size: int | None = None):
        super().__init__(constituents, key)
        self.vocabulary = 2 + constituents + 10  # 0 is no word, then M modules, then floor(10 z) from 0 to 10

    def __call__(self, constituents, key=None, examples=None):
        return super().__call__(constituents).astype(jnp.int32)


#: options of `invertible` with which a linear probe of it scores as published
BENT = {"layers": 3, "scale": 1.0}


@encodings.register("invertible")
class Invertible(ConstituentEncoding):
    """A fixed random invertible net: coupling layers that scale and shift one half by a function of the other.

    Five layers, as the paper says (the public code always uses three). With the published deviation of the inner
    weights (scale .1) it is almost affine: the public code's own probe reads the constituents off it with an R^2 of
    .998, where Table 1 of the paper has .56. A larger scale bends it. With three layers and a scale of 1 (`BENT`) that
    probe gets .41 to .65 in 12 seeds of 16 modules, .54 in the mean, so that is the setting for claims on nonlinear
    encodings.

    Args:
        constituents: how many there are; an even number.
        key: of the weights.
        example_size: without effect: no examples are shown.
        layers: how many coupling layers.
        scale: deviation of the inner weights.

    Example:
        >>> encoding = rc.encodings.encodings["invertible"](2, jax.random.key(0), scale=1.0)
        >>> z = jnp.array([0.5, 1.0])
        >>> bool(jnp.allclose(encoding.inverse(encoding(z)), z, atol=1e-4))
        True
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
    """Ten intervals of [0, 1] trade places, the same way in every coordinate; 1 stays 1. A lookup table, in effect.

    Args:
        constituents: how many there are.
        key: of the order in which the intervals come.
        example_size: without effect: no examples are shown.

    Example:
        >>> encoding = rc.encodings.encodings["interval-shuffle"](1, jax.random.key(0))
        >>> sorted(np.rint(10 * encoding(jnp.arange(10)[:, None] / 10)).astype(int).ravel().tolist())
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

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

    Args:
        constituents: without effect: they are not shown.
        key: of the inputs that all tasks share, if they do.
        example_size: numbers in one labeled example; needed.
        pairs: how many examples.
        redraw: fresh inputs for every task (as published), or the same inputs for all.

    Example:
        >>> taught = rc.tasks.Hyperteacher(space, encoding="few-shot", encoding_options={"pairs": 2})
        >>> taught.shapes().code.shape == (1, 2 * (16 + 16))
        True
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
    """floor(10 z), where 10 z may be short of a whole number by rounding: two units in the last place of 10."""
    return jnp.floor(10 * constituents + 2e-6)
