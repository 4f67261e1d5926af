"""Logistic weights: the truth is found, intervals cover it, and degenerate answers have finite weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from recombine.statistics.logit_weights import STRENGTH, logit_weights


def items(weights: tuple[float, ...], number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(number, len(weights)))
    return 5 + 3 * z, rng.random(number) < 1 / (1 + np.exp(-0.3 - z @ np.array(weights)))


def test_weights_are_those_of_the_minimum():
    numbers, right = items((1.5, -0.5), 500, 0)
    z = (numbers - numbers.mean(0)) / numbers.std(0)

    def loss(w: np.ndarray) -> float:
        said = w[0] + z @ w[1:]
        return float((np.logaddexp(0, said) - right * said).sum() + 0.5 * STRENGTH * (w[1:] ** 2).sum())

    assert logit_weights(numbers, right).value == pytest.approx(minimize(loss, np.zeros(3)).x[1:], abs=1e-3)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    found = [logit_weights(*items((1.0, 0.0), 400, seed)) for seed in range(100)]
    for place, truth in enumerate((1.0, 0.0)):
        covered = [one.low[place] <= truth <= one.high[place] for one in found]
        assert 88 <= sum(covered) <= 100
    assert sum(one.low[0] > 0 for one in found) >= 95  # an effect of this size is seen
    assert sum(one.low[1] > 0 for one in found) <= 8  # one that is not there is not


@pytest.mark.parametrize("right", [np.ones(60, bool), np.zeros(60, bool), np.arange(60) >= 30])
def test_where_items_are_told_apart_without_error_or_all_alike_weights_are_finite(right):
    found = logit_weights(np.column_stack([np.arange(60.0), np.full(60, 7.0)]), right)
    assert np.isfinite([found.value, found.low, found.high]).all()
    assert found.value[1] == 0 and (found.value[0] > 2) == (len(set(right)) == 2)
    if right.all() or not right.any():
        assert found.low[0] < 0 < found.high[0]
