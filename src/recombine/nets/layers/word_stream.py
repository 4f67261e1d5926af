"""Words into the stream of a sequence net, and out of it: gathered vectors, and logits that may share their table."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from ...distributions import truncated_normal
from .attention import layer_norm
from .dense import lecun_normal, rows_matmul
from .embedding import look_up
from .grouped_attention import Places
from .positions import sinusoidal


class WordStream(eqx.Module):
    """A table (words, d) whose rows are scaled to length sqrt(d), as positions are; and whether positions are added."""

    table: jax.Array
    sinusoidal: bool = eqx.field(static=True)

    @classmethod
    def fresh(cls, key: jax.Array, words: int, width: int, positions: str) -> WordStream:
        return cls(truncated_normal(key, (words, width), width**-0.5), positions == "sinusoidal")

    def __call__(self, words: jax.Array, places: Places) -> jax.Array:
        """(T, L, d); of padding it is that of word 0, which nothing may look at."""
        width = self.table.shape[1]
        read = look_up(self.table, jnp.maximum(words, 0)) * width**0.5
        return read + sinusoidal(places, width) if self.sinusoidal else read


class WordLogits(eqx.Module):
    """Logits of the first words of a table, or of a kernel of their own."""

    norm: jax.Array
    kernel: jax.Array | None  # (d, V); None where the table of the words that are read serves
    words: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    @classmethod
    def fresh(cls, key: jax.Array, width: int, words: int, tied: bool, precision: str) -> WordLogits:
        return cls(jnp.ones(width), None if tied else lecun_normal(key, width, words), words, precision)

    def __call__(self, h: jax.Array, table: jax.Array) -> jax.Array:
        kernel = table[: self.words].T if self.kernel is None else self.kernel
        return rows_matmul(layer_norm(h, self.norm), kernel, self.precision)
