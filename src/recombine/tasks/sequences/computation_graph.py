"""Computation graphs: what is computed from what, for many inputs at once, and how deep and how wide that is.

Nodes stand in an order in which parents come first; the inputs come before all. One graph serves all inputs of a size:
its values are an array (items, nodes). A scratchpad is these values in the order of the nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

INPUT = "input"
#: operation -> from the values of the parents (parents, items), the value
OPERATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "product": lambda parents: parents.prod(0),
    "sum": lambda parents: parents.sum(0),
    "residue": lambda parents: parents[0] % 10,
    "carry": lambda parents: parents[0] // 10,
    "largest": lambda parents: np.maximum(parents.max(0), 0),
    "equal": lambda parents: (parents[0] == parents[1]).astype(parents.dtype),
    "if not before": lambda parents: ((parents[0] > 0) & (parents[1:] < 1).all(0)).astype(parents.dtype),
    "name": lambda parents: 2 - (parents[0] > 0).astype(parents.dtype),  # 1: taken, 2: not
}


@dataclass(frozen=True)
class Graph:
    """A computation graph.

    Args:
        names: one per node.
        operations: what makes each node's value; "input" of those that are given.
        parents: the nodes that each is computed from, by number; all smaller than its own.

    Example:
        >>> from recombine.tasks.sequences.computation_graph import Graph
        >>> graph = Graph(("a", "b", "a+b"), ("input", "input", "sum"), ((), (), (0, 1)))
        >>> graph.compute(np.array([[2, 3]])).tolist(), graph.depth
        ([[2, 3, 5]], 2)
    """

    names: tuple[str, ...]
    operations: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    @cached_property
    def inputs(self) -> int:
        """How many nodes are given."""
        return self.operations.count(INPUT)

    def compute(self, given: np.ndarray) -> np.ndarray:
        """(items, nodes) the value of every node.

        Args:
            given: (items, inputs).
        """
        values = np.zeros((len(self.names), len(given)), np.int32)
        values[: self.inputs] = np.asarray(given).T
        for node in range(self.inputs, len(self.names)):
            values[node] = self.step(node, values)
        return values.T

    def step(self, node: int, values: np.ndarray) -> np.ndarray:
        """(items,) the value of one node from (nodes, items) values, right or wrong, of its parents."""
        return OPERATIONS[self.operations[node]](values[list(self.parents[node])])

    # -- size -----------------------------------------------------------------------------------------------------
    @cached_property
    def layers(self) -> tuple[int, ...]:
        """Of each node the longest path to it, in nodes: 1 for an input."""
        found: list[int] = []
        for parents in self.parents:
            found.append(1 + max((found[one] for one in parents), default=0))
        return tuple(found)

    @property
    def depth(self) -> int:
        """The largest layer."""
        return max(self.layers)

    @property
    def width(self) -> int:
        """The number of nodes at the most common distance (the shortest path) from an input."""
        near: list[int] = []
        for parents in self.parents:
            near.append(1 + min((near[one] for one in parents), default=0))
        return Counter(near).most_common(1)[0][1]

    @property
    def parallelism(self) -> float:
        """Nodes per layer, on average."""
        return len(self.names) / self.depth


class Builder:
    """Adds nodes one by one; `add` gives a node's number."""

    def __init__(self, inputs: Sequence[str]):
        self._names, self._operations = list(inputs), [INPUT] * len(inputs)
        self._parents: list[tuple[int, ...]] = [()] * len(inputs)

    def add(self, name: str, operation: str, *parents: int) -> int:
        """A node that is computed from others."""
        self._names.append(name)
        self._operations.append(operation)
        self._parents.append(parents)
        return len(self._names) - 1

    def graph(self) -> Graph:
        """What was built."""
        return Graph(tuple(self._names), tuple(self._operations), tuple(self._parents))
