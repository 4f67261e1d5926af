"""What tests of grid worlds share: their map, their spaces, and batches as plain arrays."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from recombine import Product, Subsets

MAP = ["wwwwwww", "w..w..w", "w..w..w", "ww...ww", "w..w..w", "w..w..w", "wwwwwww"]
ARROWS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
SUBSETS, GOALS = Subsets(16, 3), Product(quadrant=4, interaction=5, maze=5, object=5)
T = 200  # tasks per batch, the same everywhere: one compiled program per world
KEY = jax.random.key(5)


def rows_of(space) -> jax.Array:
    return jnp.asarray(space.sample(1, T))


@jax.jit
def begun(task, key, rows):
    return task.begin(key, rows, 1)


def labels_of(batch) -> np.ndarray:
    """(episodes, steps): the expert's actions, -1 where a step does not count."""
    return np.asarray(batch.target).reshape(-1, batch.target.shape[-1])


def decoded(task, inputs) -> np.ndarray:
    """(episodes, steps, rows, columns, channels) of zeros and ones, after checking the scale."""
    seen = np.asarray(inputs).reshape(-1, task.length, task.rows, task.rows, task.channels)
    np.testing.assert_allclose((seen**2).mean((2, 3, 4)), 1, rtol=1e-3)
    size = task.rows**2 * task.channels
    there = seen > 0
    mean = there.sum((2, 3, 4), keepdims=True) / size
    np.testing.assert_allclose(seen, there / np.sqrt(mean + 1e-6), rtol=1e-5)
    return there
