"""Answers with steps, node by node: labels by layer, rates of errors and recoveries, how often training showed what.

A node that was not written is neither right nor an error of any kind: it has a label of its own. As a step it counts as
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...statistics.compounding import step_rates
from ...supports import Support
from ...tasks import Stepwise
from ...tasks.sequences.computation_graph import Graph
from ...tasks.sequences.graph_tracing import CORRECT, LABELS, Seen, computations, node_labels, step_outcomes
from ...tasks.sequences.sequence_task import texts_of
from ...tasks.sequences.stepwise_task import NOTHING
from ...trials.measure import Row, row

if TYPE_CHECKING:
    from .asked_by_size import Asked

NOT_WRITTEN = "not written"
KINDS = (*LABELS, NOT_WRITTEN)
INPUT = "input"


class Traced(NamedTuple):
    """Answers of one size, node by node."""

    graph: Graph
    values: np.ndarray  # (n, nodes)
    truth: np.ndarray  # (n, nodes)
    labels: np.ndarray  # (n, nodes) as places in KINDS
    outputs: list[int]  # nodes that are the answer


def node_rows(task: Stepwise, support: Support, asked: Sequence[Asked], step: int) -> list[Row]:
    """All readings of nodes, size by size."""
    seen, rows = shown_in(task, support), []
    for one in asked:
        found = traced(task, one)
        own = [*_label_rows(found, step), *_rate_rows(found, step), *_frequency_rows(found, seen, step)]
        rows += [line | {"group": one.size, "beyond": one.beyond} for line in own]
    return rows


def traced(task: Stepwise, asked: Asked) -> Traced:
    """The nodes of the answers to texts of one size."""
    parts = task.written(asked.ranks[:, None], asked.answers)
    graph = parts[0].graph  # items of one size share it, wherever they stand
    values = np.empty((len(asked.ranks), len(graph.names)), np.int32)
    for part in parts:
        values[part.items] = part.values
    labels = node_labels(graph, values)
    labels[values == NOTHING] = KINDS.index(NOT_WRITTEN)
    size = tuple(map(int, asked.size.split("x")))
    return Traced(graph, values, graph.compute(values[:, : graph.inputs]), labels, task.answer_nodes(size))


def shown_in(task: Stepwise, support: Support) -> Seen:
    """How often training has shown each full computation."""
    texts = texts_of(support.space)[np.asarray(support.space.rank(support.train.combinations()))]
    sizes = task.sizes_of(texts)
    shown = []
    for size in np.unique(sizes, axis=0).tolist():
        graph = task.graph(tuple(size))
        given = task.inputs_of(texts[(sizes == size).all(1)], tuple(size))
        shown.append(computations(graph, graph.compute(given)))
    return Seen(shown)


# -- readings of one size ---------------------------------------------------------------------------------------------
def _label_rows(found: Traced, step: int) -> Iterator[Row]:
    """The share of each label by layer; inputs, which are always correct, are left out."""
    layers = np.array(found.graph.layers)
    for layer in range(2, found.graph.depth + 1):
        there = found.labels[:, layers == layer]
        for place, kind in enumerate(KINDS):
            share = float((there == place).mean())
            yield row("labels", "held_out", kind, share, layer=str(layer), step=step)


def _rate_rows(found: Traced, step: int) -> Iterator[Row]:
    """eps and c of the steps, chance recovery, and how answers go together with their steps."""
    graph, first = found.graph, found.graph.inputs
    right, whole = step_outcomes(graph, found.labels)
    rates = step_rates(right, whole)
    answer = (found.values == found.truth)[:, found.outputs].all(1)
    wrong_step = ~right.all(1)
    other = np.roll(found.truth, 1, axis=0)  # the truth of another text of the size
    read = {
        "eps": rates.eps,
        "c": rates.c,
        "steps": float(right.shape[1]),
        "all right": float(right.all(1).mean()),
        "answer right": float(answer.mean()),
        "right in spite of a step": _share(answer, wrong_step),
        "wrong step in right answer": _share(wrong_step, answer),
        "chance": _share((other == found.truth)[:, first:], ~whole),
    }
    for metric, value in read.items():
        yield row("rates", "held_out", metric, value, step=step)


def _frequency_rows(found: Traced, seen: Seen, step: int) -> Iterator[Row]:
    """How often training showed the full computations of right and of wrong nodes, by layer; and of what it never did.

    What is counted is the right computation, whatever was written: could it have been met in training?
    """
    times = seen.times(computations(found.graph, found.truth))
    layers, right = np.array(found.graph.layers), found.values == found.truth
    wrong = ~right & (found.labels != KINDS.index(NOT_WRITTEN))
    for layer in range(2, found.graph.depth + 1):
        for metric, which in (("right", right), ("wrong", wrong)):
            chosen = which & (layers == layer)
            yield row("frequency", "held_out", f"{metric} nodes", float(chosen.sum()), layer=str(layer), step=step)
            yield row("frequency", "held_out", metric, _share(times, chosen), layer=str(layer), step=step)
    computed = np.broadcast_to(layers > 1, times.shape)
    never = (times == 0) & computed
    yield row("unseen", "held_out", "share of steps", _share(never, computed), step=step)
    yield row("unseen", "held_out", "right if unseen", _share(right, never), step=step)
    yield row("unseen", "held_out", "right if seen", _share(right, computed & ~never), step=step)


def _share(values: Any, where: Any) -> float:
    """The mean of some values; NaN if there are none."""
    return float(values[where].mean()) if where.any() else float("nan")


# -- graphs to look at ------------------------------------------------------------------------------------------------
def shown_graphs(task: Stepwise, asked: Sequence[Asked], step: int) -> list[Row]:
    """The nodes of one answer of the largest trained size and of the two after it: the first with a wrong node."""
    rows: list[Row] = []
    for one in asked:
        if not 0 <= one.beyond <= 2:
            continue
        found = traced(task, one)
        at = int((found.labels != CORRECT).any(1).argmax())
        text = task.text([int(one.ranks[at])])
        names = found.graph.names
        for node, name in enumerate(names):
            written = found.values[at, node]
            label = INPUT if node < found.graph.inputs else KINDS[found.labels[at, node]]
            line = row("node", "held_out", label, float(found.truth[at, node]), group=one.size, step=step)
            rows.append(
                line
                | {"layer": str(found.graph.layers[node]), "beyond": one.beyond, "node": name, "text": text}
                | {"written": "" if written == NOTHING else str(written), "truth": str(found.truth[at, node])}
                | {"parents": ";".join(names[parent] for parent in found.graph.parents[node])}
            )
    return rows
