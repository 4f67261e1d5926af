"""Other pictures at (x, y), in which the two factors do not multiply: can what composes bumps compose these?

A bump is the outer product of two stripes, a matrix of rank one. None of these pictures is, so a net that draws each
factor and multiplies, as a net may that was made for bumps, cannot draw them. Ours; the paper leaves them open.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..errors import UserError, require_number
from ..spaces import Space
from .base import tasks
from .bumps import Bumps
from .pictures import Pictures, closest


@tasks.register("stripe-sum-v1")
class StripeSum(Bumps):
    """The mean of a vertical stripe at x and a horizontal one at y: factors add where those of a bump multiply."""

    id = "stripe-sum-v1"
    controls = {}

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        across, down = self.profile(coordinates[:, 0]), self.profile(coordinates[:, 1])
        return (down[:, :, None] + across[:, None, :]) / 2


class _Stamp(Pictures):
    """A shape that is the same everywhere: its ink depends on where a pixel lies from (x, y)."""

    __init__ = Pictures.__init__

    def stamp(self, right: Float[Array, "t n n"], down: Float[Array, "t n n"]) -> Float[Array, "t n n"]:
        raise TypeError(f"{type(self).__name__} must define stamp")

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        pixels, x, y = jnp.arange(self.side), coordinates[:, 0, None], coordinates[:, 1, None]
        shape = (len(coordinates), self.side, self.side)
        return self.stamp(
            jnp.broadcast_to((pixels - x)[:, None, :], shape), jnp.broadcast_to((pixels - y)[:, :, None], shape)
        )


@tasks.register("ellipse-v1")
class Ellipse(_Stamp):
    """An elongated Gaussian at (x, y), turned by an angle: not a product of stripes.

    sigma: deviation along the short axis; ratio: how much longer the other is; angle: of it, in degrees.
    """

    id = "ellipse-v1"
    sigma: float = eqx.field(static=True)
    ratio: float = eqx.field(static=True)
    angle: float = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        sigma: float = 1.0,
        ratio: float = 3.0,
        angle: float = 45.0,
        **options: Any,
    ):
        self.sigma = require_number("sigma", sigma, above=0, at_most=1000)
        self.ratio = require_number("ratio", ratio, above=1, at_most=1000)
        self.angle = require_number("angle", angle)
        if self.angle % 90 == 0:
            raise UserError(
                f"angle={angle} makes an ellipse along the axes, which is separable as a bump is; 45 is not"
            )
        super().__init__(space, seed, **options)

    def stamp(self, right: Float[Array, "t n n"], down: Float[Array, "t n n"]) -> Float[Array, "t n n"]:
        c, s = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        along, aside = c * right - s * down, s * right + c * down  # rows count downward, angles upward
        return jnp.exp(-((along / self.ratio) ** 2 + aside**2) / (2 * self.sigma**2))


@tasks.register("ring-v1")
class Ring(_Stamp):
    """A ring around (x, y): not a product of stripes. Its place is that of the ring that fits a picture best.

    radius: in pixels; sigma: deviation of the ink across the line.
    """

    id = "ring-v1"
    radius: float = eqx.field(static=True)
    sigma: float = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, radius: float = 3.0, sigma: float = 1.0, **options: Any):
        self.sigma = require_number("sigma", sigma, above=0, at_most=1000)
        self.radius = require_number("radius", radius, at_least=self.sigma, at_most=1000)
        super().__init__(space, seed, **options)

    def stamp(self, right: Float[Array, "t n n"], down: Float[Array, "t n n"]) -> Float[Array, "t n n"]:
        away = jnp.sqrt(right**2 + down**2 + 1e-6)  # smooth at the center
        return jnp.exp(-((away - self.radius) ** 2) / (2 * self.sigma**2))

    def strongest(self, flat: Float[Array, "t s o"]) -> Int[Array, "t s 2"]:
        """Row and column of the center of the ring that is nearest: the line has no strongest pixel."""
        centers = self.row_and_column(jnp.arange(self.side**2))
        rings = self.ink(centers[:, ::-1].astype(jnp.float32)).reshape(self.side**2, -1)
        return centers[closest(self.ink_of(flat), rings)]
