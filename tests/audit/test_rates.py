"""Rates: their closed-form intervals hold the truth for few and many, even and uneven combinations."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.audit.rates import clustered, rate, wilson

REPEATS = 400


def drawn(rng: np.random.Generator, combinations: int, alike: float, uneven: bool, p: float) -> tuple:
    n = np.ceil(rng.pareto(1.5, combinations) * 4 + 1) if uneven else rng.integers(5, 15, combinations)
    size = 1 / alike - 1 if alike else None
    rates = np.full(combinations, p) if size is None else rng.beta(p * size, (1 - p) * size, combinations)
    return rng.binomial(n.astype(int), rates).astype(float), n.astype(float)


@pytest.mark.parametrize("combinations", [3, 10, 30, 200])
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("uneven", [False, True])
def test_nineteen_of_twenty_intervals_hold_the_truth(combinations, alike, uneven):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(REPEATS):
        found = rate("it", *drawn(rng, combinations, alike, uneven, 0.3))
        inside.append(found.low <= 0.3 <= found.high)
    assert np.mean(inside) >= 0.93


def test_intervals_of_many_even_combinations_are_those_of_the_bootstrap():
    rng = np.random.default_rng(0)
    right, answers = drawn(rng, 300, 0.2, False, 0.3)
    low, high = clustered(right, answers)
    times = rng.multinomial(300, np.full(300, 1 / 300), 4000)
    ends = np.quantile((times @ right) / (times @ answers), [0.025, 0.975])
    assert [low, high] == pytest.approx(ends.tolist(), abs=0.006)


def test_where_all_agree_combinations_are_the_trials():
    found = rate("it", np.full(6, 4.0), np.full(6, 4.0))
    assert (found.low, found.high) == pytest.approx(wilson(6, 6))
    assert rate("it", np.zeros(0), np.zeros(0)).high == 1.0
    one = rate("it", np.array([3.0]), np.array([10.0]))
    assert one.low < 0.1 and one.high > 0.8  # ten answers about one thing
