"""Answers without steps, place by place: how often each is right, and how much a few of the inputs say of it.

The relative information gain of a place is that of the pair of digits that says most of it, one of each number, by
enumeration of all pairs of numbers of the size; of a list, that of the number and its two neighbors, over all lists.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...statistics.information import relative_information_gain
from ...tasks import Multiplication, Stepwise, registry
from ...tasks.sequences.computation_graph import Graph
from ...tasks.sequences.sequence_task import length_of
from ...trials.measure import Row, row

if TYPE_CHECKING:
    from .asked_by_size import Asked

MOST = 200_000  # inputs of a size that are enumerated
Size = tuple[int, ...]


def digit_rows(task: Stepwise, asked: Sequence[Asked], step: int) -> list[Row]:
    """Accuracy by place of each size, and of trained sizes the gain of each place; places count from the end."""
    rows: list[Row] = []
    for one in asked:
        size = tuple(map(int, one.size.split("x")))
        right = places_right(task, one, len(task.answer_nodes(size)))
        gains = gains_of(task.id, size) if one.beyond <= 0 else None
        for place, share in enumerate(right.tolist()):
            found = row("score", f"place {place} of {one.size}", "accuracy", share, group="", step=step)
            rows.append(found | {"asked": False, "beyond": one.beyond, "size": one.size, "place": place})
            if gains is not None:
                found = row("gain", "held_out", "rig", gains[place], group=one.size, step=step)
                rows.append(found | {"beyond": one.beyond, "size": one.size, "place": place})
    return rows


def places_right(task: Stepwise, asked: Asked, places: int) -> np.ndarray:
    """(places,) how often the word at each place from the end is right; a number has zeros before its first digit."""
    target = np.asarray(task.meanings)[asked.ranks].astype(np.int32)
    zero = task.writes.numbers["0"]
    said, true = (_from_the_end(words, places, zero) for words in (asked.answers, target))
    return (said == true).mean(0)


def _from_the_end(words: np.ndarray, places: int, zero: int) -> np.ndarray:
    """(n, places) the last words before the end, the very last first."""
    at = length_of(words)[:, None] - 1 - np.arange(places)
    return np.where(at >= 0, np.take_along_axis(words, np.maximum(at, 0), 1), zero)


@functools.lru_cache(maxsize=16)
def gains_of(world: str, size: Size) -> tuple[float, ...] | None:
    """The relative information gain of each place from the end; None where there are too many inputs to enumerate."""
    made = cast(type[Stepwise], registry[world])
    graph = made.graph(size)
    given = _every_input(made, graph, size)
    if given is None:
        return None
    values = graph.compute(given)
    found = []
    for node in reversed(made.answer_nodes(size)):
        parts = _said_by(made, graph, node, size)
        gains = [relative_information_gain(values[:, node], given[:, list(part)]) for part in parts]
        found.append(max(gains))
    return tuple(found)


def _every_input(made: type[Stepwise], graph: Graph, size: Size) -> np.ndarray | None:
    """(cases, inputs) all inputs of a size; the first digit of a number is none but zero."""
    if issubclass(made, Multiplication):
        first = {size[0] - 1, graph.inputs - 1}
        ranges = [range(1 if place in first else 0, 10) for place in range(graph.inputs)]
    else:
        numbers = [int(word) for word in made.vocabulary]
        ranges = [range(min(numbers), max(numbers) + 1)] * graph.inputs
    if np.prod([float(len(one)) for one in ranges]) > MOST:
        return None
    return np.stack([one.ravel() for one in np.meshgrid(*ranges, indexing="ij")], 1)


def _said_by(made: type[Stepwise], graph: Graph, node: int, size: Size) -> list[tuple[int, ...]]:
    """Sets of inputs whose say in a node is looked at."""
    if issubclass(made, Multiplication):
        return list(itertools.product(range(size[0]), range(size[0], graph.inputs)))
    place = int(graph.names[node].rpartition(" ")[2])
    return [tuple(range(max(place - 1, 0), min(place + 2, graph.inputs)))]
