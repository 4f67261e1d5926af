"""What it takes to decide an open claim: how many seeds, and with what chance."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seed_values import claim, table

from recombine.lab.boundaries import BOUNDARIES, LOOKS
from recombine.lab.verdicts import judge


@given(st.floats(0.05, 0.4), st.floats(0.05, 1.0))
@settings(deadline=None, max_examples=60)
def test_an_open_claim_says_how_many_seeds_would_decide_at_the_same_spread(distance, spread):
    """Three values with this mean and spread; at the look that is named the sequence just clears the threshold."""
    values = 0.5 + distance + spread * np.array([-1, 0, 1])
    verdict = judge(claim(tie=0), table(*values), "laptop")
    if verdict.outcome != "open":
        return
    half = {n: c * spread / math.sqrt(n) for n, c in zip(LOOKS, BOUNDARIES, strict=True)}
    named = re.search(r"spread (\d+) seeds would", verdict.would_decide)
    first = next((n for n in LOOKS if half[n] < distance), None)
    assert (int(named[1]) if named else None) == first


@pytest.mark.parametrize("effect, least, most", [(3.0, 0.9, 1.0), (0.0, 0.0, 0.25)])
def test_the_chance_of_a_decision_rises_with_looks_and_with_the_effect(effect, least, most):
    spread = np.array([-1.3, -0.9, -0.4, 0.0, 0.3, 0.6, 0.7, 1.0]) * 0.1
    verdict = judge(claim("at least", 0.0, tie=0), table(*(effect * 0.08 + spread - spread.mean())), "laptop")
    if verdict.outcome == "open":
        found = list(verdict.chances.values())
        assert found == sorted(found) and least <= found[-1] <= most
        assert (
            verdict.chances == judge(claim("at least", 0.0, tie=0), table(*verdict.values.values()), "laptop").chances
        )
    else:
        assert effect > 0


def test_the_chance_is_that_of_the_predictive_t():
    """With one more look to come the chance is that of a t quantile: two-sided, of the mean of all seeds."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.25, 1.0, 48)
    verdict = judge(claim("at least", 0.0, tie=0), table(*values), "laptop")
    assert verdict.outcome == "open" and list(verdict.chances) == [64]
    mean, spread, hits = values.mean(), values.std(ddof=1), 0
    for _ in range(20_000):
        sigma = spread * math.sqrt(47 / rng.chisquare(47))
        more = rng.normal(rng.normal(mean, sigma / math.sqrt(48)), sigma, 16)
        whole = np.concatenate([values, more])
        hits += abs(whole.mean()) > 3.414 * whole.std(ddof=1) / 8
    assert verdict.chances[64] == pytest.approx(hits / 20_000, abs=0.08)


def test_what_is_decided_needs_nothing_more():
    verdict = judge(claim(), table(0.9, 0.91, 0.92, 0.9), "laptop")
    assert verdict.would_decide == "" and not verdict.may_be_fed and verdict.chances == {}
