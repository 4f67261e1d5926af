"""Where an answer that shows its steps goes wrong: each node of the graph against the truth and against its parents.

    correct        the value is right, and every parent is correct
    restoration    the value is right, though a parent is not correct
    propagation    the value is wrong, and is what follows from the parents as they were written
    local error    the value is wrong, and does not follow from them either

The full computation of a node is the node with all that it was computed from. How often training has shown it
says whether a net may have met it whole (Dziri et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...keys import name_to_int
from .computation_graph import Graph

LABELS = ("correct", "local error", "propagation", "restoration")
CORRECT, LOCAL, PROPAGATION, RESTORATION = range(len(LABELS))
_MIX = np.uint64(0x9E3779B97F4A7C15)


def node_labels(graph: Graph, written: np.ndarray) -> np.ndarray:
    """(items, nodes) the label of each node, as a place in `LABELS`; inputs are correct.

    Args:
        graph: of the items.
        written: (items, nodes) values as the answer has them; inputs as they were given. What it lacks is any other
            number than the right one.

    Example:
        >>> from recombine.tasks.sequences.graph_tracing import LABELS, node_labels
        >>> graph = Graph(("a", "b", "2a", "2a+b"), ("input", "input", "sum", "sum"), ((), (), (0, 0), (2, 1)))
        >>> [LABELS[one] for one in node_labels(graph, np.array([[2, 1, 5, 6]]))[0]]
        ['correct', 'correct', 'local error', 'propagation']
    """
    values = np.asarray(written, np.int32).T
    right = values == graph.compute(values[: graph.inputs].T).T
    labels = np.full(values.shape, CORRECT, np.int8)
    for node in range(graph.inputs, len(graph.names)):
        parents = list(graph.parents[node])
        whole = (labels[parents] == CORRECT).all(0)
        follows = graph.step(node, values) == values[node]
        wrong = np.where(follows, PROPAGATION, LOCAL)
        labels[node] = np.where(right[node], np.where(whole, CORRECT, RESTORATION), wrong)
    return labels.T


def step_outcomes(graph: Graph, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(items, computed nodes) whether each step came out right, and whether all values that it was computed from are.

    What `statistics/compounding.py` estimates the chances of errors and of recoveries from. A value that was restored
    is right: what follows it can go wrong as after any other.

    Args:
        graph: of the items.
        labels: (items, nodes).
    """
    right = np.isin(labels, (CORRECT, RESTORATION))
    nodes = range(graph.inputs, len(graph.names))
    whole = [right[:, list(graph.parents[node])].all(1) for node in nodes]
    return right[:, graph.inputs :], np.stack(whole, 1)


def shares_by_layer(graph: Graph, labels: np.ndarray) -> np.ndarray:
    """(depth, labels): of the nodes of each layer, the share with each label. NaN in layers without nodes.

    Args:
        graph: of the items.
        labels: (items, nodes).
    """
    layers = np.array(graph.layers)
    found = np.full((graph.depth, len(LABELS)), np.nan)
    for layer in range(1, graph.depth + 1):
        there = labels[:, layers == layer]
        if there.size:
            found[layer - 1] = [(there == label).mean() for label in range(len(LABELS))]
    return found


def computations(graph: Graph, values: np.ndarray) -> np.ndarray:
    """(items, nodes) 64 bits that say what the full computation of each node is: alike in graphs of any size.

    Args:
        graph: of the items.
        values: (items, nodes), right or as written.
    """
    values = np.asarray(values, np.int32).T
    found = np.zeros(values.shape, np.uint64)
    with np.errstate(over="ignore"):
        for node, (operation, parents) in enumerate(zip(graph.operations, graph.parents, strict=True)):
            name = np.uint64(name_to_int(operation))
            mixed = _mixed(values[node].astype(np.int64).astype(np.uint64) + name * _MIX)
            for parent in parents:
                mixed = _mixed(mixed * np.uint64(31) + found[parent])
            found[node] = mixed
    return found.T


class Seen:
    """How often training has shown each full computation: in how many of its items.

    Args:
        shown: (items, nodes) of each size, as `computations` gives them.

    Example:
        >>> from recombine.tasks.sequences.graph_tracing import Seen, computations
        >>> graph = Graph(("a", "b", "a+b"), ("input", "input", "sum"), ((), (), (0, 1)))
        >>> seen = Seen([computations(graph, graph.compute(np.array([[1, 2], [1, 3]])))])
        >>> seen.times(computations(graph, graph.compute(np.array([[1, 3], [5, 5]])))).tolist()
        [[2, 1, 1], [0, 0, 0]]
    """

    def __init__(self, shown: Sequence[np.ndarray]):
        each = []
        for one in shown:
            rising = np.sort(one, axis=1)
            new = np.ones(rising.shape, bool)
            new[:, 1:] = rising[:, 1:] != rising[:, :-1]  # once per item
            each.append(rising[new])
        everything = np.concatenate(each) if each else np.empty(0, np.uint64)
        self._known, self._times = np.unique(everything, return_counts=True)

    def times(self, asked: np.ndarray) -> np.ndarray:
        """(items, nodes) in how many items of training the full computation of each node stands."""
        if not len(self._known):
            return np.zeros(asked.shape, np.int64)
        at = np.minimum(np.searchsorted(self._known, asked), len(self._known) - 1)
        return np.where(self._known[at] == asked, self._times[at], 0)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits, each bit of which depends on all bits of what was given (splitmix64)."""
    numbers = (numbers + _MIX) & np.uint64(0xFFFFFFFFFFFFFFFF)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
