"""What worlds have in common in which an algorithm computes the answer: answer only or step by step, sizes, padding.

    text      the numbers that are given
    target    with steps: one word for each node of the computation graph, in order, and "="; the answer; END

All items of a size share a graph, so a node of it stands at one place of their targets, and thousands are computed at
once. With `padded=True` texts and targets are as long as those of the largest size, with "_" where there is nothing: a
net that fails at larger sizes then has not failed at longer texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import UserError
from ...keys import generator, key_for
from ...spaces import Space
from .computation_graph import Graph
from .sequence_task import END, Sequences, in_small_type, require_seed, require_words, texts_of
from .tokenizer import PADDING, Tokenizer

BLANK, EQUALS = "_", "="
NOTHING = -(10**6)  # the value of a word that is no number
Size = tuple[int, ...]


class Written(NamedTuple):
    """What answers of one size say of each node."""

    graph: Graph
    items: np.ndarray  # (n,) places in what was asked
    values: np.ndarray  # (n, nodes), inputs as given; NOTHING where no number stands


class Group(NamedTuple):
    """Items of one size that stand at one place."""

    size: Size
    offset: int
    rows: np.ndarray


class Stepwise(Sequences):
    """A world whose answers an algorithm computes; subclasses say which.

    Args:
        space: a list of texts.
        seed: of where padded items stand, and of the shuffle in a control world.
        steps: whether the target shows every step.
        padded: whether all texts, and all targets, are equally long.

    Example:
        >>> world = rc.tasks.DynamicProgram(rc.tasks.DynamicProgram.default_space(), steps=True)
        >>> isinstance(world, rc.tasks.Stepwise), world.text([2]), world.meaning([2])
        (True, '-3', '-3 0 0 0 = 2')
    """

    vocabulary: ClassVar[tuple[str, ...]]  # of texts
    numbers: ClassVar[tuple[int, int]]  # the least and the largest value of a node
    shuffles: ClassVar[bool] = False  # whether answers are those of other items of the size
    steps: bool = eqx.field(static=True)
    padded: bool = eqx.field(static=True)
    places: jax.Array  # (size,) where each item stands among the places that it could

    def __init__(self, space: Space, seed: int = 0, steps: bool = False, padded: bool = False):
        require_seed(seed)
        require_words(space, type(self).id, self.vocabulary, f"{type(self).__name__}.default_space()")
        self.steps, self.padded = bool(steps), bool(padded)
        low, high = self.numbers
        self.space, self.samples, self.reads = space, 1, Tokenizer((*self.vocabulary, BLANK))
        self.constituent_names = self.reads.vocabulary
        self.writes = Tokenizer((END, *map(str, range(low, high + 1)), EQUALS, BLANK))
        texts = texts_of(space)
        sizes = self.sizes_of(texts)
        largest = tuple(sizes.max(0).tolist())
        texts_of_groups, meant = [], []
        drawn = generator(key_for("teacher", seed)).integers(0, 2**31, len(texts))
        places = drawn % [self.room(tuple(size), largest) if padded else 1 for size in sizes.tolist()]
        self.places = jnp.asarray(places.astype(np.int8))
        for group in _groups(sizes, places):
            rows, given = texts[group.rows], self.inputs_of(texts[group.rows], group.size)
            if self.shuffles:
                given = given[generator(key_for("teacher", seed)).permutation(len(given))]
            values = self.graph(group.size).compute(given)
            texts_of_groups.append((group.rows, self._text(rows, group, largest)))
            meant.append((group.rows, self._target(values, group, largest)))
        self.texts = jnp.asarray(in_small_type(_together(texts_of_groups, len(texts)), len(self.reads)))
        self.meanings = jnp.asarray(in_small_type(_together(meant, len(texts)), len(self.writes)))

    # -- what a subclass says -------------------------------------------------------------------------------------
    @classmethod
    def graph(cls, size: Size) -> Graph:
        """The computation graph of a size."""
        raise TypeError(f"{cls.__name__} must define graph")

    @classmethod
    def sizes_of(cls, texts: np.ndarray) -> np.ndarray:
        """(n, numbers) the size of each text."""
        raise TypeError(f"{cls.__name__} must define sizes_of")

    @classmethod
    def inputs_of(cls, texts: np.ndarray, size: Size) -> np.ndarray:
        """(n, inputs) the values that texts of one size give."""
        raise TypeError(f"{cls.__name__} must define inputs_of")

    @classmethod
    def answer_nodes(cls, size: Size) -> list[int]:
        """The nodes whose values are the answer, in the order in which it is written."""
        raise TypeError(f"{cls.__name__} must define answer_nodes")

    @classmethod
    def step_nodes(cls, size: Size) -> list[int]:
        """The nodes that a scratchpad shows, in order."""
        raise TypeError(f"{cls.__name__} must define step_nodes")

    @classmethod
    def room(cls, size: Size, largest: Size) -> int:
        """How many places an item of this size can stand at among those of the largest."""
        return 1

    @classmethod
    def moved(cls, name: str, offset: int) -> str:
        """What a node is called in the graph of a larger size, if the item stands there."""
        return name

    @classmethod
    def text_places(cls, size: Size, largest: Size, offset: int) -> np.ndarray:
        """Where the words of a text stand in a padded one."""
        raise TypeError(f"{cls.__name__} must define text_places")

    # -- words ----------------------------------------------------------------------------------------------------
    def _largest(self) -> Size:
        return tuple(self.sizes_of(texts_of(self.space)).max(0).tolist())

    def _text(self, rows: np.ndarray, group: Group, largest: Size) -> np.ndarray:
        if not self.padded:
            return rows
        words = np.full((len(rows), self._padded_text(largest)), self.reads.numbers[BLANK], np.int32)
        places = self.text_places(group.size, largest, group.offset)
        words[:, places] = rows[:, : len(places)]
        return words

    def _padded_text(self, largest: Size) -> int:
        return int(self.text_places(largest, largest, 0).max()) + 1

    def _target(self, values: np.ndarray, group: Group, largest: Size) -> np.ndarray:
        """(n, M) the words of targets of one group, END, -1 after that."""
        words = values - self.numbers[0] + 1
        parts = []
        if self.steps:
            parts += [self._canvas(words, self.step_nodes, group, largest), self._column(EQUALS, len(words))]
        answer = self._canvas(words, self.answer_nodes, group, largest)
        parts += [answer, self._column(END, len(words))]
        return self._natural(np.concatenate(parts, axis=1), answer.shape[1])

    def _natural(self, target: np.ndarray, answer: int) -> np.ndarray:
        """Targets as they are read; a subclass may drop leading zeros of the last `answer` words before the end."""
        return target

    def _column(self, word: str, length: int) -> np.ndarray:
        return np.full((length, 1), self.writes.numbers[word], np.int32)

    def _canvas(self, words: np.ndarray, nodes_of: Any, group: Group, largest: Size) -> np.ndarray:
        nodes, places, width = self._places_of(nodes_of, group, largest)
        canvas = np.full((len(words), width), self.writes.numbers[BLANK], np.int32)
        canvas[:, places] = words[:, nodes]
        return canvas

    def _places_of(self, nodes_of: Any, group: Group, largest: Size) -> tuple[list[int], np.ndarray, int]:
        """Nodes of one part of a target, where each stands in it, and how long the part is."""
        nodes = nodes_of(group.size)
        if not self.padded:
            return nodes, np.arange(len(nodes)), len(nodes)
        small, large, order = self.graph(group.size), self.graph(largest), nodes_of(largest)
        place = {large.names[node]: at for at, node in enumerate(order)}
        places = np.array([place[self.moved(small.names[node], group.offset)] for node in nodes])
        return nodes, places, len(order)

    # -- reading answers ------------------------------------------------------------------------------------------
    def written(self, combinations: Any, answer: Any) -> list[Written]:
        """What answers say of each node of the computation, size by size; a world of answers only is refused.

        Args:
            combinations: (n, 1) of the items.
            answer: (n, words) their answers.
        """
        if not self.steps:
            raise UserError(f"{type(self).id} with steps=False shows no steps to read; steps=True does")
        ranks = np.asarray(combinations)[:, 0]
        texts, answer = texts_of(self.space)[ranks], np.asarray(answer)
        low, largest, found = self.numbers[0], self._largest(), []
        number = (answer >= 1) & (answer <= self.numbers[1] - low + 1)
        values = np.where(number, answer + low - 1, NOTHING)
        for group in _groups(self.sizes_of(texts), np.asarray(self.places)[ranks]):
            graph = self.graph(group.size)
            said = np.full((len(group.rows), len(graph.names)), NOTHING, np.int32)
            said[:, : graph.inputs] = self.inputs_of(texts[group.rows], group.size)
            steps, places, width = self._places_of(self.step_nodes, group, largest)
            self._read(said, values[group.rows], steps, places)
            nodes, places, _ = self._places_of(self.answer_nodes, group, largest)
            if not set(nodes) & set(steps):
                self._read(said, values[group.rows], nodes, places + width + 1)
            found.append(Written(graph, group.rows, said))
        return found

    @staticmethod
    def _read(said: np.ndarray, values: np.ndarray, nodes: Sequence[int], places: np.ndarray) -> None:
        there = places < values.shape[1]
        said[:, np.array(nodes)[there]] = values[:, places[there]]


def _groups(sizes: np.ndarray, places: np.ndarray) -> Iterator[Group]:
    """Items by size and by where they stand."""
    for *size, place in np.unique(np.column_stack([sizes, places]), axis=0).tolist():
        yield Group(tuple(size), place, np.flatnonzero((sizes == size).all(1) & (places == place)))


def _together(parts: Sequence[tuple[np.ndarray, np.ndarray]], number: int) -> np.ndarray:
    """Rows of several widths as one array, padded with -1."""
    found = np.full((number, max(words.shape[1] for _, words in parts)), PADDING, np.int32)
    for rows, words in parts:
        found[rows, : words.shape[1]] = words
    return found
