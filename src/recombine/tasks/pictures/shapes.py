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

from ...errors import UserError, require_number
from ...spaces import Space
from ..base import tasks
from .bumps import Bumps
from .picture_task import Pictures, closest


@tasks.register("stripe-sum-v1")
class StripeSum(Bumps):
    """The mean of a vertical stripe at x and a horizontal one at y: factors add where those of a bump multiply.

    Args:
        space, seed, sigma, options: as of `Bumps`.

    Example:
        >>> ink = rc.tasks.StripeSum(rc.Product(x=6, y=6)).ink(jnp.array([[4.0, 1.0]]))[0]
        >>> float(ink[1, 4]), divmod(int(ink.argmax()), 6)
        (1.0, (1, 4))
    """

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

    Args:
        space: a Product of x and y.
        seed: without effect: nothing is drawn at random.
        sigma: deviation along the short axis, in pixels.
        ratio: how much longer the other is.
        angle: of the long axis, in degrees; no multiple of 90.
        options: those of `Pictures`: side, encoding, encoding_options, polarity, centers.

    Example:
        >>> ink = rc.tasks.Ellipse(rc.Product(x=7, y=7), angle=45.0).ink(jnp.array([[3.0, 3.0]]))[0]
        >>> bool(ink[1, 5] > ink[1, 1])  # it points up to the right
        True
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

    Args:
        space: a Product of x and y.
        seed: without effect: nothing is drawn at random.
        radius: in pixels.
        sigma: deviation of the ink across the line.
        options: those of `Pictures`: side, encoding, encoding_options, polarity, centers.

    Example:
        >>> ring = rc.tasks.Ring(rc.Product(x=7, y=7), radius=2.0)
        >>> ring.strongest(ring.ink(jnp.array([[4.0, 2.0]])).reshape(1, 1, -1)).ravel().tolist()
        [2, 4]
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
