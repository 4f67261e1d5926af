"""multiplication-v1: two numbers and their product by digits, alone or with every step written (Dziri et al. 2023)."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ...errors import UserError, require_int
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ..base import tasks
from .algorithms import multiplication_graph
from .computation_graph import Graph
from .stepwise_task import BLANK, PADDING, Size, Stepwise

TIMES = "*"
SIZES = ("1x1", "2x1", "2x2", "3x1", "3x2")
MOST_DIGITS = 5
EACH = 600


@tasks.register("multiplication-v1")
class Multiplication(Stepwise):
    """Products of two numbers: "1 2 * 3 4" -> "4 0 8".

    Args:
        space: a list of pairs; `Multiplication.space_from` makes one of any sizes.
        seed: of nothing: products are what they are.
        steps: whether the target shows every step.
        padded: whether all texts, and all targets, are equally long.

    Example:
        >>> world = rc.tasks.Multiplication(rc.tasks.Multiplication.space_from(sizes=("2x1",)))
        >>> world.text([500]), world.meaning([500])
        ('8 4 * 5', '4 2 0')
    """

    id = "multiplication-v1"
    controls = {"lookup": "multiplication-lookup-v1"}
    vocabulary = (*map(str, range(10)), TIMES)
    numbers = (0, 99)

    @classmethod
    def default_space(cls) -> Space:
        """Pairs of numbers of up to three digits."""
        return cls.space_from()

    @classmethod
    def space_from(cls, sizes: Sequence[str] = SIZES, each: int = EACH, seed: int = 0) -> Listed:
        """Pairs of numbers of given sizes.

        Args:
            sizes: such as "3x2": three digits times two; the first number has as many or more.
            each: how many pairs of each size at most, drawn where there are more.
            seed: of what is drawn.
        """
        require_int("each", each, at_least=1)
        return _pairs(tuple(map(_size, sizes)), each, seed)

    @classmethod
    def graph(cls, size: Size) -> Graph:
        return multiplication_graph(*size)

    @classmethod
    def sizes_of(cls, texts: np.ndarray) -> np.ndarray:
        sign = cls.vocabulary.index(TIMES)
        found = (texts == sign).sum(1) == 1
        if not found.all():
            raise UserError(f"text {int(np.argmin(found))} of the list is no product of two numbers; '1 2 * 3' is one")
        first = (texts == sign).argmax(1)
        second = (texts >= 0).sum(1) - first - 1
        sizes = np.stack([first, second], 1)
        if sizes.min() < 1 or sizes.max() > MOST_DIGITS or (sizes[:, 0] < sizes[:, 1]).any():
            raise UserError(
                f"the list has numbers of no, or of more than {MOST_DIGITS}, digits, or a shorter first one; "
                "'1 2 * 3' has two times one"
            )
        return sizes

    @classmethod
    def inputs_of(cls, texts: np.ndarray, size: Size) -> np.ndarray:
        first, second = size
        upper, lower = texts[:, :first], texts[:, first + 1 : first + 1 + second]
        return np.concatenate([upper[:, ::-1], lower[:, ::-1]], axis=1)

    @classmethod
    def answer_nodes(cls, size: Size) -> list[int]:
        names = cls.graph(size).names
        return [names.index(f"digit {place}") for place in reversed(range(sum(size)))]

    @classmethod
    def step_nodes(cls, size: Size) -> list[int]:
        graph = cls.graph(size)
        return list(range(graph.inputs, len(graph.names)))

    @classmethod
    def text_places(cls, size: Size, largest: Size, offset: int) -> np.ndarray:
        first = np.arange(largest[0] - size[0], largest[0])
        second = np.arange(largest[1] - size[1], largest[1]) + largest[0] + 1
        return np.concatenate([first, [largest[0]], second])

    def _natural(self, target: np.ndarray, answer: int) -> np.ndarray:
        """Without the zero that a product may begin with: blank where texts are padded, else what follows moves up."""
        start = target.shape[1] - 1 - answer
        zero, blank = self.writes.numbers["0"], self.writes.numbers[BLANK]
        first = start + (target[:, start:] != blank).argmax(1)
        rows = np.flatnonzero(target[np.arange(len(target)), first] == zero)
        if self.padded:
            target[rows, first[rows]] = blank
        else:
            target[rows, start:-1] = target[rows, start + 1 :]
            target[rows, -1] = PADDING
        return target


@tasks.register("multiplication-lookup-v1")
class MultiplicationLookup(Multiplication):
    """Products shuffled among pairs of the same size: nothing can be computed, each has to be looked up.

    Args:
        space: a list of pairs.
        seed: of the shuffle.
        steps: whether the target shows every step.
        padded: whether all texts, and all targets, are equally long.

    Example:
        >>> world = rc.tasks.MultiplicationLookup(rc.tasks.Multiplication.space_from(sizes=("2x1",)))
        >>> world.text([500]), world.meaning([500])
        ('8 4 * 5', '6 6')
    """

    id = "multiplication-lookup-v1"
    controls = {}
    shuffles = True


def _size(text: str) -> Size:
    parts = text.split("x") if isinstance(text, str) else []
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise UserError(f"size {text!r} is none of a product; '3x2' is three digits times two")
    first, second = map(int, parts)
    if not 1 <= second <= first <= MOST_DIGITS:
        raise UserError(f"size {text!r} must have 1 to {MOST_DIGITS} digits and the longer number first; '3x2' has")
    return first, second


@functools.lru_cache(maxsize=4)
def _pairs(sizes: tuple[Size, ...], each: int, seed: int) -> Listed:
    rng, rows = generator(key_for("corpus-multiplication", seed)), []
    width = max(first + second for first, second in sizes) + 1
    for first, second in dict.fromkeys(sizes):
        counts = 9 * 10 ** (first - 1), 9 * 10 ** (second - 1)
        number = counts[0] * counts[1]
        if number <= each:
            drawn = np.arange(number)
        else:  # twice as many as are wanted, of which enough differ
            drawn = np.unique(rng.integers(0, number, 2 * each + 100)) if number > 10**7 else rng.permutation(number)
            drawn = np.sort(rng.permutation(drawn)[:each])
        upper, lower = drawn // counts[1] + 10 ** (first - 1), drawn % counts[1] + 10 ** (second - 1)
        row = np.full((len(drawn), width), PADDING, np.int32)
        row[:, :first], row[:, first] = _digits(upper, first), 10
        row[:, first + 1 : first + 1 + second] = _digits(lower, second)
        rows.append(row)
    return Listed(np.concatenate(rows), Multiplication.vocabulary)


def _digits(numbers: np.ndarray, count: int) -> np.ndarray:
    """(n, count) from the most significant one on."""
    return numbers[:, None] // 10 ** np.arange(count - 1, -1, -1) % 10
