"""bumps-v1: a Gaussian bump at (x, y), drawn from a factorized code of x and of y.

    ink(u, v) = exp(-((u - x)^2 + (v - y)^2) / (2 sigma^2)),   u = column, v = row

As published (Liang, Qian, Ziyin, Fiete 2025): N = 28, sigma = 1, dark bumps on white, whole centers.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import UserError
from ..spaces import Product, Space
from .base import tasks
from .pictures import Pictures


@tasks.register("bumps-v1")
class Bumps(Pictures):
    """A Gaussian bump at (x, y), drawn from a factorized code of x and y; scored by error and by place."""

    id = "bumps-v1"
    sigma: float = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, sigma: float = 1.0, **options: Any):
        if not 0 < sigma < 1e3:
            raise UserError(f"sigma={sigma} must be above 0; 1 pixel is the published one")
        self.sigma = float(sigma)
        super().__init__(space, seed, **options)

    def levels_of(self, space: Product) -> tuple[int, ...]:
        if list(space.factors) != ["x", "y"]:
            raise UserError(f"{self.id} needs the factors x and y, as in Product(x=28, y=28); got {space}")
        return super().levels_of(space)

    def profile(self, center: Float[Array, " t"]) -> Float[Array, "t n"]:
        """One axis of a bump: a stripe seen from the side."""
        return jnp.exp(-((jnp.arange(self.side) - center[:, None]) ** 2) / (2 * self.sigma**2))

    def ink(self, coordinates: Float[Array, "t f"]) -> Float[Array, "t n n"]:
        across, down = self.profile(coordinates[:, 0]), self.profile(coordinates[:, 1])
        return down[:, :, None] * across[:, None, :]
