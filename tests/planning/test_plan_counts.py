"""Counts of the planner by hand: which size of subset lags behind, and how even a combination is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import recombine as rc
from recombine.planning import plan as planning
from recombine.supports.drawn_sides import rising

PLANNER = next(one for one in vars(planning).values() if hasattr(one, "_lagging_size"))


def test_the_size_that_lags_is_the_one_with_fewer_than_its_share():
    space = rc.Subsets(6, 2)  # 6 of one module, 15 of two
    pairs = space.from_sets([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]])
    assert PLANNER._lagging_size(SimpleNamespace(space=space, rows=pairs)) == 1
    ones = space.from_sets([[i] for i in range(6)])  # all there are
    assert PLANNER._lagging_size(SimpleNamespace(space=space, rows=ones)) == 2


def test_a_combination_is_as_even_as_its_pairs_and_not_its_elements():
    worth = np.array([[900.0, 1, 2], [1, 900, 4], [2, 4, 900]])
    assert PLANNER._evenness(None, np.array([0, 2, -1]), worth) == 2 + 2


def test_numbers_to_try_leave_out_none_where_they_are_small():
    assert list(rising(0, 12)) == list(range(1, 12))
    assert list(rising(80, 120)) == [90, 101, 113] and not list(rising(5, 6))
