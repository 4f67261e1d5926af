"""Bumps with more than two factors: a size, or a second bump with a place of its own. Ours: the paper has two."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...errors import require_number
from ...spaces import Product, Space
from ..base import tasks
from .bumps import Bumps
from .picture_task import NEAR

SEEN = 0.5  # of the strongest ink: a peak of the truth that is fainter is not there to be found


@tasks.register("sized-bumps-v1")
class SizedBumps(Bumps):
    """A bump at (x, y) with a size: its deviation grows evenly from sigma to `largest` sigma over the sizes.

    Args:
        space: a Product of x, y and size.
        seed: without effect: nothing is drawn at random.
        largest: deviation of the largest size, by that of the smallest.
        options: those of `Bumps`: sigma, side, encoding, encoding_options, polarity, centers.

    Example:
        >>> sized = rc.tasks.SizedBumps(rc.Product(x=6, y=6, size=2))
        >>> small, large = sized.ink(jnp.array([[3.0, 3.0, 0.0], [3.0, 3.0, 1.0]])).sum((1, 2))
        >>> bool(large > small)
        True
    """

    id = "sized-bumps-v1"
    controls = {}
    factors = ("x", "y", "size")
    largest: float = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, largest: float = 2.0, **options: Any):
        self.largest = require_number("largest", largest, above=1, at_most=1000)
        super().__init__(space, seed, **options)

    @classmethod
    def space_of(cls, size: int) -> Product:
        return Product(x=size, y=size, size=3)

    def least_side(self, levels: tuple[int, ...]) -> int:
        return super().least_side(levels[:2])

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        last = max(self.encoding.levels[2] - 1, 1)
        sigma = self.sigma * (1 + (self.largest - 1) * coordinates[:, 2] / last)
        across, down = self.profile(coordinates[:, 0], sigma), self.profile(coordinates[:, 1], sigma)
        return down[:, :, None] * across[:, None, :]


@tasks.register("two-bumps-v1")
class TwoBumps(Bumps):
    """Two bumps, at (x1, y1) and (x2, y2); to be localized, both must be found.

    Their ink covers, a + b - a b, so that where they overlap there is no more ink than one has. The bumps are alike:
    exchanging them gives the same picture under another code, which a random split can put on its other side (the
    regions cannot: they hold out whatever has a bump inside, and it does not matter which).

    Args:
        space: a Product of x1, y1, x2 and y2.
        seed, sigma, options: as of `Bumps`.

    Example:
        >>> pair = rc.tasks.TwoBumps(rc.Product(x1=6, y1=6, x2=6, y2=6))
        >>> ink = pair.ink(jnp.array([[1.0, 1.0, 4.0, 4.0]])).reshape(1, 1, -1)
        >>> sorted(pair.two_peaks(ink)[0].squeeze().tolist())
        [[1, 1], [4, 4]]
    """

    id = "two-bumps-v1"
    controls = {}
    factors = ("x1", "y1", "x2", "y2")
    default_size = 8

    @classmethod
    def space_of(cls, size: int) -> Product:
        return Product(x1=size, y1=size, x2=size, y2=size)

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        first, second = super().ink(coordinates[:, :2]), super().ink(coordinates[:, 2:])
        return first + second - first * second

    def localized(self, prediction: Float[Array, "t s o"], target: Float[Array, "t s o"]) -> Bool[Array, "t s"]:
        """Whether each peak of the truth is within a pixel of one of the two strongest peaks of what is drawn.

        Bumps that lie on each other have one peak in the truth, and one is enough.
        """
        drawn, _ = self.two_peaks(prediction)
        true, strength = self.two_peaks(target)
        away = jnp.abs(true[..., :, None, :] - drawn[..., None, :, :]).max(-1)  # (T, S, true, drawn)
        there = strength >= SEEN * strength[..., :1]
        return ((away.min(-1) <= NEAR) | ~there).all(-1)

    def two_peaks(self, flat: Float[Array, "t s o"]) -> tuple[Int[Array, "t s 2 2"], Float[Array, "t s 2"]]:
        """Row and column of the two strongest pixels that no neighbor exceeds, and their ink; none: minus infinity."""
        ink = self.ink_of(flat)
        square = ink.reshape(*ink.shape[:2], self.side, self.side)
        highest = jax.lax.reduce_window(square, -jnp.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 1, 1), "SAME")
        peaks = jnp.where(square >= highest, square, -jnp.inf).reshape(ink.shape)
        strength, pixel = jax.lax.top_k(peaks, 2)
        return self.row_and_column(pixel), strength
