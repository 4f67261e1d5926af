"""Graphs of computations: published sizes, labels of planted errors, how often training showed a computation."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.statistics.compounding import step_rates
from recombine.tasks import DynamicProgram
from recombine.tasks.sequences.algorithms import by_hand, multiplication_graph, program_graph
from recombine.tasks.sequences.computation_graph import Graph
from recombine.tasks.sequences.graph_tracing import (
    CORRECT,
    LABELS,
    LOCAL,
    PROPAGATION,
    RESTORATION,
    Seen,
    computations,
    node_labels,
    shares_by_layer,
    step_outcomes,
)

#: a + b, then times c, then its last digit
CHAIN = Graph(
    ("a", "b", "c", "a+b", "(a+b)c", "digit"),
    ("input", "input", "input", "sum", "product", "residue"),
    ((), (), (), (0, 1), (3, 2), (4,)),
)


# -- size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "digits, depth, nodes, parallelism",
    [(2, 6.7, 18.6, 2.75), (3, 8.4, 39.2, 4.65), (4, 10.2, 66.9, 6.54), (5, 11.9, 103.2, 8.70)],
)
def test_multiplication_by_hand_is_as_deep_and_as_wide_as_the_notes_say(digits, depth, nodes, parallelism):
    """Means over random pairs, as the notes' are: they agree to what chance allows."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(10 ** (digits - 1), 10**digits, (1_500, 2)).tolist()
    graphs = [by_hand(*pair) for pair in pairs]
    assert np.mean([graph.depth for graph in graphs]) == pytest.approx(depth, abs=0.1)
    assert np.mean([len(graph.names) for graph in graphs]) == pytest.approx(nodes, rel=0.01)
    assert np.mean([graph.parallelism for graph in graphs]) == pytest.approx(parallelism, rel=0.015)


def test_depth_width_and_parallelism_of_a_graph_that_one_can_count():
    assert CHAIN.layers == (1, 1, 1, 2, 3, 4) and CHAIN.depth == 4
    assert CHAIN.width == 3  # three inputs; "(a+b)c" is one step from c
    assert CHAIN.parallelism == 6 / 4


def test_deeper_programs_are_deeper():
    depths = [program_graph(numbers).depth for numbers in range(1, 8)]
    assert depths == sorted(depths) and depths[0] < depths[-1]
    assert multiplication_graph(3, 2).depth > multiplication_graph(2, 2).depth


# -- labels -------------------------------------------------------------------------------------------------------


def test_planted_errors_have_their_labels():
    written = np.array(
        [
            [1, 2, 4, 3, 12, 2],  # all right
            [1, 2, 4, 5, 20, 0],  # the sum is wrong, the rest follows from it
            [1, 2, 4, 5, 12, 2],  # the sum is wrong, and the product right all the same
            [1, 2, 4, 3, 13, 2],  # the product is wrong, the digit does not follow from it and is right
            [1, 2, 4, 5, 21, 9],  # the sum and what follows are each wrong by themselves
        ]
    )
    expected = [
        [CORRECT, CORRECT, CORRECT],
        [LOCAL, PROPAGATION, PROPAGATION],
        [LOCAL, RESTORATION, RESTORATION],
        [CORRECT, LOCAL, RESTORATION],
        [LOCAL, LOCAL, LOCAL],
    ]
    labels = node_labels(CHAIN, written)
    assert labels[:, 3:].tolist() == expected and (labels[:, :3] == CORRECT).all()


def test_rates_of_planted_errors_are_read_off_the_labels():
    """Each step goes wrong with eps, and comes out right after a wrong one with c: on a chain that adds one."""
    names = ("start", "one", *(f"step {place}" for place in range(12)))
    parents = ((), (), (0, 1), *((place, 1) for place in range(2, 13)))
    graph = Graph(names, ("input", "input", *["sum"] * 12), parents)
    rng, eps, c = np.random.default_rng(0), 0.1, 0.2
    written = graph.compute(np.tile([3, 1], (4_000, 1)))
    right = np.ones(len(written), bool)
    for node in range(2, 14):
        right = np.where(right, rng.random(len(right)) >= eps, rng.random(len(right)) < c)
        written[~right, node] = 99
    rates = step_rates(*step_outcomes(graph, node_labels(graph, written)))
    assert rates.eps == pytest.approx(eps, abs=0.005) and rates.c == pytest.approx(c, abs=0.01)
    assert rates.steps_right + rates.steps_wrong == 4_000 * 12


def test_shares_by_layer_add_up_and_are_those_of_the_labels():
    labels = np.array([[0, 0, 0, LOCAL, PROPAGATION, PROPAGATION], [0, 0, 0, 0, 0, LOCAL]])
    shares = shares_by_layer(CHAIN, labels)
    assert shares.shape == (4, len(LABELS)) and np.allclose(shares.sum(1), 1)
    assert shares[:, CORRECT].tolist() == [1, 0.5, 0.5, 0] and shares[3].tolist() == [0, 0.5, 0.5, 0]


# -- how often training has shown it ------------------------------------------------------------------------------


def full_computation(graph, values, node):
    """The node with all that it comes from, written out."""
    if not graph.parents[node]:
        return str(values[node])
    parts = ",".join(full_computation(graph, values, one) for one in graph.parents[node])
    return f"{graph.operations[node]}({parts})={values[node]}"


def test_times_are_those_of_counting_full_computations_as_text():
    rng, vocabulary = np.random.default_rng(1), len(DynamicProgram.vocabulary)
    shown = {size: rng.integers(0, vocabulary, (40, size)) - 5 for size in (1, 2, 3)}
    graphs = {size: program_graph(size) for size in (1, 2, 3, 4)}
    texts = [
        {full_computation(graphs[size], row, node) for node in range(len(row))}
        for size, given in shown.items()
        for row in graphs[size].compute(given).tolist()
    ]
    seen = Seen([computations(graphs[size], graphs[size].compute(given)) for size, given in shown.items()])
    asked = graphs[4].compute(rng.integers(-5, 6, (20, 4)))
    times = seen.times(computations(graphs[4], asked))
    expected = [
        [sum(full_computation(graphs[4], row, node) in text for text in texts) for node in range(len(row))]
        for row in asked.tolist()
    ]
    assert times.tolist() == expected
    assert times[:, -1].max() == 0 < times.max()  # a whole list of four was never shown
    assert (Seen([]).times(computations(graphs[4], asked)) == 0).all()
