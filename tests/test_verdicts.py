"""Verdicts: decided by the interval over seeds, and by nothing else."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.intervals import over_seeds
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.lab.verdicts import Bound, Claim, Measurement, judge, measured


def claim(side="at least", threshold=0.5, reading=lambda t: t.value.mean()) -> Claim:
    return Claim("c", reading, Bound(side, threshold), "text", "control", "reads", "source")


def table(*values: float) -> StudyTable:
    return StudyTable(pd.DataFrame({"seed": range(len(values)), "value": values}), "r2")


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9))
@settings(deadline=None)
def test_interval_is_that_of_student(values):
    interval = over_seeds(values)
    if np.std(values) == 0:
        assert interval.low == interval.high == pytest.approx(values[0])
        return
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, np.mean(values), scipy.stats.sem(values))
    assert interval.low == pytest.approx(low, abs=1e-9) and interval.high == pytest.approx(high, abs=1e-9)


def test_interval_of_few_values():
    assert math.isnan(over_seeds([]).mean) and over_seeds([1.0]).low == -math.inf
    with pytest.raises(ValueError, match="NaN"):
        over_seeds([1.0, math.nan])


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=6), st.floats(-1, 1), st.sampled_from(["at least", "at most"])
)  # fmt: skip
@settings(deadline=None)
def test_outcome_follows_the_interval(values, threshold, side):
    verdict = judge(claim(side, threshold), table(*values), "smoke")
    low, high = verdict.interval.low, verdict.interval.high
    on_side = low >= threshold if side == "at least" else high <= threshold
    off_side = high < threshold if side == "at least" else low > threshold
    assert verdict.outcome == ("supported" if on_side else "refuted" if off_side else "undecided")
    assert verdict.scale == "smoke" and verdict.to_json()["seeds"] == len(values)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_seeds_is_undecided(n):
    verdict = judge(claim(), table(*[9.0] * n), "laptop")
    assert verdict.outcome == "undecided" and verdict.why


def test_an_unmet_precondition_is_undecided_and_said():
    def reading(part):
        if part.seed.iloc[0] == 1:
            raise PreconditionFailed("it was not learned")
        return 9.0

    verdict = judge(claim(reading=reading), table(1, 1, 1, 1, 1), "laptop")
    assert verdict.outcome == "undecided" and "not learned" in verdict.why and len(verdict.values) == 4


def test_an_undefined_reading_enters_no_mean():
    verdict = judge(claim(), table(9, 9, 9, math.nan), "laptop")
    assert verdict.outcome == "undecided" and "undefined" in verdict.why
    assert verdict.interval.mean == 9 and verdict.to_json()["value"] == 9


def test_an_infinite_reading_enters_no_mean():
    verdict = judge(claim(), table(9, 8, 9, math.inf), "laptop")
    assert verdict.outcome == "undecided" and verdict.why == "seed 3: the reading is infinite"
    interval, values = measured(Measurement("q", lambda t: t.value.mean(), "text", "reads"), table(1.0, -math.inf, 3.0))
    assert interval.mean == 2 and values == {0: 1, 2: 3}


def test_a_question_is_answered_without_a_threshold():
    interval, values = measured(Measurement("q", lambda t: t.value.mean(), "text", "reads"), table(1.0, 2.0, 3.0))
    assert interval.mean == 2 and values == {0: 1, 1: 2, 2: 3}


@given(st.floats(0.05, 0.4), st.floats(0.05, 1.0))
@settings(deadline=None, max_examples=60)
def test_an_undecided_claim_says_how_many_seeds_would_decide_at_the_same_spread(distance, spread):
    """Three values with this mean and spread; with the number that is named the interval just clears the threshold."""
    values = 0.5 + distance + spread * np.array([-1, 0, 1])
    verdict = judge(claim(), table(*values), "laptop")
    if verdict.outcome != "undecided":
        return
    named = re.search(r"about (\d+) seeds|spread (\d+) seeds would not", verdict.why)
    assert named, verdict.why

    def half(n: int) -> float:
        return scipy.stats.t.ppf(0.975, n - 1) * spread / math.sqrt(n)

    if named[1]:
        assert half(int(named[1])) < distance * (1 + 1e-6) and half(int(named[1]) - 1) > distance * (1 - 1e-6)
    else:
        assert half(int(named[2])) > distance * (1 - 1e-6)


@pytest.mark.parametrize("side", ["at least", "at most"])
@pytest.mark.parametrize("values", [(0.6, 0.62, 0.64), (0.3, 0.31, 0.35), (0.9, 0.9, 0.9)])
def test_what_would_change_a_verdict_does(side, values):
    verdict = judge(claim(side), table(*values), "laptop")
    assert verdict.outcome in ("supported", "refuted")
    found = re.fullmatch(
        r"undecided with one more seed below (\N{MINUS SIGN}?[\d.]+) or above (\N{MINUS SIGN}?[\d.]+)",
        verdict.would_change,
    )
    assert found
    low, high = (float(text.replace("\N{MINUS SIGN}", "-")) for text in found.groups())
    assert low < np.mean(values) < high
    for seed, outward in ((low, -1), (high, 1)):  # far off on either side the interval widens past the threshold
        for by, outcome in ((-0.01, verdict.outcome), (0.01, "undecided"), (5.0, "undecided")):
            assert judge(claim(side), table(*values, seed + outward * by), "laptop").outcome == outcome


def test_what_is_undecided_says_what_it_takes_instead():
    assert judge(claim(), table(0.4, 0.6, 0.5), "laptop").would_change == ""
