"""Attention of sequence nets: heads that share keys and values in groups, masks, positions, and a cache.

H heads of D numbers read G keys and values, each shared by H / G of them (Ainslie et al. 2023); G = H is the usual
attention. Keys and values are made apart from the reading of them, so that a decoder keeps them (`Memory`) and makes
those of the newest word only.

Shapes: T sequences, Q queries, L keys.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .dense import rows_matmul, xavier_uniform
from .positions import distance_biases, fresh_biases, turned

HIDDEN = -1e9  # score of what is not seen; finite, so that a row that sees nothing is no NaN
Places = jax.Array | np.ndarray


class Memory(NamedTuple):
    """Keys and values (T, L, G, D) of what can be read, and their places."""

    keys: jax.Array
    values: jax.Array
    places: jax.Array  # (L,) or (T, L)


class GroupedAttention(eqx.Module):
    """The kernels of one attention of width d."""

    query: jax.Array  # (d, H D)
    key_and_value: jax.Array  # (d, 2 G D), side by side: one product for both
    mix: jax.Array  # (H D, d)
    biases: jax.Array | None  # (H, distances) of relative positions
    heads: int = eqx.field(static=True)
    key_heads: int = eqx.field(static=True)
    rotary: bool = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    @classmethod
    def fresh(
        cls, key: jax.Array, width: int, heads: int, key_heads: int, positions: str | None, precision: str
    ) -> GroupedAttention:
        """positions: None where places say nothing, as of what another sequence says."""
        keys, size = jax.random.split(key, 4), width // heads
        parts = [xavier_uniform(one, width, key_heads * size) for one in keys[1:3]]
        return cls(
            xavier_uniform(keys[0], width, width),
            jnp.concatenate(parts, axis=1),
            xavier_uniform(keys[3], width, width),
            fresh_biases(heads) if positions == "relative" else None,
            heads,
            key_heads,
            positions == "rotary",
            precision,
        )

    def memory(self, x: jax.Array, places: Places) -> Memory:
        """What can be read of a normed stream (T, L, d)."""
        made = rows_matmul(x, self.key_and_value, self.precision)
        keys, values = jnp.split(made.reshape(*x.shape[:2], 2 * self.key_heads, -1), 2, axis=2)
        return Memory(turned(keys, places) if self.rotary else keys, values, jnp.asarray(places))

    def read(self, x: jax.Array, places: Places, memory: Memory, seen: jax.Array | np.ndarray) -> jax.Array:
        """(T, Q, d): what each place of a normed stream reads of a memory; `seen` is (T or 1, Q or 1, L)."""
        t, queries, _ = x.shape
        keys, groups = memory.keys.shape[1], self.key_heads
        query = rows_matmul(x, self.query, self.precision).reshape(t, queries, self.heads, -1)
        query = (turned(query, places) if self.rotary else query) * query.shape[-1] ** -0.5
        query = query.reshape(t, queries, groups, self.heads // groups, -1)
        scores = jnp.einsum("tqgrd,tlgd->tgrql", query, memory.keys).reshape(t, self.heads, queries, keys)
        if self.biases is not None:
            scores = scores + distance_biases(self.biases, places, memory.places)
        weights = jax.nn.softmax(jnp.where(jnp.asarray(seen)[:, None], scores, HIDDEN))
        weights = weights.reshape(t, groups, self.heads // groups, queries, keys)
        found = jnp.einsum("tgrql,tlgd->tqgrd", weights, memory.values).reshape(t, queries, -1)
        return rows_matmul(found, self.mix, self.precision)


def empty_memory(attention: GroupedAttention, rows: int, length: int, size: int) -> Memory:
    """Room for the keys and values of `length` places, D = size numbers each."""
    nothing = jnp.zeros((rows, length, attention.key_heads, size))
    return Memory(nothing, nothing, jnp.zeros((rows, length), jnp.int32))


def kept(memory: Memory, new: Memory, slot: jax.Array) -> Memory:
    """A memory with the keys and values of further places at a slot."""
    write = jax.lax.dynamic_update_slice_in_dim
    places = jnp.broadcast_to(new.places, (len(memory.places), new.keys.shape[1]))
    return Memory(
        write(memory.keys, new.keys, slot, axis=1),
        write(memory.values, new.values, slot, axis=1),
        write(memory.places, places, slot, axis=1),
    )
