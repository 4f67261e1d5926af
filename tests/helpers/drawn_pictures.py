"""What tests of pictures share: drawn, sampled and scored by compiled programs, and the plain formula."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from recombine import Product
from recombine.tasks import Batch, Pictures, space_with_stripes

PUBLISHED = Product(x=28, y=28)
KEY = jax.random.key(0)


@jax.jit
def drawn(task, coordinates, present=None):
    return task.picture(coordinates, present)


@jax.jit
def sampled(task, key, rows):
    return task.sample(key, rows)


def pictures(task: Pictures, at) -> np.ndarray:
    return np.asarray(drawn(task, jnp.asarray(at, jnp.float32)), np.float64)


def gaussian(away: np.ndarray, sigma: float = 1.0) -> np.ndarray:
    return np.exp(-(away**2) / (2 * sigma**2))


def offsets(side: int, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each pixel lies to the right of x and below y: (rows, columns)."""
    down, right = np.mgrid[:side, :side]
    return right - x, down - y


def score(task: Pictures, prediction: np.ndarray, target: np.ndarray) -> dict[str, float]:
    answer, wanted = (np.asarray(image, np.float32).reshape(len(image), 1, -1) for image in (prediction, target))
    statistics = task.score(answer, Batch(None, target=wanted))
    return {metric.name: metric(statistics) for metric in task.metrics}


NONE = 12  # the level of an absent factor
STRIPES = space_with_stripes(NONE)
