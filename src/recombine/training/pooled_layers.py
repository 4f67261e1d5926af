"""A layer as a few numbers per item, inside the compiled program that asks a net: what is kept of a wide trace.

A layer (T, ..., width) is averaged over all axes between the first and the last: samples of a task, steps of an
episode. If it is wider than asked, `width` numbers are dealt to as many buckets as are asked for and added up there
with random signs (a count sketch): a fixed random projection, which keeps distances on average and costs one pass over
the layer. So feature maps of half a million numbers are never held for more than one block of items.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np


def pooled(layer: jax.Array, widest: int) -> jax.Array:
    """(T, ..., width) -> (T, min(width, widest)), in float32."""
    items = len(layer)
    flat = layer.astype(jnp.float32).reshape(items, -1, layer.shape[-1] if layer.ndim > 1 else 1).mean(1)
    width = flat.shape[1]
    if width <= widest:
        return flat
    order, signs = _dealt(width, widest)
    return (flat[:, order] * signs).reshape(items, -1, widest).sum(1)


@functools.cache
def _dealt(width: int, widest: int) -> tuple[np.ndarray, np.ndarray]:
    """Which number comes where, and its sign; always the same for one width. Places left over have sign 0."""
    places = -(-width // widest) * widest
    lot = np.random.default_rng(0)
    order = lot.permutation(places)
    signs = np.where(order < width, lot.choice([-1, 1], places), 0)
    return np.minimum(order, width - 1).astype(np.int32), signs.astype(np.int8)
