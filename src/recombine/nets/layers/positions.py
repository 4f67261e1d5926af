"""Positions of words: three ways in which a sequence net knows what stands where.

    sinusoidal   a vector for each place is added to the stream, as in Vaswani et al. 2017
    rotary       queries and keys are turned by an angle that grows with the place: only distances count
    relative     a number for each head and distance is added to the scores; all distances beyond FARTHEST share one

Places are whole numbers (L,), or (T, L) where sequences begin at different ones.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

POSITIONS = ("sinusoidal", "rotary", "relative")
BASE = 10_000.0
FARTHEST = 16  # words apart; what is farther shares one bias


def frequencies(size: int) -> np.ndarray:
    """(size / 2,): how fast each pair of numbers turns from place to place."""
    return (BASE ** (-np.arange(0, size, 2) / size)).astype(np.float32)


def sinusoidal(places: jax.Array | np.ndarray, width: int) -> jax.Array:
    """(..., L, width): sines, then cosines, of the places."""
    angles = jnp.asarray(places)[..., None] * frequencies(width)
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)[..., :width]


def turned(x: jax.Array, places: jax.Array | np.ndarray) -> jax.Array:
    """x (T, L, H, D) with each pair (x_i, x_{i + D/2}) turned by the angle of its place."""
    angles = (jnp.asarray(places)[..., None] * frequencies(x.shape[-1]))[..., None, :]  # (..., L, 1, D/2)
    first, second = jnp.split(x, 2, axis=-1)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def fresh_biases(heads: int) -> jax.Array:
    """(H, distances): no distance is preferred before training."""
    return jnp.zeros((heads, 2 * FARTHEST + 1))


def distance_biases(biases: jax.Array, queries: jax.Array | np.ndarray, keys: jax.Array | np.ndarray) -> jax.Array:
    """(H, Q, L), or (T, H, Q, L): what is added to the score of a query at one place and a key at another."""
    apart = jnp.asarray(keys)[..., None, :] - jnp.asarray(queries)[..., :, None]
    found = biases[:, jnp.clip(apart, -FARTHEST, FARTHEST) + FARTHEST]
    return found if apart.ndim == 2 else jnp.moveaxis(found, 0, 1)
