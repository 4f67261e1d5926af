"""bumps-v1: a Gaussian bump at (x, y), drawn from a factorized code of x and of y; and its two control worlds.

    ink(u, v) = exp(-((u - x)^2 + (v - y)^2) / (2 sigma^2)),   u = column, v = row

As published (Liang, Qian, Ziyin, Fiete 2025): N = 28, sigma = 1, dark bumps on white, whole centers. The ink of a bump
is the product of two stripes, so a net that draws each factor and multiplies composes. The control worlds are ours.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...errors import require_number
from ...keys import key_for
from ...spaces import Space
from ..base import tasks
from .picture_task import Pictures


@tasks.register("bumps-v1")
class Bumps(Pictures):
    """A Gaussian bump at (x, y), drawn from a factorized code of x and y; scored by error and by place.

    Args:
        space: a Product of x and y.
        seed: without effect: nothing is drawn at random.
        sigma: deviation of the bump, in pixels.
        options: those of `Pictures`: side, encoding, encoding_options, polarity, centers.

    Example:
        >>> ink = rc.tasks.Bumps(rc.Product(x=6, y=6), sigma=1).ink(jnp.array([[4.0, 1.0]]))
        >>> divmod(int(ink.argmax()), 6)  # row = y, column = x
        (1, 4)
    """

    id = "bumps-v1"
    controls = {"lookup": "bumps-lookup-v1", "indifferent": "bumps-indifferent-v1"}
    sigma: float = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, sigma: float = 1.0, **options: Any):
        self.sigma = require_number("sigma", sigma, above=0, at_most=1000)
        super().__init__(space, seed, **options)

    def profile(self, center: Float[Array, " t"], sigma: Float[Array, " t"] | None = None) -> Float[Array, "t n"]:
        """One axis of a bump: a stripe seen from the side. sigma: one for each, if it is not that of the task."""
        width = self.sigma if sigma is None else sigma[:, None]
        return jnp.exp(-((jnp.arange(self.side) - center[:, None]) ** 2) / (2 * width**2))

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        across, down = self.profile(coordinates[:, 0]), self.profile(coordinates[:, 1])
        return down[:, :, None] * across[:, None, :]


@tasks.register("bumps-lookup-v1")
class BumpsLookup(Bumps):
    """Control: each combination shows its bump at a place of its own, dealt out at random, so nothing can compose.

    Args:
        space: a Product of x and y.
        seed: of the places.
        options: those of `Bumps`: sigma, side, encoding, encoding_options, polarity, centers.

    Example:
        >>> places = rc.tasks.BumpsLookup(rc.Product(x=3, y=3)).places.reshape(-1, 2)
        >>> len(np.unique(places, axis=0))  # every place of the grid once
        9
    """

    id = "bumps-lookup-v1"
    controls = {}
    places: Int[Array, "x y 2"]  # where each combination shows its bump: every place of the grid once

    def __init__(self, space: Space, seed: int = 0, **options: Any):
        super().__init__(space, seed, **options)
        self.places = deal_places(seed, self.encoding.levels)

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        return super().ink(dealt_to(self.places, coordinates))


def deal_places(seed: int, levels: tuple[int, ...]) -> Int[Array, "x y 2"]:
    """A place of its own for every (x, y): a random permutation of the grid."""
    x, y = levels
    ranks = jax.random.permutation(key_for("bumps-lookup", seed), x * y)
    return jnp.stack([ranks // y, ranks % y], axis=-1).reshape(x, y, 2)


def dealt_to(places: Int[Array, "x y 2"], coordinates: Float[Array, "t 2"]) -> Float[Array, "t 2"]:
    """The places that coordinates were dealt; a real center keeps its offset from the level."""
    last = jnp.asarray(places.shape[:2]) - 1
    level = jnp.clip(jnp.floor(coordinates + 0.5).astype(int), 0, last)
    return places[level[:, 0], level[:, 1]] + coordinates - level


@tasks.register("bumps-indifferent-v1")
class BumpsIndifferent(Bumps):
    """Control: the same bump in the middle whatever the combination, so nothing can fail.

    Args:
        space, seed, sigma, options: as of `Bumps`.

    Example:
        >>> ink = rc.tasks.BumpsIndifferent(rc.Product(x=6, y=6)).ink(jnp.array([[4.0, 1.0]]))
        >>> divmod(int(ink.argmax()), 6)
        (3, 3)
    """

    id = "bumps-indifferent-v1"
    controls = {}

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        return super().ink(jnp.full_like(coordinates, self.side // 2))
