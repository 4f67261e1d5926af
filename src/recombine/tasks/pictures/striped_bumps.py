"""bumps-and-stripes-v1: a combination may lack a factor, and then shows the full stripe of the other.

    (x, y)         the bump of bumps-v1
    (x, none)      V_x(u, v) = g(u - x), a vertical stripe     g(d) = exp(-d^2 / (2 sigma^2))
    (none, y)      H_y(u, v) = g(v - y), a horizontal stripe
    (none, none)   an empty picture

The data of "Plan B" (Liang, Qian, Ziyin, Fiete 2025): stripes cross the hole of a donut and hold no combination of it.
The public code holds no stripes and the paper's recipe was not at hand, so this recipe, the codes of an absent factor
but the off-frame one, and the mask are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ...errors import UserError, require_int
from ...spaces import Product, Space
from ..base import tasks
from .bumps import Bumps, deal_places, dealt_to
from .picture_task import NEAR

ALIKE = 1e-4  # ink: pixels of the truth that differ by less are equally strong


def space_with_stripes(levels: int) -> Product:
    """A Product of x and y from 0 to levels - 1, or "none".

    Args:
        levels: places along each axis.

    Example:
        >>> rc.tasks.space_with_stripes(2).columns["x"]
        (0, 1, 'none')
    """
    places = [*range(require_int("levels", levels, at_least=1)), "none"]
    return Product(x=places, y=places)


@tasks.register("bumps-and-stripes-v1")
class BumpsAndStripes(Bumps):
    """Bumps, and full stripes where a combination has one factor only; localized on the stripe, wherever along it.

    The error of a stripe is measured by that of an empty picture, too, and a stripe has more ink than a bump.

    Args:
        space: a Product of x and y whose last levels are "none" (`space_with_stripes`).
        seed: without effect: nothing is drawn at random.
        mask: (low, high): stripes have no ink where both pixel coordinates are from low to high. A control: do stripes
            teach how a factor is drawn, or merely put ink into the hole?
        options: those of `Bumps`: sigma, side, encoding, encoding_options, polarity, centers.

    Example:
        >>> striped = rc.tasks.BumpsAndStripes(rc.tasks.space_with_stripes(6))
        >>> stripe = striped.sample(jax.random.key(0), jnp.array([[4, 6]])).target.reshape(6, 6)
        >>> stripe.argmax(1).tolist()  # vertical, at x = 4
        [4, 4, 4, 4, 4, 4]
    """

    id = "bumps-and-stripes-v1"
    controls = {"lookup": "bumps-and-stripes-lookup-v1", "indifferent": "bumps-and-stripes-indifferent-v1"}
    mask: tuple[int, int] | None = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, mask: Sequence[int] | None = None, **options: Any):
        super().__init__(space, seed, **options)
        if not self.encoding.tells_absence():
            raise UserError(
                f"absent={self.encoding.absent!r} shows an absent factor as one of its levels in this code; "
                "use another, such as 'off-frame' for ramps"
            )
        self.mask = None if mask is None else self._checked(mask)

    def _checked(self, mask: Any) -> tuple[int, int]:
        if not hasattr(mask, "__len__") or len(mask) != 2:
            raise UserError(f"mask={mask!r} must be the first and last level that is left out, such as (6, 22)")
        low, high = (require_int("mask", edge, at_least=0, at_most=self.side - 1) for edge in mask)
        if low > high:
            raise UserError(f"mask={mask!r} must have its lower level first")
        return low, high

    @classmethod
    def space_of(cls, size: int) -> Product:
        return space_with_stripes(size)

    def levels_of(self, space: Space) -> tuple[int, ...]:
        for name, levels in space.columns.items():
            *places, last = levels
            if not places or str(last) != "none":
                raise UserError(f"the last of two or more levels of {name!r} in {self.id} must be 'none', not {last!r}")
        return tuple(n - 1 for n in space.levels)

    def present(self, combinations: Int[Array, "t f"]) -> Bool[Array, "t f"]:
        return combinations < jnp.asarray(self.encoding.levels)

    def coordinates(self, key: jax.Array, combinations: Int[Array, "t f"]) -> Float[Array, "t f"]:
        """Where along each factor. An absent factor has no place; the middle stands for it, and is not shown."""
        there = self.present(combinations)
        middle = (jnp.asarray(self.encoding.levels, jnp.float32) - 1) / 2
        return jnp.where(there, super().coordinates(key, combinations), middle)

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        if present is None:
            return super().ink(coordinates)
        across, down = self.profile(coordinates[:, 0]), self.profile(coordinates[:, 1])
        # an absent factor does not narrow the ink down; without any factor there is none
        across, down = (
            jnp.where(present[:, factor, None], profile, 1.0) for factor, profile in enumerate((across, down))
        )
        drawn = down[:, :, None] * across[:, None, :] * present.any(-1)[:, None, None]
        if self.mask is None:
            return drawn
        inside = (jnp.arange(self.side) >= self.mask[0]) & (jnp.arange(self.side) <= self.mask[1])
        masked = ~present.all(-1)[:, None, None] & inside[:, None] & inside[None, :]
        return jnp.where(masked, 0.0, drawn)

    def localized(self, prediction: Float[Array, "t s o"], target: Float[Array, "t s o"]) -> Bool[Array, "t s"]:
        """Whether the strongest pixel is within one pixel of one of the truth's strongest: of the line of a stripe."""
        true = self.ink_of(target)
        square = true.reshape(*true.shape[:2], self.side, self.side)
        best = (square >= square.max((-1, -2), keepdims=True) - ALIKE).astype(jnp.float32)
        window = 2 * NEAR + 1
        near = jax.lax.reduce_window(best, 0.0, jax.lax.max, (1, 1, window, window), (1, 1, 1, 1), "SAME")
        strongest = self.ink_of(prediction).argmax(-1)[..., None]
        return jnp.take_along_axis(near.reshape(true.shape), strongest, axis=-1)[..., 0] > 0


