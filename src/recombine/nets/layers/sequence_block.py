"""Pre-norm blocks of sequence nets: attention to oneself, maybe to another sequence, and a feed-forward part.

    h <- h + attention(norm(h))      h <- h + attention(norm(h), what was read)      h <- h + W_2 gelu(W_1 norm(h))

The norms have a scale and no bias, the kernels are Xavier-uniform and without biases.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from .attention import layer_norm
from .dense import rows_matmul, xavier_uniform
from .grouped_attention import GroupedAttention, Memory, Places, kept


class BlockSizes(NamedTuple):
    """What the blocks of a net have in common."""

    width: int
    heads: int
    key_heads: int
    feedforward: int
    positions: str
    precision: str


class Other(NamedTuple):
    """Another sequence as a block reads it: its keys and values, and (T, 1, L) which of them are there."""

    memory: Memory
    seen: jax.Array


class SequenceBlock(eqx.Module):
    """The weights of one block."""

    own_norm: jax.Array
    own: GroupedAttention
    other_norm: jax.Array | None
    other: GroupedAttention | None
    feedforward_norm: jax.Array
    widen: jax.Array
    narrow: jax.Array
    precision: str = eqx.field(static=True)

    @classmethod
    def fresh(cls, key: jax.Array, sizes: BlockSizes, reads_other: bool = False) -> SequenceBlock:
        keys, d, f = jax.random.split(key, 4), sizes.width, sizes.feedforward
        grouped = (d, sizes.heads, sizes.key_heads)
        return cls(
            jnp.ones(d),
            GroupedAttention.fresh(keys[0], *grouped, sizes.positions, sizes.precision),
            jnp.ones(d) if reads_other else None,
            GroupedAttention.fresh(keys[1], *grouped, None, sizes.precision) if reads_other else None,
            jnp.ones(d),
            xavier_uniform(keys[2], d, f),
            xavier_uniform(keys[3], f, d),
            sizes.precision,
        )

    def __call__(
        self, h: jax.Array, places: Places, seen: jax.Array, other: Other | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """The stream (T, L, d) after the attention, and after all; `seen` is (T or 1, L or 1, L)."""
        h = h + self.own.read(layer_norm(h, self.own_norm), places, self.keys_and_values(h, places), seen)
        return self._after(h, places, other)

    def step(
        self, h: jax.Array, places: jax.Array, cache: Memory, slot: jax.Array, seen: jax.Array, other: Other | None
    ) -> tuple[jax.Array, Memory]:
        """One word of each sequence (T, 1, d), whose keys and values are kept in the cache at a slot."""
        cache = kept(cache, self.keys_and_values(h, places), slot)
        h = h + self.own.read(layer_norm(h, self.own_norm), places, cache, seen)
        return self._after(h, places, other)[1], cache

    def keys_and_values(self, h: jax.Array, places: Places) -> Memory:
        """What the block keeps of a stream for words that come later."""
        return self.own.memory(layer_norm(h, self.own_norm), places)

    def other_memory(self, read: jax.Array, there: jax.Array) -> Other:
        """Another sequence (T, L, d), as this block reads it; `there` is (T, L)."""
        if self.other is None:
            raise TypeError("this block reads no other sequence")
        places = jnp.broadcast_to(jnp.arange(read.shape[1]), there.shape)
        return Other(self.other.memory(read, places), there[:, None])

    def _after(self, h: jax.Array, places: Places, other: Other | None) -> tuple[jax.Array, jax.Array]:
        if self.other is not None and self.other_norm is not None and other is not None:
            h = h + self.other.read(layer_norm(h, self.other_norm), places, *other)
        wide = jax.nn.gelu(rows_matmul(layer_norm(h, self.feedforward_norm), self.widen, self.precision))
        return h, h + rows_matmul(wide, self.narrow, self.precision)
