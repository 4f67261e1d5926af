"""seq2seq-transformer: an encoder reads the code, a decoder writes the target.

    encoder: h <- h + attention(norm(h)), each word of the code sees all;  h <- h + W_2 gelu(W_1 norm(h))
    decoder: the same, each word sees those before it, and between the two  h <- h + attention(norm(h), encoder)
    logits of the next word: W_o norm(h), or with `tied` the table of words itself

After Vaswani et al. 2017, with norms before each part. Sizes by default are those that learn SCAN in two minutes on one
core. Positions are sinusoidal, rotary or relative, in encoder and decoder; what a decoder reads of the encoder carries
its positions only in the stream.

Trace: "encoder/layer1" ... is the stream after each block of the encoder (T, L, d), "decoder/layer1" ... that at every
word of the answer (T, M, d), "output" the logits; zero where there is no word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..tasks import Task
from .base import Trace, nets
from .layers.attention import layer_norm
from .layers.grouped_attention import Memory, empty_memory
from .layers.sequence_block import Other, SequenceBlock
from .layers.word_stream import WordLogits, WordStream
from .sequence_net import SequenceNet, require_sequences, room_for, sentence_starts
from .sequence_transformer import SequenceTransformer


@nets.register("seq2seq-transformer")
@dataclass(frozen=True)
class Seq2SeqTransformer(SequenceTransformer):
    """Transformer with an encoder for the code and a decoder for the target.

    Args:
        width: numbers per word; a multiple of twice the heads.
        depth: blocks of the encoder, and of the decoder.
        heads: of attention.
        feedforward: hidden units of the feed-forward part.
        positions: "sinusoidal", "rotary" or "relative".
        key_heads: heads of keys and values, which the heads share in groups; None: as many as heads.
        tied: words are written by the table by which the decoder reads them.
        longest: words of an answer at most; None: those of the longest target.

    Example:
        >>> rc.nets.Seq2SeqTransformer(width=16, depth=1, heads=2, feedforward=32).layers()
        ('encoder/layer1', 'decoder/layer1', 'output')
    """

    name: ClassVar[str] = "seq2seq-transformer"

    def layers(self) -> tuple[str, ...]:
        blocks = (f"{part}/layer{i}" for part in ("encoder", "decoder") for i in range(1, self.depth + 1))
        return (*blocks, "output")

    def fresh(self, task: Task, key: jax.Array, precision: str) -> Seq2SeqTransformerNet:
        longest, words = room_for(self, require_sequences(self, task)), task.words
        keys = jax.random.split(key, 3 + 2 * self.depth)
        sizes = self.block_sizes(precision)
        blocks = [SequenceBlock.fresh(k, sizes, at >= self.depth) for at, k in enumerate(keys[3:])]
        return Seq2SeqTransformerNet(
            longest,
            precision,
            WordStream.fresh(keys[0], words["code"], self.width, self.positions),
            tuple(blocks[: self.depth]),
            jnp.ones(self.width),
            WordStream.fresh(keys[1], words["target"] + 1, self.width, self.positions),  # and the start
            tuple(blocks[self.depth :]),
            WordLogits.fresh(keys[2], self.width, words["target"], self.tied, precision),
        )


class Writing(NamedTuple):
    """What a decoder knows on the way: its own keys and values, and what it reads of the encoder, block by block."""

    own: tuple[Memory, ...]
    read: tuple[Other, ...]


class Seq2SeqTransformerNet(SequenceNet):
    """The weights of a `Seq2SeqTransformer`."""

    code_words: WordStream
    encoder: tuple[SequenceBlock, ...]
    encoder_norm: jax.Array
    target_words: WordStream
    decoder: tuple[SequenceBlock, ...]
    logits: WordLogits

    @property
    def vocabulary(self) -> tuple[int, int]:
        return len(self.code_words.table), self.logits.words

    def encode(self, code: jax.Array) -> tuple[jax.Array, Trace]:
        """(T, L, d) what the decoder reads."""
        places, there = np.arange(code.shape[1]), code >= 0
        h, trace = self.code_words(code, places), {}
        for number, block in enumerate(self.encoder, start=1):
            _, h = block(h, places, there[:, None])
            trace[f"encoder/layer{number}"] = h * there[..., None]
        return layer_norm(h, self.encoder_norm), trace

    def forced(self, code: jax.Array, target: jax.Array) -> tuple[jax.Array, Trace]:
        read, trace = self.encode(code)
        places, there = np.arange(target.shape[1]), (target >= 0)[..., None]
        h = self.target_words(sentence_starts(target, self.logits.words), places)
        before = jnp.asarray(np.tri(len(places), dtype=bool))[None]
        for number, block in enumerate(self.decoder, start=1):
            _, h = block(h, places, before, block.other_memory(read, code >= 0))
            trace[f"decoder/layer{number}"] = h * there
        logits = self.logits(h, self.target_words.table)
        return logits, trace | {"output": logits * there}

    def begin(self, code: jax.Array) -> Writing:
        read, size = self.encode(code)[0], len(self.encoder_norm) // self.decoder[0].own.heads
        own = [empty_memory(block.own, len(code), self.longest, size) for block in self.decoder]
        return Writing(tuple(own), tuple(block.other_memory(read, code >= 0) for block in self.decoder))

    def step(self, state: Writing, previous: jax.Array, place: jax.Array) -> tuple[Writing, jax.Array]:
        words = jnp.where(previous < 0, self.logits.words, previous)[:, None]
        places = jnp.broadcast_to(place, (len(words), 1))
        h, own = self.target_words(words, places), []
        seen = (jnp.arange(self.longest) <= place)[None, None]
        for block, cache, other in zip(self.decoder, state.own, state.read, strict=True):
            h, cache = block.step(h, places, cache, place, seen, other)
            own.append(cache)
        return Writing(tuple(own), state.read), self.logits(h, self.target_words.table)[:, 0]
