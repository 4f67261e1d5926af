"""Decoding: a net writes words one by one, each after those before it, in one compiled loop that stops when all ended.

`step(state, previous, place) -> (state, logits)` says what a net makes of one more word: `previous` (N,) is what was
written last, -1 before the first word, and `place` how many words there are. Leaves of the state begin with the axis of
the N rows. Word 0 ends a sequence; what comes after it is -1. Probabilities are those of the sequence up to its end, or
up to `longest` words; they are not divided by its length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

ENDS = 0  # the word that ends a sequence
NOTHING = -1  # what stands after it

State = Any
WriteStep = Callable[[State, jax.Array, jax.Array], tuple[State, jax.Array]]


class Written(NamedTuple):
    """Words (N, longest), and the nats (N,) of each sequence."""

    words: jax.Array
    nats: jax.Array


def greedy(step: WriteStep, state: State, rows: int, longest: int) -> Written:
    """At each place the most probable word."""

    def goes_on(carry: tuple) -> jax.Array:
        place, _, ended, *_ = carry
        return (place < longest) & ~ended.all()

    def write(carry: tuple) -> tuple:
        place, previous, ended, written, state = carry
        state, logits = step(state, previous, place)
        chosen = logits.argmax(-1).astype(jnp.int32)
        nats = jnp.where(ended, 0.0, jax.nn.log_softmax(logits).max(-1))
        words = written.words.at[:, place].set(jnp.where(ended, NOTHING, chosen))
        return place + 1, chosen, ended | (chosen == ENDS), Written(words, written.nats + nats), state

    nothing = Written(jnp.full((rows, longest), NOTHING, jnp.int32), jnp.zeros(rows))
    begin = (jnp.int32(0), jnp.full(rows, NOTHING, jnp.int32), jnp.zeros(rows, bool), nothing, state)
    return jax.lax.while_loop(goes_on, write, begin)[3]


def beam_search(step: WriteStep, state: State, rows: int, longest: int, width: int) -> Written:
    """The most probable of the `width` sequences that are kept at each place; the state is of rows x width.

    It can miss what `greedy` finds, where that falls out of the beam on the way; `decode` takes the better of both.
    It stops when the best sequence of every row has ended: those that go on can only become less probable.
    """

    def goes_on(carry: tuple) -> jax.Array:
        place, _, ended, *_ = carry
        return (place < longest) & ~ended[:, 0].all()  # beams stand in order of probability

    def write(carry: tuple) -> tuple:
        place, previous, ended, written, state = carry
        state, logits = step(state, previous.reshape(-1), place)
        nats = jax.nn.log_softmax(logits).reshape(rows, width, -1)
        only_end = jnp.where(jnp.arange(nats.shape[-1]) == ENDS, 0.0, -jnp.inf)
        total = written.nats[..., None] + jnp.where(ended[..., None], only_end, nats)
        best, which = jax.lax.top_k(total.reshape(rows, -1), width)
        parent, word = which // nats.shape[-1], (which % nats.shape[-1]).astype(jnp.int32)
        of_rows = (jnp.arange(rows)[:, None] * width + parent).reshape(-1)
        ended = jnp.take_along_axis(ended, parent, axis=1)
        words = jnp.take_along_axis(written.words, parent[..., None], axis=1)
        words = words.at[..., place].set(jnp.where(ended, NOTHING, word))
        state = jax.tree.map(lambda leaf: leaf[of_rows], state)
        return place + 1, word, ended | (word == ENDS), Written(words, best), state

    nats = jnp.where(jnp.arange(width) == 0, 0.0, -jnp.inf) * jnp.ones((rows, 1))
    nothing = Written(jnp.full((rows, width, longest), NOTHING, jnp.int32), nats)
    begin = (
        jnp.int32(0),
        jnp.full((rows, width), NOTHING, jnp.int32),
        jnp.zeros((rows, width), bool),
        nothing,
        state,
    )
    words, nats = jax.lax.while_loop(goes_on, write, begin)[3]
    return Written(words[:, 0], nats[:, 0])


def decode(step: WriteStep, begin: Callable[[int], State], rows: int, longest: int, beam: int) -> Written:
    """The words of `rows` sequences. `begin(times)` is the state before the first word, each row so many times."""
    plain = greedy(step, begin(1), rows, longest)
    if beam == 1:
        return plain
    found = beam_search(step, begin(beam), rows, longest, beam)
    better = found.nats > plain.nats
    return Written(jnp.where(better[:, None], found.words, plain.words), jnp.maximum(found.nats, plain.nats))
