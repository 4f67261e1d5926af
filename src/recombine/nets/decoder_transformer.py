"""decoder-transformer: one causal transformer reads the code and goes on with the target.

    [ code_1 ... code_n, start, target_1, ... ]        each word sees itself and those before it
    h <- h + attention(norm(h)),  h <- h + W_2 gelu(W_1 norm(h))        so often as it is deep
    logits of the next word: W_o norm(h), or with `tied` the table of words itself

Codes of unlike lengths are padded at their end, and the start has the place after the last word, as if there were no
padding. Words of codes and of targets have rows of their own in one table.

Trace: "layer1" ... is the stream after each block (T, L + M, d), at the words of the code and then, from the start on,
at those of the answer; "output" the logits (T, M, V); zero where there is no word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..tasks import Task
from .base import Trace, nets
from .layers.grouped_attention import Memory, empty_memory, kept
from .layers.sequence_block import SequenceBlock
from .layers.word_stream import WordLogits, WordStream
from .sequence_net import SequenceNet, require_sequences, room_for, sentence_starts
from .sequence_transformer import SequenceTransformer


@nets.register("decoder-transformer")
@dataclass(frozen=True)
class DecoderTransformer(SequenceTransformer):
    """Causal transformer that reads the code and goes on with the target.

    Args:
        width: numbers per word; a multiple of twice the heads.
        depth: blocks.
        heads: of attention.
        feedforward: hidden units of the feed-forward part.
        positions: "rotary", "sinusoidal" or "relative".
        key_heads: heads of keys and values, which the heads share in groups; None: as many as heads.
        tied: words are written by the table by which they are read.
        longest: words of an answer at most; None: those of the longest target.

    Example:
        >>> rc.nets.DecoderTransformer(width=16, depth=2, heads=2, feedforward=32).layers()
        ('layer1', 'layer2', 'output')
    """

    name: ClassVar[str] = "decoder-transformer"
    depth: int = 4
    positions: str = "rotary"

    def layers(self) -> tuple[str, ...]:
        return (*(f"layer{i}" for i in range(1, self.depth + 1)), "output")

    def fresh(self, task: Task, key: jax.Array, precision: str) -> DecoderTransformerNet:
        longest, words = room_for(self, require_sequences(self, task)), task.words
        table_key, logits_key, *block_keys = jax.random.split(key, 2 + self.depth)
        sizes = self.block_sizes(precision)
        return DecoderTransformerNet(
            longest,
            precision,
            # words of targets, the start, words of codes
            WordStream.fresh(table_key, words["target"] + 1 + words["code"], self.width, self.positions),
            tuple(SequenceBlock.fresh(k, sizes) for k in block_keys),
            WordLogits.fresh(logits_key, self.width, words["target"], self.tied, precision),
        )


class GoingOn(NamedTuple):
    """What is known on the way: keys and values of each block, which slots have a word, and how many the code has."""

    caches: tuple[Memory, ...]
    there: jax.Array  # (T, L + M)
    code_words: jax.Array  # (T,)


class DecoderTransformerNet(SequenceNet):
    """The weights of a `DecoderTransformer`."""

    words: WordStream
    blocks: tuple[SequenceBlock, ...]
    logits: WordLogits

    @property
    def vocabulary(self) -> tuple[int, int]:
        return len(self.words.table) - 1 - self.logits.words, self.logits.words

    @property
    def start(self) -> int:
        return self.logits.words

    def forced(self, code: jax.Array, target: jax.Array) -> tuple[jax.Array, Trace]:
        written = sentence_starts(target, self.start)
        words = jnp.concatenate([self._code_rows(code), written], axis=1)
        there = jnp.concatenate([code >= 0, target >= 0], axis=1)
        places = self._places(code, target.shape[1])
        seen = jnp.asarray(np.tri(words.shape[1], dtype=bool))[None] & self._not_padding(code, target.shape[1])[:, None]
        h, trace = self.words(words, places), {}
        for number, block in enumerate(self.blocks, start=1):
            _, h = block(h, places, seen)
            trace[f"layer{number}"] = h * there[..., None]
        logits = self.logits(h[:, code.shape[1] :], self.words.table)
        return logits, trace | {"output": logits * (target >= 0)[..., None]}

    def begin(self, code: jax.Array) -> GoingOn:
        """The caches hold the code; the start comes with the first step."""
        length, size = code.shape[1], self.words.table.shape[1] // self.blocks[0].own.heads
        places, there = self._places(code, 0), code >= 0
        seen = jnp.asarray(np.tri(length, dtype=bool))[None] & there[:, None]
        h, caches = self.words(self._code_rows(code), places), []
        for block in self.blocks:
            empty = empty_memory(block.own, len(code), length + self.longest, size)
            caches.append(kept(empty, block.keys_and_values(h, places), jnp.int32(0)))
            _, h = block(h, places, seen)
        return GoingOn(tuple(caches), self._not_padding(code, self.longest), there.sum(1))

    def step(self, state: GoingOn, previous: jax.Array, place: jax.Array) -> tuple[GoingOn, jax.Array]:
        words = jnp.where(previous < 0, self.start, previous)[:, None]
        places, slots = state.code_words[:, None] + place, state.there.shape[1]
        slot = slots - self.longest + place
        seen = (state.there & (jnp.arange(slots) <= slot))[:, None]
        h, caches = self.words(words, places), []
        for block, cache in zip(self.blocks, state.caches, strict=True):
            h, cache = block.step(h, places, cache, slot, seen, None)
            caches.append(cache)
        return GoingOn(tuple(caches), *state[1:]), self.logits(h, self.words.table)[:, 0]

    def _code_rows(self, code: jax.Array) -> jax.Array:
        """The rows of the table for words of a code; of padding the start, which nothing looks at."""
        return jnp.where(code < 0, self.start, code + self.start + 1)

    def _places(self, code: jax.Array, more: int) -> jax.Array:
        """(T, L + more): the code begins at 0, and what follows comes right after its last word."""
        length = code.shape[1]
        after = (code >= 0).sum(1, keepdims=True) + np.arange(more)
        return jnp.concatenate([jnp.broadcast_to(np.arange(length), (len(code), length)), after], axis=1)

    def _not_padding(self, code: jax.Array, more: int) -> jax.Array:
        return jnp.concatenate([code >= 0, jnp.ones((len(code), more), bool)], axis=1)
