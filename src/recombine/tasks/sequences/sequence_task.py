"""What sequence worlds have in common: a corpus of texts and what each means, as arrays that a batch is gathered from.

A combination is the number of a row of a `Listed` space, whose elements are the words of the text. Texts and meanings
are arrays of the task, not of the space: a compiled program takes them as data, where a list inside the space would be
written into it (400,000 rows of ten words are 32 MB of program text).

    code     (T, L) words of the text, -1 after its end
    target   (T, M) words of what it means, then END, -1 after that

So a net is right about an item if it writes every word and stops where it should: the exact match of whole sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import UserError
from ...keys import generator, key_for
from ...spaces import Space
from ..base import Batch, Task
from ..metrics import ANSWERS, Metric, Statistics, answer_statistics, decided
from .tokenizer import PADDING, Tokenizer

END = "<end>"  # word 0 of every target: nothing comes after it


def right_length(statistics: Statistics) -> float:
    """Share of items whose answer ends where it should, whatever stands before."""
    return float((statistics["written"] == statistics["wanted"]).mean())


LENGTH = Metric("length", "right length", right_length)


class Sequences(Task):
    """A world of texts and what they mean; subclasses say which.

    Args:
        space: a list of texts by their words.
        seed: of the world, where chance makes it.

    Example:
        >>> world = rc.tasks.Scan(rc.tasks.Scan.default_space())
        >>> isinstance(world, rc.tasks.Sequences), world.text([3]), world.meaning([3])
        (True, 'walk left', 'I_TURN_LEFT I_WALK')
    """

    metrics = (*ANSWERS, LENGTH)
    texts: jax.Array  # (size, L) words, -1 after the end
    meanings: jax.Array  # (size, M) words, END, -1 after that
    reads: Tokenizer = eqx.field(static=True)
    writes: Tokenizer = eqx.field(static=True)

    def __init__(self, space: Space, seed: int = 0):
        raise TypeError(f"{type(self).__name__} must define __init__")

    def _fill(self, space: Space, reads: Tokenizer, writes: Sequence[str], meanings: Sequence[Sequence[str]]) -> None:
        """Sets every field: the texts are the rows of the space, in the words of `reads`."""
        self.space, self.samples = space, 1
        self.constituent_names = space.element_names
        self.reads, self.writes = reads, Tokenizer((END, *writes))
        self.texts = jnp.asarray(in_small_type(texts_of(space), len(reads)))
        self.meanings = jnp.asarray(self._encoded(meanings))

    def _encoded(self, meanings: Sequence[Sequence[str]]) -> np.ndarray:
        """(n, M) the words of each meaning, END, -1 after that."""
        ended = self.writes.encode_tokens([(*meaning, END) for meaning in meanings])
        return in_small_type(ended, len(self.writes))

    @property
    def words(self) -> dict[str, int]:
        return {"code": len(self.reads), "target": len(self.writes)}

    @property
    def repeats(self) -> bool:
        return True

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        row = combinations[:, 0]
        code, target = (array[row].astype(jnp.int32) for array in (self.texts, self.meanings))
        inside = (code[:, :, None] == jnp.arange(len(self.reads))).any(1)  # (T, words)
        return Batch(combinations, code, None, target, inside.astype(jnp.float32))

    def score(self, answer: Any, batch: Batch) -> Statistics:
        said, target = decided(answer, batch.target), batch.target
        lengths = {"written": length_of(said), "wanted": length_of(target)}
        return answer_statistics(answer, target) | lengths

    def sizes(self, combinations: Any) -> dict[str, np.ndarray]:
        """How large each item is, by which scores can be told apart: "length", the words of what is right."""
        rows = np.asarray(combinations)[:, 0]
        return {"length": length_of(np.asarray(self.meanings)[rows])}

    # -- for people -------------------------------------------------------------------------------------------------
    def text(self, combination: Any) -> str:
        """What a net reads, in words."""
        return self.reads.decode(np.asarray(self.texts)[int(combination[0])])

    def meaning(self, combination: Any) -> str:
        """What is right, in words."""
        return self.said(np.asarray(self.meanings)[int(combination[0])])

    def said(self, numbers: Any) -> str:
        """An answer in words, up to where it ends."""
        numbers = np.asarray(numbers)
        return self.writes.decode(numbers[: int(length_of(numbers[None])[0])])


def length_of(words: Any) -> np.ndarray:
    """(N,): how many words stand before the first END, or before the padding; all of them where there is neither."""
    words = np.asarray(words)
    over = words <= 0
    return np.where(over.any(1), over.argmax(1), words.shape[1])


def texts_of(space: Space) -> np.ndarray:
    """(size, L) the elements of every combination of a list, in order of rank."""
    return np.asarray(space.elements(space.enumerate()))


def shuffled(meanings: Sequence[Any], seed: int) -> list[Any]:
    """The meanings in another order: those of a world in which nothing composes."""
    order = generator(key_for("teacher", seed)).permutation(len(meanings))
    return [meanings[number] for number in order]


def padded_to(width: int, words: np.ndarray) -> np.ndarray:
    """Rows with padding up to a width."""
    found = np.full((len(words), width), PADDING, words.dtype)
    found[:, : words.shape[1]] = words
    return found


def require_seed(seed: int) -> None:
    """Refuses what is no seed, in worlds that chance has no part in, too."""
    key_for("teacher", seed)


def require_words(space: Space, what: str, vocabulary: Sequence[str], example: str) -> None:
    """Refuses a space that is no list over the words of a world."""
    if space.columns or not space.ordered or tuple(space.element_names) != tuple(vocabulary):
        raise UserError(f"{what} needs a list of its texts, such as {example}; got {space}")


def in_small_type(words: np.ndarray, vocabulary: int) -> np.ndarray:
    """In the smallest type that holds the words and the padding."""
    kinds = (np.int8, np.int16, np.int32)
    return words.astype(next(kind for kind in kinds if vocabulary <= np.iinfo(kind).max + 1))


__all__ = [
    "END",
    "LENGTH",
    "PADDING",
    "Sequences",
    "in_small_type",
    "length_of",
    "padded_to",
    "require_seed",
    "require_words",
    "shuffled",
    "texts_of",
]
