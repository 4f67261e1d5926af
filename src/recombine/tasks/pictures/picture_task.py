"""Pictures: the base of tasks in which a net draws what the coordinates of a combination say.

A combination of a product is a place along each factor. The net gets a factorized code of it, and nothing else, and
draws a picture of side x side pixels; row = y, column = x. The task is decoder-only, so that what fails is not the
learning of a representation. After Liang, Qian, Ziyin, Fiete 2025 (arXiv 2501.18797).

With whole coordinates a combination has one picture, and the test on trained combinations shows pictures that were
trained on (as published): it says what was learned, and only the held-out side says what composes.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ...encodings import CoordinateEncoding, encodings, showing
from ...errors import UserError, require_int, unknown
from ...keys import key_for
from ...spaces import Product, Space
from ..base import Batch, Task
from ..metrics import Metric, Statistics

Polarity = Literal["bright", "dark"]
POLARITIES = ("bright", "dark")
CENTERS = ("whole", "real")
NEAR = 1  # pixels: what is brightest this near to the truth is localized (notes of the 2024 paper)
HAIR = 1e-4  # real centers stay this much inside their level, so that rounding never moves one to the next


def _error(found: Statistics) -> float:
    """Squared error by that of an empty picture: a ratio of sums, so that a picture counts by its ink."""
    empty = found["empty"].sum()
    return float(found["squared_error"].sum() / empty) if empty > 0 else float("nan")


SKILL = Metric("skill", "skill (1 - error)", lambda found: 1 - _error(found))
ERROR = Metric("error", "error by that of an empty picture", _error, higher_is_better=False)
LOCALIZED = Metric("localized", "drawn at the right place", lambda found: float(found["localized"].mean()))
MSE = Metric("mse", "squared error per pixel", lambda found: float(found["squared_error"].mean()), False)


class Pictures(Task):
    """The base of drawing tasks: a picture for each combination of ordered factors. Name the `factors` and write `ink`.

    Metrics: skill = 1 - error; error = squared error by that of an empty picture, so that 1 is as good as drawing
    nothing; localized = share of pictures whose strongest pixel is within one pixel of the truth's on both axes;
    mse = squared error per pixel.

    Args:
        space: a Product of the factors, in their order.
        seed: of what a subclass draws.
        side: pixels along each axis; as many as show every place by default.
        encoding: how the coordinates are shown.
        encoding_options: of that encoding.
        polarity: "bright" (ink is 1 on 0) or "dark" (ink is 0 on 1).
        centers: "whole" (the levels themselves) or "real" (uniform around them).
        stored: of real centers, how many there are of each combination: a finite set, the same at every draw.

    Example:
        >>> class Dots(rc.tasks.Pictures):
        ...     id = "dots-v1"
        ...     def ink(self, coordinates, present=None):
        ...         x, y = jnp.rint(coordinates).astype(int).T
        ...         return jnp.zeros((len(x), self.side, self.side)).at[jnp.arange(len(x)), y, x].set(1)
        >>> Dots(rc.Product(x=3, y=3)).picture(jnp.array([[2.0, 0.0]]))[0].astype(int).tolist()
        [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """

    metrics = (SKILL, ERROR, LOCALIZED, MSE)
    factors: ClassVar[tuple[str, ...]] = ("x", "y")
    default_size: ClassVar[int] = 16
    side: int = eqx.field(static=True)  # pixels along each axis
    polarity: str = eqx.field(static=True)  # bright: ink is 1 on 0; dark: ink is 0 on 1
    centers: str = eqx.field(static=True)  # whole: the levels themselves; real: uniform around them
    stored: int | None = eqx.field(static=True)  # real centers of each combination, where they are counted
    encoding: CoordinateEncoding

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        side: int | None = None,
        encoding: str = "bump",
        encoding_options: dict[str, Any] | None = None,
        polarity: Polarity = "bright",
        centers: str = "whole",
        stored: int | None = None,
    ):
        require_int("seed", seed, at_least=0)
        if tuple(space.columns) != self.factors:
            wanted = ", ".join(f"{name}={n}" for name, n in zip(self.factors, self.default_space().levels, strict=True))
            raise UserError(f"{self.id} needs a space such as Product({wanted}), got {space}")
        if polarity not in POLARITIES:
            raise unknown("polarity", polarity, POLARITIES)
        if centers not in CENTERS:
            raise unknown("kind of centers", centers, CENTERS)
        if encoding not in showing("coordinates"):
            raise unknown("encoding of coordinates", encoding, showing("coordinates"))
        if centers == "real" and encoding == "one-hot":
            raise UserError("encoding='one-hot' shows whole coordinates only; with centers='real' use 'bump' or 'ramp'")
        if stored is not None and centers != "real":
            raise UserError(f"stored={stored} counts real centers; with centers='whole' each combination has one")
        self.stored = None if stored is None else require_int("stored", stored, at_least=1)
        levels = self.levels_of(space)
        least = self.least_side(levels)
        self.side = require_int("side", least if side is None else side, at_least=least)
        self.polarity, self.centers = polarity, centers
        self.encoding = encodings[encoding](levels, **(encoding_options or {}))
        self.space = space
        self.constituent_names = tuple(space.columns)
        self.samples = 1

    @classmethod
    def space_of(cls, size: int) -> Product:
        """The space of pictures with so many places along each axis."""
        return Product(x=size, y=size)

    @classmethod
    def default_space(cls) -> Product:
        return cls.space_of(cls.default_size)

    # -- for subclasses ---------------------------------------------------------------------------------------------
    def levels_of(self, space: Space) -> tuple[int, ...]:
        """Levels of each factor that the code shows."""
        return space.levels

    def least_side(self, levels: tuple[int, ...]) -> int:
        """Pixels that show every place; the default."""
        return max(2, *levels)

    def ink(self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None) -> Float[Array, "t n n"]:
        """How much ink each pixel has, from 0 to 1; row = y, column = x. Differentiable in the coordinates.

        present: which factors are there at all, for tasks in which one can be absent.
        """
        raise TypeError(f"{type(self).__name__} must define ink")

    # -- what follows -----------------------------------------------------------------------------------------------
    @property
    def repeats(self) -> bool:
        return self.centers == "whole"

    @property
    def background(self) -> float:
        return 1.0 if self.polarity == "dark" else 0.0

    def coordinates(self, key: jax.Array, combinations: Int[Array, "t f"]) -> Float[Array, "t f"]:
        """Where along each factor: the level, or, for real centers, uniform within half a level of it.

        Of stored centers one of as many as there are, whose key follows from the combination and its number.
        """
        whole = combinations.astype(jnp.float32)
        if self.centers == "whole":
            return whole
        low, high = HAIR - 0.5, 0.5 - HAIR
        if self.stored is None:
            return whole + jax.random.uniform(key, whole.shape, minval=low, maxval=high)
        which = jax.random.randint(key, (len(whole),), 0, self.stored)

        def offset(combination: Int[Array, " f"], number: Int[Array, ""]) -> Float[Array, " f"]:
            own = functools.reduce(jax.random.fold_in, (*combination, number), key_for("stored-centers", 0))
            return jax.random.uniform(own, combination.shape, minval=low, maxval=high)

        return whole + jax.vmap(offset)(combinations, which)

    def present(self, combinations: Int[Array, "t f"]) -> Bool[Array, "t f"] | None:
        """Which factors a combination has at all; None if every one has all."""
        return None

    def asked_about(self, combinations: np.ndarray) -> np.ndarray:
        """Combinations with all their factors: stripes are trained on, and not what is asked."""
        present = self.present(jnp.asarray(combinations))
        return np.ones(len(combinations), bool) if present is None else np.asarray(present.all(-1))

    def code_of(
        self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None
    ) -> Float[Array, "t c"]:
        """What the net is told. Differentiable where the encoding is."""
        return self.encoding(coordinates, present)

    def picture(
        self, coordinates: Float[Array, "t f"], present: Bool[Array, "t f"] | None = None
    ) -> Float[Array, "t n n"]:
        """The truth, with its background."""
        return self.with_background(self.ink(coordinates, present))

    def with_background(self, ink: Array) -> Array:
        return 1 - ink if self.polarity == "dark" else ink

    def ink_of(self, picture: Array) -> Array:
        """The ink of a picture: the inverse of `with_background`."""
        return 1 - picture if self.polarity == "dark" else picture

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        # the code names one picture: there is one of each task, whatever number is asked for
        coordinates, present = self.coordinates(key, combinations), self.present(combinations)
        drawn = self.picture(coordinates, present).reshape(len(combinations), 1, self.side**2)
        return Batch(combinations, self.code_of(coordinates, present), None, drawn, coordinates)

    def score(self, answer: Any, batch: Batch) -> Statistics:
        error = ((np.asarray(answer, np.float64) - batch.target) ** 2).mean((1, 2))
        empty = ((self.background - np.asarray(batch.target, np.float64)) ** 2).mean((1, 2))
        localized = np.asarray(_localized(self, answer, batch.target))[:, 0]
        return {"squared_error": error, "empty": empty, "localized": localized}

    def localized(self, prediction: Float[Array, "t s o"], target: Float[Array, "t s o"]) -> Bool[Array, "t s"]:
        """Whether what is drawn is where it should be, whatever it looks like."""
        return jnp.abs(self.strongest(prediction) - self.strongest(target)).max(-1) <= NEAR

    def strongest(self, flat: Float[Array, "t s o"]) -> Int[Array, "t s 2"]:
        """Row and column of the pixel with the most ink."""
        return self.row_and_column(self.ink_of(flat).argmax(-1))

    def row_and_column(self, pixel: Int[Array, "*any"]) -> Int[Array, "*any 2"]:
        return jnp.stack([pixel // self.side, pixel % self.side], axis=-1)


@jax.jit
def _localized(task: Pictures, answer: jax.Array, target: jax.Array) -> jax.Array:
    return task.localized(answer, target)


def closest(flat: Float[Array, "t s o"], pictures: Float[Array, "p o"]) -> Int[Array, "t s"]:
    """The number of the picture that each prediction is nearest to, in squared error."""
    return (flat @ pictures.T - (pictures**2).sum(-1) / 2).argmax(-1)
