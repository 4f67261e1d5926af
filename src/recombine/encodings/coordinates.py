"""Encodings of coordinates: a place along each factor (..., F) -> code (..., size).

Each factor is coded by itself and the parts stand side by side, so every code here is factorized by construction: what
moves one factor moves its part alone. After Liang, Qian, Ziyin, Fiete 2025 and its public code, where it says so.
A factor can be absent (a stripe has no second coordinate); `absent` says what is shown in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import UserError, require_int, unknown
from .base import Encoding, encodings

ABSENT = ("zeros", "mean", "off-frame")


class CoordinateEncoding(Encoding):
    """What every encoding of coordinates has. Subclass it and write `length` and `part`."""

    shows = "coordinates"
    levels: tuple[int, ...] = eqx.field(static=True)  # of each factor; coordinates run from 0 to levels - 1
    segments: tuple[int, ...] = eqx.field(static=True)  # numbers in the part of each factor
    absent: str = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros"):
        if absent not in ABSENT:
            raise unknown("code of an absent factor", absent, ABSENT)
        if absent == "off-frame" and not self.off_frame():
            raise UserError(
                "absent='off-frame' needs a code with room outside the frame; 'zeros' and 'mean' always work"
            )
        self.levels = tuple(require_int("levels", n, at_least=1) for n in levels)
        self.segments = tuple(self.length(n) for n in self.levels)
        self.size = sum(self.segments)
        self.absent = absent

    def length(self, levels: int) -> int:
        """Numbers in the part of a factor with so many levels."""
        raise TypeError("use a registered encoding")

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        """The code of one factor: (...) -> (..., length). Differentiable where the code is."""
        raise TypeError("use a registered encoding")

    def off_frame(self) -> float | None:
        """A coordinate outside the frame that the code can show, if it has room for one."""
        return None

    def __call__(self, coordinates: jax.Array, present: jax.Array | None = None) -> jax.Array:
        """The code; `present` (..., F) says which factors are there at all."""
        parts = []
        for factor, levels in enumerate(self.levels):
            shown = self.part(coordinates[..., factor], levels)
            if present is not None:
                shown = jnp.where(present[..., factor, None], shown, self.code_of_absent(levels))
            parts.append(shown)
        return jnp.concatenate(parts, axis=-1)

    def code_of_absent(self, levels: int) -> jax.Array:
        """What is shown in the place of a factor that is not there."""
        if self.absent == "zeros":
            return jnp.zeros(self.length(levels))
        if self.absent == "mean":  # over the levels
            return self.part(jnp.arange(levels, dtype=jnp.float32), levels).mean(0)
        return self.part(jnp.asarray(self.off_frame(), jnp.float32), levels)


@encodings.register("one-hot")
class OneHot(CoordinateEncoding):
    """One unit a level. For whole coordinates only."""

    linear = False
    injective = True

    def length(self, levels: int) -> int:
        return levels

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return (jnp.round(coordinate)[..., None] == jnp.arange(levels)).astype(jnp.float32)


@encodings.register("bump")
class Bump(CoordinateEncoding):
    """A unit a level, active by nearness: exp(-(i - x)^2 / (2 s^2)). As published: s = 1.

    width: multiplies the variance s^2 (published ablation: 1, 3, ..., 11).
    """

    linear = False
    injective = True
    width: float = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros", width: float = 1.0):
        if not 0 < width < 1e6:
            raise UserError(f"width={width} of the encoding 'bump' must be above 0; 1 is the published one")
        self.width = float(width)
        super().__init__(levels, absent=absent)

    def length(self, levels: int) -> int:
        return levels

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return jnp.exp(-((jnp.arange(levels) - coordinate[..., None]) ** 2) / (2 * self.width))


@encodings.register("ramp")
class Ramp(CoordinateEncoding):
    """The coordinate itself, in levels; one number a factor. As published."""

    linear = True
    injective = True

    def length(self, levels: int) -> int:
        return 1

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return coordinate[..., None]
