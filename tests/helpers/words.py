"""A world of words, and a net that is teacher-forced and decodes: what sequence families will be made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

import recombine as rc
from recombine.nets import Blueprint, Net
from recombine.tasks import ANSWERS, Batch, Task

LETTERS, LENGTH = 6, 4


class Words(Task):
    """Copy a word or reverse it: the combination is the operation and each letter."""

    id = "words"
    metrics = ANSWERS

    def __init__(self):
        self.space = rc.Product(operation=["copy", "reverse"], **{f"letter{i}": LETTERS for i in range(LENGTH)})
        self.constituent_names, self.samples = self.space.element_names, 1

    @property
    def words(self):
        return {"code": LETTERS + 2, "target": LETTERS}

    @property
    def repeats(self):
        return True

    def sample(self, key, combinations, samples=None):
        combinations = combinations.astype(jnp.int32)
        operation, letters = combinations[:, :1], combinations[:, 1:]
        code = jnp.concatenate([operation + LETTERS, letters], axis=1)
        target = jnp.where(operation == 0, letters, letters[:, ::-1])
        return Batch(combinations, code, None, target, self.space.multihot(combinations).astype(jnp.float32))


class EncoderDecoderNet(Net):
    """An embedded code, and a recurrent decoder that attends to it. Reads the target one letter late, or its own."""

    likelihood_is = "exact"
    embed: jax.Array  # (words, d)
    place: jax.Array  # (1 + length, d)
    start: jax.Array  # (d,)
    cell: eqx.nn.GRUCell
    query: eqx.nn.Linear
    output: eqx.nn.Linear

    def encode(self, code):
        return self.embed[code] + self.place

    def step(self, state, previous, encoded):
        """One letter: the state, what was written last (T, d), what was read (T, L, d) -> state, logits."""
        state = jax.vmap(self.cell)(previous, state)
        weights = jax.nn.softmax(jnp.einsum("td,tld->tl", jax.vmap(self.query)(state), encoded))
        seen = jnp.einsum("tl,tld->td", weights, encoded)
        return state, jax.vmap(self.output)(jnp.concatenate([state, seen], axis=-1))

    def __call__(self, batch, key=None):
        encoded = self.encode(batch.code)
        first = jnp.broadcast_to(self.start, (len(batch.code), 1, len(self.start)))
        shifted = jnp.concatenate([first, self.embed[batch.target[:, :-1]]], axis=1)
        body = lambda state, previous: self.step(state, previous, encoded)  # noqa: E731
        _, logits = jax.lax.scan(body, encoded.mean(1), jnp.moveaxis(shifted, 1, 0))
        logits = jnp.moveaxis(logits, 0, 1)
        return logits, {"output": logits}

    def answer(self, batch, key=None, how=None):
        encoded = self.encode(batch.code)

        def body(carry, _):
            state, logits = self.step(*carry, encoded)
            return (state, self.embed[logits.argmax(-1)]), logits

        start = jnp.broadcast_to(self.start, (len(batch.code), len(self.start)))
        _, logits = jax.lax.scan(body, (encoded.mean(1), start), None, length=LENGTH)
        logits = jnp.moveaxis(logits, 0, 1)
        return logits.argmax(-1), {"output": logits}

    def likelihood(self, task, batch, key, how=None):
        logits = jax.nn.log_softmax(self(batch)[0])
        return jnp.take_along_axis(logits, batch.target[..., None], axis=-1)[..., 0].sum(-1)


class PeekingNet(EncoderDecoderNet):
    """Gives the teacher-forced pass for an answer."""

    def answer(self, batch, key=None, how=None):
        logits, trace = self(batch, key)
        return logits.argmax(-1), trace


@dataclass(frozen=True)
class EncoderDecoder(Blueprint):
    name: ClassVar[str] = "encoder-decoder"
    width: int = 32
    peeks: bool = False

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        keys, d = jax.random.split(key, 6), self.width
        made = PeekingNet if self.peeks else EncoderDecoderNet
        return made(
            jax.random.normal(keys[0], (task.words["code"], d)),
            jax.random.normal(keys[1], (1 + LENGTH, d)),
            jax.random.normal(keys[2], (d,)),
            eqx.nn.GRUCell(d, d, key=keys[3]),
            eqx.nn.Linear(d, d, key=keys[4]),
            eqx.nn.Linear(2 * d, task.words["target"], key=keys[5]),
        )
