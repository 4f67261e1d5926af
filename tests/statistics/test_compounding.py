"""Bounds of accuracy over depth and width, against chains and parts whose errors are planted."""

from __future__ import annotations

import numpy as np
import pytest

from recombine import UserError
from recombine.statistics.compounding import accuracy_over_depth, accuracy_over_width, step_rates


def chain(eps, c, depth, items=200_000):
    """(depth, items) whether each step is right, if errors and recoveries are independent."""
    rng = np.random.default_rng(0)
    right, steps = np.ones(items, bool), []
    for _ in range(depth):
        right = np.where(right, rng.random(items) >= eps, rng.random(items) < c)
        steps.append(right)
    return np.array(steps)


@pytest.mark.parametrize("eps, c", [(0.1, 0.0), (0.1, 0.05), (0.02, 0.3)])
def test_a_chain_with_planted_errors_lies_on_the_bound_and_gives_its_rates_back(eps, c):
    steps = chain(eps, c, 12)
    assert steps.mean(1) == pytest.approx(accuracy_over_depth(np.arange(1, 13), eps, c), abs=0.005)
    before = np.concatenate([np.ones((1, steps.shape[1]), bool), steps[:-1]])
    rates = step_rates(steps, before)
    assert rates.eps == pytest.approx(eps, abs=0.002) and rates.c == pytest.approx(c, abs=0.005)
    assert rates.steps_right + rates.steps_wrong == steps.size


def test_depth_follows_the_recursion_and_tends_to_its_limit():
    eps, c = 0.07, 0.02
    accuracy = accuracy_over_depth(np.arange(1, 400), eps, c)
    assert accuracy[0] == pytest.approx(1 - eps)
    assert accuracy[1:] == pytest.approx((1 - eps - c) * accuracy[:-1] + c)
    assert accuracy[-1] == pytest.approx(c / (c + eps), abs=1e-6)
    assert accuracy_over_depth(np.array([1, 9]), 0, 0).tolist() == [1, 1]


def test_width_is_the_chance_that_all_parts_are_right_or_collide():
    rng = np.random.default_rng(0)
    parts = rng.random((200_000, 5)) >= 0.2
    whole = parts.all(1)
    assert whole.mean() == pytest.approx(float(accuracy_over_width(5, 0.2)), abs=0.005)
    collided = whole | (rng.random(len(whole)) < 0.1)
    assert collided.mean() == pytest.approx(float(accuracy_over_width(5, 0.2, 0.1)), abs=0.005)


def test_rates_that_no_step_shows_are_undefined_and_no_chances_are_refused():
    rates = step_rates(np.array([True]), np.array([True]))
    assert rates.eps == 0 and np.isnan(rates.c) and (rates.steps_right, rates.steps_wrong) == (1, 0)
    for call in (lambda: accuracy_over_depth(3, 1.2, 0), lambda: accuracy_over_width(3, 0.1, -0.1)):
        with pytest.raises(UserError, match="is no chance; it lies between 0 and 1, such as 0.1"):
            call()
