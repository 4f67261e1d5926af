"""Encodings of coordinates: a place along each factor (..., F) -> code (..., size).

Each factor is coded by itself and the parts stand side by side, so every code here is factorized by construction: what
moves one factor moves its part alone. After Liang, Qian, Ziyin, Fiete 2025 and its public code, where it says so.
A factor can be absent (a stripe has no second coordinate); `absent` says what is shown in its place. The public code
shows a place outside the frame; zeros and the mean are ours.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int, require_number, unknown
from .base import Encoding, encodings

ABSENT = ("zeros", "mean", "off-frame")
MARGIN = 6  # levels outside the frame on each side, as published
OFF_FRAME = 2 / 3  # of the margin: four levels out of six, where a bump of one level is not seen inside the frame


class CoordinateEncoding(Encoding):
    """The base of encodings of coordinates. Subclass it and write `length` and `part`.

    `linear`: affine in the coordinates. `injective`: no two whole places in the frame have the same code.

    Args:
        levels: of each factor; coordinates run from 0 to levels - 1.
        absent: what is shown of a factor that a combination lacks: "zeros", "mean" or "off-frame".

    Example:
        >>> bumps.encoding.segments, isinstance(bumps.encoding, rc.encodings.CoordinateEncoding)
        ((6, 6), True)
    """

    shows = "coordinates"
    levels: tuple[int, ...] = eqx.field(static=True)  # of each factor; coordinates run from 0 to levels - 1
    segments: tuple[int, ...] = eqx.field(static=True)  # numbers in the part of each factor
    absent: str = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros"):
        if absent not in ABSENT:
            raise unknown("code of an absent factor", absent, ABSENT)
        if absent == "off-frame" and self.off_frame() is None:
            raise UserError(
                "absent='off-frame' needs a code with room outside the frame, such as 'margin' or 'ramp'; "
                "'zeros' and 'mean' always work"
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

    def tells_absence(self) -> bool:
        """Whether the code of an absent factor differs from that of every level."""
        return all(_tells_absence(self, n) for n in set(self.levels))


@functools.cache
def _tells_absence(encoding: CoordinateEncoding, levels: int) -> bool:
    with jax.ensure_compile_time_eval():
        code, absent = encoding.part(jnp.arange(levels, dtype=jnp.float32), levels), encoding.code_of_absent(levels)
        return bool((np.abs(np.asarray(code) - np.asarray(absent)).max(-1) > 1e-4).all())


@encodings.register("one-hot")
class OneHot(CoordinateEncoding):
    """One unit per level. For whole coordinates only. As published.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros" or "mean".

    Example:
        >>> rc.encodings.encodings["one-hot"]((3, 2))(jnp.array([2.0, 0.0])).tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0]
    """

    linear = False
    injective = True

    def length(self, levels: int) -> int:
        return levels

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return (jnp.round(coordinate)[..., None] == jnp.arange(levels)).astype(jnp.float32)


@encodings.register("bump")
class Bump(CoordinateEncoding):
    """One unit per level, active by nearness: exp(-(i - x)^2 / (2 s^2)). As published: s = 1.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros" or "mean".
        width: multiplies the variance s^2 (published ablation: 1, 3, ..., 11).

    Example:
        >>> code = rc.encodings.encodings["bump"]((4,))(jnp.array([2.0]))
        >>> [round(float(unit), 2) for unit in code]
        [0.14, 0.61, 1.0, 0.61]
    """

    linear = False
    injective = True
    width: float = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros", width: float = 1.0):
        self.width = require_number("width", width, above=0, at_most=1e6)
        super().__init__(levels, absent=absent)

    def length(self, levels: int) -> int:
        return levels

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return jnp.exp(-((jnp.arange(levels) - coordinate[..., None]) ** 2) / (2 * self.width))


@encodings.register("margin")
class Margin(Bump):
    """The bump code on an axis that goes on outside the frame, 6 units at each end: it can show a place off-frame.

    As published for the data of "Plan B". An absent factor can be shown as a place in the margin.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros", "mean" or "off-frame".
        width: multiplies the variance of the bump.
        margin: units at each end.

    Example:
        >>> rc.encodings.encodings["margin"]((4, 4), margin=2).segments
        (8, 8)
    """

    margin: int = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros", width: float = 1.0, margin: int = MARGIN):
        self.margin = require_int("margin", margin, at_least=1)
        super().__init__(levels, absent=absent, width=width)

    def length(self, levels: int) -> int:
        return levels + 2 * self.margin

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return super().part(coordinate + self.margin, self.length(levels))

    def off_frame(self) -> float | None:
        return -OFF_FRAME * self.margin


@encodings.register("ramp")
class Ramp(CoordinateEncoding):
    """The coordinate itself, in levels; one number per factor. As published.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros", "mean" or "off-frame".

    Example:
        >>> rc.encodings.encodings["ramp"]((6, 6))(jnp.array([5.0, 2.0])).tolist()
        [5.0, 2.0]
    """

    linear = True
    injective = True

    def length(self, levels: int) -> int:
        return 1

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return coordinate[..., None]

    def off_frame(self) -> float | None:  # a ramp goes on: the public code shows coordinates of the canvas with margin
        return -OFF_FRAME * MARGIN


@encodings.register("ramp-normalized")
class NormalizedRamp(Ramp):
    """The coordinate, from -1 at the first level to 1 at the last; one number per factor. Ours.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros", "mean" or "off-frame".

    Example:
        >>> rc.encodings.encodings["ramp-normalized"]((5, 5))(jnp.array([4.0, 1.0])).tolist()
        [1.0, -0.5]
    """

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        return 2 * coordinate[..., None] / max(levels - 1, 1) - 1


@encodings.register("sinusoidal")
class Sinusoidal(CoordinateEncoding):
    """Sine and cosine of the coordinate at wavelengths 2n, n, n/2, ... for n levels. Ours.

    The longest wavelength is twice the frame, so that no two places look the same.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros" or "mean".
        frequencies: how many wavelengths.

    Example:
        >>> rc.encodings.encodings["sinusoidal"]((6, 6), frequencies=2)(jnp.array([0.0, 0.0])).tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    """

    linear = False
    injective = True
    frequencies: int = eqx.field(static=True)

    def __init__(self, levels: Sequence[int], *, absent: str = "zeros", frequencies: int = 4):
        self.frequencies = require_int("frequencies", frequencies, at_least=1, at_most=20)
        super().__init__(levels, absent=absent)

    def length(self, levels: int) -> int:
        return 2 * self.frequencies

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        phase = coordinate[..., None] * (math.pi / levels * 2.0 ** jnp.arange(self.frequencies))
        return jnp.concatenate([jnp.sin(phase), jnp.cos(phase)], axis=-1)


@encodings.register("cos-sin")
class CosSin(CoordinateEncoding):
    """A place on a circle: (cos, sin) of the angle, the levels evenly around it. As published for rotation.

    Args:
        levels: of each factor.
        absent: what is shown of a factor that a combination lacks: "zeros" or "mean".

    Example:
        >>> code = rc.encodings.encodings["cos-sin"]((4,))(jnp.array([1.0]))
        >>> np.rint(code).astype(int).tolist()
        [0, 1]
    """

    linear = False
    injective = True

    def length(self, levels: int) -> int:
        return 2

    def part(self, coordinate: jax.Array, levels: int) -> jax.Array:
        angle = coordinate[..., None] * (2 * math.pi / levels)
        return jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], axis=-1)
