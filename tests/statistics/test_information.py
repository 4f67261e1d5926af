"""Relative information gain: the notes' figures by exact enumeration, and cases that one can see."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.statistics.information import relative_information_gain
from recombine.tasks.sequences.algorithms import program_graph


@pytest.fixture(scope="module", params=[2, 3])
def digits(request):
    """(kind, place) -> the digit, over all pairs of numbers of so many digits."""
    count = request.param
    numbers = np.arange(10 ** (count - 1), 10**count)
    first, second = (one.ravel() for one in np.meshgrid(numbers, numbers))
    values = {"x": first, "y": second, "xy": first * second}
    return count, lambda kind, place: values[kind] // 10**place % 10


def test_products_give_the_figures_of_the_notes(digits):
    count, digit = digits
    last = digit("xy", 0)
    assert relative_information_gain(last, digit("x", 0)) == pytest.approx(0.223, abs=0.0005)
    assert relative_information_gain(last, np.stack([digit("x", 0), digit("y", 0)], 1)) == pytest.approx(1, abs=1e-9)
    first, place = digit("xy", 2 * count - 1), count - 1
    expected = {2: 0.198, 3: 0.199}[count]
    assert relative_information_gain(first, digit("x", place)) == pytest.approx(expected, abs=0.0005)
    both = np.stack([digit("x", place), digit("y", place)], 1)
    assert relative_information_gain(first, both) == pytest.approx(0.79, abs=0.005)
    middle = digit("xy", count)
    for ends in (both, np.stack([digit("x", 0), digit("y", 0)], 1)):
        assert relative_information_gain(middle, ends) <= (0.11 if count == 2 else 0.001)


def test_choices_from_a_list_of_five_give_the_figures_of_the_notes():
    graph = program_graph(5)
    given = np.stack([one.ravel() for one in np.meshgrid(*[np.arange(-5, 6)] * 5, indexing="ij")], 1)
    values = graph.compute(given)
    for place, expected in enumerate((0.90, 0.92, 0.77, 0.88, 0.85)):
        near = given[:, max(place - 1, 0) : place + 2]
        gain = relative_information_gain(values[:, -5 + place], near)
        assert gain == pytest.approx(expected, abs=0.005)


def test_gains_of_what_says_all_nothing_and_of_what_is_certain():
    a, b = np.divmod(np.arange(36), 6)
    assert relative_information_gain(a, a * 7) == pytest.approx(1)
    assert relative_information_gain(a, b) == pytest.approx(0, abs=1e-12)
    assert relative_information_gain(a, np.zeros((36, 0), int)) == pytest.approx(0, abs=1e-12)
    assert np.isnan(relative_information_gain(np.ones(36, int), a))
