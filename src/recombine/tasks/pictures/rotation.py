"""rotation-v1: a handwritten digit turned by an angle, drawn from a code of the angle: one factor, on a circle.

As published (Liang, Qian, Ziyin, Fiete 2025) a "4" is turned by bilinear interpolation, the code is (cos, sin), and
angles from 160 to 200 degrees are held out (`supports.gap`). The digit here is one of the UCI repository's, made larger
(`digits.py`); theirs is one of MNIST's.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.ndimage import map_coordinates
from jaxtyping import Array, Bool, Float

from ...errors import UserError, require_int
from ...spaces import Product, Space
from ..base import tasks
from .digits import DIGITS
from .picture_task import NEAR, Pictures, closest

INSIDE = 20 / 28  # of the side is the digit, as in MNIST: its box fits into the picture at every angle


@tasks.register("rotation-v1")
class Rotation(Pictures):
    """A handwritten digit turned by an angle, drawn from (cos, sin) of it; localized within one level of the angle.

    Level a of A is turned by a / A of a circle to the left.

    Args:
        space: a Product of angle.
        seed: without effect: nothing is drawn at random.
        digit: which, 0 to 9.
        example: which of its handwritten ones; those after the first, 0, are scikit-learn's and need it.
        side: pixels along each axis.
        encoding: how the angle is shown.
        options: those of `Pictures`: encoding_options, polarity, centers.

    Example:
        >>> rc.tasks.Rotation(rc.Product(angle=8), digit=4).shapes().target.shape == (1, 1, 28 * 28)
        True
    """

    id = "rotation-v1"
    controls = {"indifferent": "rotation-indifferent-v1"}
    factors = ("angle",)
    default_size = 36
    upright: Float[Array, "n n"]

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        digit: int = 4,
        example: int = 0,
        side: int = 28,
        encoding: str = "cos-sin",
        **options: Any,
    ):
        super().__init__(space, seed, side=side, encoding=encoding, **options)
        digit = require_int("digit", digit, at_least=0, at_most=9)
        self.upright = jnp.asarray(_enlarged(digit, require_int("example", example, at_least=0), self.side))

    @classmethod
    def space_of(cls, size: int) -> Product:
        return Product(angle=size)

    def least_side(self, levels: tuple[int, ...]) -> int:
        return 8  # of the digits as they come

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        middle = (self.side - 1) / 2
        offset = jnp.arange(self.side) - middle
        down, right = jnp.meshgrid(offset, offset, indexing="ij")

        def turned(level: Float[Array, ""]) -> Float[Array, "n n"]:
            angle = 2 * math.pi / self.encoding.levels[0] * level
            c, s = jnp.cos(angle), jnp.sin(angle)
            # where each pixel was before the turn; rows count downward
            before = [middle + s * right + c * down, middle + c * right - s * down]
            return map_coordinates(self.upright, before, order=1, mode="constant", cval=0.0)

        return jax.vmap(turned)(coordinates[:, 0])

    def localized(self, prediction: Float[Array, "t s o"], target: Float[Array, "t s o"]) -> Bool[Array, "t s"]:
        """Whether the level whose picture is nearest to what is drawn is at most one from the true one."""
        levels = self.encoding.levels[0]
        known = self.ink(jnp.arange(levels, dtype=jnp.float32)[:, None]).reshape(levels, -1)
        drawn, true = (closest(self.ink_of(flat), known) for flat in (prediction, target))
        apart = jnp.abs(drawn - true)
        return jnp.minimum(apart, levels - apart) <= NEAR


@tasks.register("rotation-indifferent-v1")
class RotationIndifferent(Rotation):
    """Control: the upright digit whatever the angle, so nothing can fail, and a cross-fade is the truth.

    Args:
        space, seed, digit, example, side, encoding, options: as of `Rotation`.

    Example:
        >>> same = rc.tasks.RotationIndifferent(rc.Product(angle=8), side=8)
        >>> upright, turned = same.ink(jnp.array([[0.0], [3.0]]))
        >>> bool((upright == turned).all())
        True
    """

    id = "rotation-indifferent-v1"
    controls = {}

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        return super().ink(jnp.zeros_like(coordinates))


@functools.cache
def _enlarged(digit: int, example: int, side: int) -> Float[np.ndarray, "n n"]:
    """An upright digit from 0 to 1 in the middle of a picture, 8 x 8 pixels made larger by cubic interpolation."""
    from scipy.ndimage import map_coordinates as interpolate

    small = (DIGITS[digit] if not example else _further(digit, example)) / 16
    scale = len(small) / (side * INSIDE)
    at = (np.arange(side) - (side - 1) / 2) * scale + (len(small) - 1) / 2
    rows, columns = np.meshgrid(at, at, indexing="ij")
    large = interpolate(small, [rows, columns], order=3, mode="grid-constant", cval=0.0)
    return np.clip(large, 0, 1).astype(np.float32)


def _further(digit: int, example: int) -> np.ndarray:
    """Another example of a digit than the one that comes with this package."""
    try:
        from sklearn.datasets import load_digits  # slow to import
    except ImportError:
        raise UserError(
            f"example={example} is one of scikit-learn's digits, which is not installed: pip install scikit-learn, or "
            "use example=0"
        ) from None
    data = load_digits()
    drawn = data.images[data.target == digit]  # type: ignore[attr-defined]
    if example >= len(drawn):
        raise UserError(f"example={example} of the digit {digit} is not there; there are {len(drawn)}, from 0")
    return drawn[example]
