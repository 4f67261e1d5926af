"""dynamic-program-v1: the largest sum of a list without two neighbours, by a dynamic program (Dziri et al. 2023).

3 2 -1 5   ->   1 2 2 1        1: taken, 2: not; the smallest such answer where several are as good
"""

from __future__ import annotations

import functools

import numpy as np

from ...errors import UserError, require_int
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ..base import tasks
from .algorithms import program_graph
from .computation_graph import Graph
from .sequence_task import END
from .stepwise_task import PADDING, Group, Size, Stepwise

FARTHEST = 5  # from zero, of a number in a list
LONGEST = 12


@tasks.register("dynamic-program-v1")
class DynamicProgram(Stepwise):
    """Which numbers of a list to take for the largest sum, no two neighbours: "3 2 -1 5" -> "1 2 2 1".

    Args:
        space: a list of lists; `DynamicProgram.space_from` makes one of any lengths.
        seed: of where padded lists stand.
        steps: whether the target shows every step.
        padded: whether all texts, and all targets, are equally long.

    Example:
        >>> world = rc.tasks.DynamicProgram(rc.tasks.DynamicProgram.space_from(exhaustive=2))
        >>> world.text([100]), world.meaning([100])
        ('3 -4', '1 2')
    """

    id = "dynamic-program-v1"
    controls = {"lookup": "dynamic-program-lookup-v1", "indifferent": "dynamic-program-indifferent-v1"}
    vocabulary = tuple(map(str, range(-FARTHEST, FARTHEST + 1)))
    numbers = (-FARTHEST, FARTHEST * (LONGEST + 1) // 2)

    @classmethod
    def default_space(cls) -> Space:
        """All lists of up to three numbers, and some of up to six."""
        return cls.space_from()

    @classmethod
    def space_from(cls, exhaustive: int = 3, longest: int = 6, each: int = 100, seed: int = 0) -> Listed:
        """All lists up to a length, and some of each length above.

        Args:
            exhaustive: all lists of up to so many numbers.
            longest: the length of the longest lists.
            each: how many of each length above `exhaustive`.
            seed: of which those are.
        """
        require_int("exhaustive", exhaustive, at_least=1, at_most=5)
        require_int("longest", longest, at_least=exhaustive, at_most=LONGEST)
        require_int("each", each, at_least=1, at_most=10_000)
        return _lists(exhaustive, longest, each, seed)

    @classmethod
    def graph(cls, size: Size) -> Graph:
        return program_graph(size[0])

    @classmethod
    def sizes_of(cls, texts: np.ndarray) -> np.ndarray:
        sizes = (texts >= 0).sum(1)[:, None]
        if sizes.max() > LONGEST:
            raise UserError(f"the list has a text of {sizes.max()} numbers; {LONGEST} is the most")
        return sizes

    @classmethod
    def inputs_of(cls, texts: np.ndarray, size: Size) -> np.ndarray:
        return texts[:, : size[0]] - FARTHEST

    @classmethod
    def answer_nodes(cls, size: Size) -> list[int]:
        names = cls.graph(size).names
        return [names.index(f"out {place}") for place in range(size[0])]

    @classmethod
    def step_nodes(cls, size: Size) -> list[int]:
        graph = cls.graph(size)
        return list(range(graph.inputs, len(graph.names) - size[0]))

    @classmethod
    def room(cls, size: Size, largest: Size) -> int:
        return largest[0] - size[0] + 1

    @classmethod
    def moved(cls, name: str, offset: int) -> str:
        kind, _, place = name.partition(" ")
        return f"{kind} {int(place) + offset}"

    @classmethod
    def text_places(cls, size: Size, largest: Size, offset: int) -> np.ndarray:
        return np.arange(size[0]) + offset


@tasks.register("dynamic-program-lookup-v1")
class DynamicProgramLookup(DynamicProgram):
    """Answers shuffled among lists of the same length: nothing can be computed, each has to be looked up.

    Args:
        space: a list of lists.
        seed: of the shuffle, and of where padded lists stand.
        steps: whether the target shows every step.
        padded: whether all texts, and all targets, are equally long.

    Example:
        >>> world = rc.tasks.DynamicProgramLookup(rc.tasks.DynamicProgram.space_from(exhaustive=2))
        >>> world.text([100]), world.meaning([100])
        ('3 -4', '2 1')
    """

    id = "dynamic-program-lookup-v1"
    controls = {}
    shuffles = True


@tasks.register("dynamic-program-indifferent-v1")
class DynamicProgramIndifferent(DynamicProgram):
    """One answer to all lists, "2": whoever answers one answers all, of whatever length.

    Args:
        space: a list of lists.
        seed: of where padded lists stand.
        steps: changes nothing: there are no steps to show.
        padded: whether all texts are equally long.

    Example:
        >>> world = rc.tasks.DynamicProgramIndifferent(rc.tasks.DynamicProgram.space_from(exhaustive=2))
        >>> {world.meaning([row]) for row in range(world.space.size)}
        {'2'}
    """

    id = "dynamic-program-indifferent-v1"
    controls = {}

    def _target(self, values: np.ndarray, group: Group, largest: Size) -> np.ndarray:
        return np.repeat([[self.writes.numbers["2"], self.writes.numbers[END]]], len(values), axis=0).astype(np.int32)


@functools.lru_cache(maxsize=4)
def _lists(exhaustive: int, longest: int, each: int, seed: int) -> Listed:
    rng, base, rows = generator(key_for("corpus-dynamic-program", seed)), 2 * FARTHEST + 1, []
    for length in range(1, longest + 1):
        if length <= exhaustive:
            numbers = np.arange(base**length)
        else:  # twice as many as are wanted, of which enough differ
            numbers = rng.permutation(np.unique(rng.integers(0, base**length, 2 * each + 100)))[:each]
        row = np.full((len(numbers), longest), PADDING, np.int32)
        row[:, :length] = numbers[:, None] // base ** np.arange(length - 1, -1, -1) % base
        rows.append(row)
    return Listed(np.concatenate(rows), DynamicProgram.vocabulary)
