"""Attention and what belongs to it, as functions: layer norm, rotary positions, attention. All in float32.

Shapes: T sequences, L positions, H heads of D numbers each.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

EPSILON = 1e-6  # under the root of a layer norm, as in Flax
MOST_SCORES = 2**24  # held at once by `attention`: 64 MB


def layer_norm(
    x: Float[Array, "*n d"], scale: Float[Array, " d"], bias: Float[Array, " d"] | None = None
) -> Float[Array, "*n d"]:
    """x at mean 0 and variance 1 over its last axis, then times the scale, plus the bias if there is one."""
    centered = x - x.mean(-1, keepdims=True)
    normed = centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + EPSILON) * scale
    return normed if bias is None else normed + bias


def rotary_angles(positions: int, size: int, base: float = 10_000.0) -> np.ndarray:
    """(L, D/2): position p turns pair i by p / base^(2i/D). In numpy: a constant of the program."""
    return np.outer(np.arange(positions), base ** (-np.arange(0, size, 2) / size)).astype(np.float32)


def rotate(x: Float[Array, "t l h d"], angles: np.ndarray) -> Float[Array, "t l h d"]:
    """Turns each pair (x_i, x_{i + D/2}) by the angle of its position.

    The product of a query and a key turned like this depends on the difference of their positions alone.
    """
    cos = np.concatenate([np.cos(angles), np.cos(angles)], axis=-1)[:, None]  # (L, 1, D)
    sin = np.concatenate([-np.sin(angles), np.sin(angles)], axis=-1)[:, None]
    return x * cos + jnp.roll(x, x.shape[-1] // 2, axis=-1) * sin


def causal_attention(
    query: Float[Array, "t q h d"], key: Float[Array, "t l h d"], value: Float[Array, "t l h d"]
) -> Float[Array, "t q h d"]:
    """Each query, one for each of the last Q positions, takes the mean of the values at its position and before.

    The weights of the mean are softmax(query . key / sqrt(D)). Products, even of 2 positions: written as sums that XLA
    could fuse, the gradient takes longer on a CPU at any length.
    """
    return _attend(query, key, value, causal_mask(query.shape[1], key.shape[1]))


def attention(
    query: Float[Array, "t q h d"],
    key: Float[Array, "t l h d"],
    value: Float[Array, "t l h d"],
    most: int = MOST_SCORES,
) -> Float[Array, "t q h d"]:
    """Each query takes the mean of all values, weighted by softmax(query . key / sqrt(D)).

    With more than `most` scores (a picture of 28 x 28 pixels has 600,000 a head) a few sequences are done at a time,
    and their scores computed again for the gradient instead of being kept: more work, in bounded memory.
    """
    t, q, h, _ = query.shape
    at_once = max(1, most // (q * key.shape[1] * h))
    if t <= at_once:
        return _attend(query, key, value)

    def one(sequence: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        query, key, value = (part[None] for part in sequence)
        return _attend(query, key, value)[0]

    return jax.lax.map(jax.checkpoint(one), (query, key, value), batch_size=at_once)


def _attend(query: jax.Array, key: jax.Array, value: jax.Array, visible: np.ndarray | None = None) -> jax.Array:
    scores = jnp.einsum("tqhd,tkhd->thqk", query * query.shape[-1] ** -0.5, key)
    weights = jax.nn.softmax(scores if visible is None else jnp.where(visible, scores, -jnp.inf))
    return jnp.einsum("thqk,tkhd->tqhd", weights, value)


def causal_mask(queries: int, keys: int) -> Bool[np.ndarray, "q l"]:
    """Which of L positions the last Q of them see: themselves and those before."""
    return np.tri(queries, keys, keys - queries, dtype=bool)
