"""Attention and what belongs to it, as functions: layer norm, rotary positions, attention. All in float32.

Shapes: T sequences, L positions, H heads of D numbers each.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

EPSILON = 1e-6  # under the root of a layer norm, as in Flax; torch has 1e-5
MOST_SCORES = 2**24  # held at once by `attention`: 64 MB
Drop = Callable[[jax.Array, jax.Array], jax.Array]  # weights (H, Q, L) of a sequence, key -> weights


def layer_norm(
    x: Float[Array, "*n d"],
    scale: Float[Array, " d"],
    bias: Float[Array, " d"] | None = None,
    epsilon: float = EPSILON,
) -> Float[Array, "*n d"]:
    """x at mean 0 and variance 1 over its last axis, then times the scale, plus the bias if there is one."""
    centered = x - x.mean(-1, keepdims=True)
    normed = centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + epsilon) * scale
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
    drop: Drop | None = None,
    drop_keys: jax.Array | None = None,
) -> Float[Array, "t q h d"]:
    """Each query takes the mean of all values, weighted by softmax(query . key / sqrt(D)).

    With more than `most` scores (a picture of 28 x 28 pixels has 600,000 a head) a few sequences are done at a time,
    and their scores computed again for the gradient instead of being kept: more work, in bounded memory.
    drop: what is done to the weights of each sequence, with its own of the T `drop_keys`.
    """
    t, q, h, _ = query.shape
    at_once = max(1, most // (q * key.shape[1] * h))
    keys = () if drop_keys is None else (drop_keys,)
    if t <= at_once:
        return _attend(query, key, value, drop=drop, drop_keys=drop_keys)

    def one(sequence: tuple[jax.Array, ...]) -> jax.Array:
        query, key, value, *own = (part[None] for part in sequence)
        return _attend(query, key, value, drop=drop, drop_keys=own[0] if own else None)[0]

    return jax.lax.map(jax.checkpoint(one), (query, key, value, *keys), batch_size=at_once)


def _attend(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    visible: np.ndarray | None = None,
    drop: Drop | None = None,
    drop_keys: jax.Array | None = None,
) -> jax.Array:
    scores = jnp.einsum("tqhd,tkhd->thqk", query * query.shape[-1] ** -0.5, key)
    weights = jax.nn.softmax(scores if visible is None else jnp.where(visible, scores, -jnp.inf))
    if drop is not None and drop_keys is not None:
        weights = jax.vmap(drop)(weights, drop_keys)
    return jnp.einsum("thqk,tkhd->tqhd", weights, value)


def causal_mask(queries: int, keys: int) -> Bool[np.ndarray, "q l"]:
    """Which of L positions the last Q of them see: themselves and those before."""
    return np.tri(queries, keys, keys - queries, dtype=bool)
