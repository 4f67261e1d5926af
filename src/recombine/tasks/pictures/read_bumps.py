"""bumps-read-v1: the reverse of drawing: a picture of a bump is shown, and its coordinates are asked for.

As in the encoder of the public code of Liang, Qian, Ziyin, Fiete 2025, the answer is the bump code of x and y, or the
two coordinates themselves (here from -1 to 1); it is right if both are within half a level of the truth, where a bump
code says the level of its strongest unit.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...encodings import CoordinateEncoding, encodings
from ...errors import unknown
from ...spaces import Product, Space
from ..base import Batch, Task, tasks
from ..metrics import Metric, Statistics
from .bumps import Bumps, BumpsLookup

ASKED = {"bump": "bump", "scalar": "ramp-normalized"}  # what is asked for -> encoding
RIGHT = Metric("right", "both coordinates within half a level", lambda found: float(found["right"].mean()))
MSE = Metric("mse", "squared error per number", lambda found: float(found["squared_error"].mean()), False)


@tasks.register("bumps-read-v1")
class BumpsRead(Task):
    """The coordinates of a bump are read off its picture; scored by the share that is right.

    Args:
        space: a Product of x and y.
        seed: without effect: nothing is drawn at random.
        asked: "bump" (a bump code of both) or "scalar" (two numbers).
        options: those of `Bumps`: sigma, side, polarity.

    Example:
        >>> task = rc.tasks.BumpsRead(rc.Product(x=6, y=6), asked="scalar")
        >>> task.sample(jax.random.key(0), jnp.array([[5, 0]])).target.ravel().tolist()
        [1.0, -1.0]
    """

    id = "bumps-read-v1"
    controls = {"lookup": "bumps-read-lookup-v1"}
    metrics = (RIGHT, MSE)
    drawn: Bumps
    encoding: CoordinateEncoding
    asked: str = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0, *, asked: str = "bump", **options: Any):
        if asked not in ASKED:
            raise unknown("kind of coordinates", asked, ASKED)
        self.drawn = self.pictures(space, seed, **options)
        self.asked, self.space = asked, space
        self.encoding = encodings[ASKED[asked]](self.drawn.encoding.levels)
        self.constituent_names, self.samples = tuple(space.columns), 1

    def pictures(self, space: Space, seed: int, **options: Any) -> Bumps:
        """The task that draws what is shown."""
        return Bumps(space, seed, **options)

    @classmethod
    def default_space(cls) -> Product:
        return Bumps.default_space()

    @classmethod
    def space_of(cls, size: int) -> Product:
        return Bumps.space_of(size)

    @property
    def repeats(self) -> bool:
        return True

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        places = combinations.astype(jnp.float32)
        number = self.samples if samples is None else samples  # a combination has one picture: each item is the same
        shown = jnp.repeat(self.drawn.picture(places).reshape(len(places), 1, -1), number, axis=1)
        asked = jnp.repeat(self.encoding(places)[:, None], number, axis=1)
        # nothing is told beside the picture: a code of one number that is always the same
        return Batch(combinations, jnp.ones((len(places), 1)), shown, asked, places)

    def score(self, answer: Any, batch: Batch) -> Statistics:
        target = np.asarray(batch.target, np.float64)  # (T, S, C)
        answer = np.asarray(answer, np.float64).reshape(target.shape)
        apart = np.abs(self.places(answer) - self.places(target))
        right, wrong_by = (apart <= 0.5).all(-1), ((answer - target) ** 2).mean(-1)
        return {"right": right.mean(-1), "squared_error": wrong_by.mean(-1)}

    def places(self, code: Float[np.ndarray, "*items c"]) -> Float[np.ndarray, "*items 2"]:
        """The coordinates that an answer says, in levels."""
        levels = self.encoding.levels
        if self.asked == "scalar":
            return (code + 1) / 2 * (np.array(levels) - 1)
        return np.stack([part.argmax(-1) for part in np.split(code, [levels[0]], axis=-1)], axis=-1).astype(float)


@tasks.register("bumps-read-lookup-v1")
class BumpsReadLookup(BumpsRead):
    """Control: each combination shows its bump at a place of its own, by lot, so that no picture tells of others.

    Args:
        space: a Product of x and y.
        seed: of the places.
        asked, options: as of `BumpsRead`.

    Example:
        >>> rc.tasks.BumpsReadLookup(rc.Product(x=3, y=3)).drawn.id
        'bumps-lookup-v1'
    """

    id = "bumps-read-lookup-v1"
    controls = {}

    def pictures(self, space: Space, seed: int, **options: Any) -> Bumps:
        return BumpsLookup(space, seed, **options)