@tasks.register("bumps-and-stripes-lookup-v1")
class BumpsAndStripesLookup(BumpsAndStripes):
    """Control: stripes as they are, but each bump at a place of its own: neither stripes nor bumps tell of others.

    Args:
        space: a Product of x and y whose last levels are "none".
        seed: of the places.
        options: those of `BumpsAndStripes`: mask, sigma, side, encoding, encoding_options, polarity, centers.

    Example:
        >>> rc.tasks.BumpsAndStripesLookup(rc.tasks.space_with_stripes(3)).places.shape
        (3, 3, 2)
    """

    id = "bumps-and-stripes-lookup-v1"
    controls = {}
    places: Int[Array, "x y 2"]

    def __init__(self, space: Space, seed: int = 0, **options: Any):
        super().__init__(space, seed, **options)
        self.places = deal_places(seed, self.encoding.levels)

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        dealt = dealt_to(self.places, coordinates)
        return super().ink(
            dealt if present is None else jnp.where(present.all(-1, keepdims=True), dealt, coordinates), present
        )


@tasks.register("bumps-and-stripes-indifferent-v1")
class BumpsAndStripesIndifferent(BumpsAndStripes):
    """Control: the same bump in the middle whatever the combination, and no stripe: one picture is all there is.

    Args:
        space: a Product of x and y whose last levels are "none".
        seed, mask, options: as of `BumpsAndStripes`.

    Example:
        >>> same = rc.tasks.BumpsAndStripesIndifferent(rc.tasks.space_with_stripes(6))
        >>> divmod(int(same.ink(jnp.array([[4.0, 1.0]])).argmax()), 6)
        (3, 3)
    """

    id = "bumps-and-stripes-indifferent-v1"
    controls = {}

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        return super().ink(jnp.full_like(coordinates, self.side // 2))
