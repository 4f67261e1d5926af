"""What nets that write sequences have in common: how they are trained, asked and scored.

A code (T, L) of words is read, and a target (T, M) of words is written: word 0 ends it, -1 stands after that. Such a
net says two things, from which the rest follows:

    forced(code, target)             logits (T, M, V) of every word, given the words of the target before it; and trace
    begin(code), step(state, ...)    the same word by word, from what it has written itself (`layers/decoding.py`)

Since a word depends only on those before it, the most probable words of a forced pass are all right if and only if
greedy decoding is right: `evaluate(by="forced")` scores exact match by one pass. The trace of an answer is that of a
forced pass on the answer itself, so it shows every layer at every word and never the target.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import UserError, require_int
from ..tasks import Batch, Sequences, Task
from .base import Blueprint, Moment, Net, Step, Trace
from .layers.decoding import Written, decode
from .layers.length_groups import lengths_up_to, sum_in_groups
from .parts import Arrays, Parts, cut, join

AT_ONCE = 64  # sequences that are decoded together: what a decoder keeps of them fits a cache of the processor
MOST_BEAMS = 1000


@dataclass(frozen=True)
class Decoding:
    """How a net that writes sequences is asked.

    Args:
        beam: how many sequences are followed at once; 1 takes the most probable word at each place.

    Example:
        >>> rc.nets.Decoding(beam=4)
        Decoding(beam=4)
    """

    beam: int = 1

    def __post_init__(self):
        require_int("beam", self.beam, at_least=1, at_most=MOST_BEAMS)


class SequenceNet(Net):
    """A net that writes sequences: subclasses write `forced`, `begin`, `step` and `vocabulary`.

    Args:
        longest: words of an answer at most.
        precision: of products, "float32" or "bfloat16".

    Example:
        >>> world = rc.tasks.Scan(rc.tasks.scan_commands(sentences=1))
        >>> net = rc.nets.LSTM(width=8, depth=1).build(world, jax.random.key(0))
        >>> isinstance(net, rc.nets.SequenceNet), net.longest, net.vocabulary
        (True, 25, (13, 7))
    """

    How: ClassVar[type] = Decoding
    likelihood_is: ClassVar[str | None] = "exact"
    forced_tells_exact: ClassVar[bool] = True
    #: sequences that are trained at one length (`layers/length_groups.py`)
    group_rows: ClassVar[int] = 16
    longest: int = eqx.field(static=True)  # words of an answer
    precision: str = eqx.field(static=True)

    @abstractmethod
    def forced(self, code: jax.Array, target: jax.Array) -> tuple[jax.Array, Trace]:
        """Logits (T, M, V) of each word of the target, given those before it."""

    @abstractmethod
    def begin(self, code: jax.Array) -> Any:
        """The state before the first word; its leaves begin with the axis of the sequences."""

    @abstractmethod
    def step(self, state: Any, previous: jax.Array, place: jax.Array) -> tuple[Any, jax.Array]:
        """What one more word changes, and the logits (T, V) of the next."""

    @property
    @abstractmethod
    def vocabulary(self) -> tuple[int, int]:
        """How many words it reads, and how many it writes."""

    # -- the contract of nets ---------------------------------------------------------------------------------------
    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[jax.Array, Trace]:
        self._require_room(batch.target.shape[1])
        return self.forced(batch.code, batch.target)

    def losses(self, task: Task, batch: Batch, moment: Moment, memory: Any) -> Step:
        """The loss of the task; the usual one without the price of padding, on a CPU."""
        rows = self.group_rows if len(batch.code) % self.group_rows == 0 else len(batch.code)
        usual = type(task).loss is Task.loss and jax.default_backend() == "cpu"
        if not usual or len(lengths_up_to(batch.target.shape[1])) == 1:
            return super().losses(task, batch, moment, memory)
        self._require_room(batch.target.shape[1])
        parts = cut(self)

        def nats_of(trained: Arrays, code: jax.Array, target: jax.Array) -> jax.Array:
            net: Any = join(Parts(trained, parts.frozen, parts.static))
            return nats_of_words(net.forced(code, target)[0], target).sum()

        nats = sum_in_groups(nats_of, parts.trained, batch.code, batch.target, rows)
        return Step({"loss": -nats / jnp.maximum((batch.target >= 0).sum(), 1)}, {}, memory)

    def answer(self, batch: Batch, key: jax.Array | None = None, how: Any = None) -> tuple[jax.Array, Trace]:
        words = self.written(batch.code, (how or Decoding()).beam).words
        return words, self.forced(batch.code, words)[1]

    def written(self, code: jax.Array, beam: int = 1) -> Written:
        """What it writes about each code, and how probable that is."""

        def some(code: jax.Array) -> Written:
            def begin(times: int) -> Any:
                return self.begin(jnp.repeat(code, times, axis=0))

            return decode(self.step, begin, len(code), self.longest, beam)

        if len(code) <= AT_ONCE or len(code) % AT_ONCE:
            return some(code)
        # those that read about as much write about as much, and stop together
        order = jnp.argsort((code >= 0).sum(1))
        found = jax.lax.map(some, code[order].reshape(-1, AT_ONCE, code.shape[1]))
        back = jnp.argsort(order)
        return Written(*(part.reshape(len(code), *part.shape[2:])[back] for part in found))

    def likelihood(self, task: Task, batch: Batch, key: jax.Array, how: Any = None) -> jax.Array:
        return nats_of_words(self(batch)[0], batch.target).sum(-1)

    def _require_room(self, words: int) -> None:
        if words > self.longest:
            raise UserError(
                f"a target has {words} words, and the net writes {self.longest} at most; longest={words} would do"
            )


def nats_of_words(logits: jax.Array, target: jax.Array) -> jax.Array:
    """(T, M): log-probability of each word; 0 of what stands after the end."""
    right = jax.nn.one_hot(target, logits.shape[-1])  # all zeros where a place does not count
    return (right * jax.nn.log_softmax(logits)).sum(-1)


def require_sequences(blueprint: Blueprint, task: Task) -> Sequences:
    """The task, if its texts and targets are sequences that a net can read and write."""
    if not isinstance(task, Sequences):
        raise UserError(
            f"net {blueprint.name!r} reads and writes sequences of words, and {task.id} has none; scan-v1 has"
        )
    return task


def room_for(blueprint: Any, task: Sequences) -> int:
    """How many words a net writes at most: `longest`, or what the longest target of its task takes."""
    needed = task.shapes().target.shape[1]
    if blueprint.longest is not None and blueprint.longest < needed:
        raise UserError(
            f"longest={blueprint.longest} is too short for {task.id}, whose longest target with its end has {needed} "
            f"words; longest={needed} would do"
        )
    return blueprint.longest or needed


def require_longest(longest: int | None) -> None:
    if longest is not None:
        require_int("longest", longest, at_least=1, at_most=100_000)


def require_truth(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise UserError(f"{name}={value!r} must be True or False")


def sentence_starts(words: jax.Array, start: int) -> jax.Array:
    """(T, M) what a decoder reads to write `words`: a start, then all but the last; a start for padding, too."""
    first = jnp.full((len(words), 1), start, words.dtype)
    before = jnp.concatenate([first, words[:, :-1]], axis=1)
    return jnp.where(before < 0, start, before)
