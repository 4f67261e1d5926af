"""Evidence over seeds: errors at the threshold, decisions that stay, closed forms, and what is refused."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recombine as rc
from recombine.lab.boundaries import BOUNDARIES, LEVEL, LOOKS, simulated_boundaries, spent
from recombine.lab.sequential import (
    OUTCOMES,
    TRANSFORMS,
    boundaries_for,
    confidence_sequence,
    how_often,
    judged_together,
)
from recombine.lab.share_sequence import judged_share

PATHS = 40_000
SPREADS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "heavy tails": lambda rng, shape: rng.standard_t(3, shape),
}
readings = st.lists(st.floats(-1, 1), min_size=1, max_size=70)


# -- the table of boundaries ------------------------------------------------------------------------------------------
def test_the_first_boundary_is_the_quantile_of_student():
    assert BOUNDARIES[0] == pytest.approx(stats.t.ppf(1 - spent(3) / 2, 2), rel=0.005)


def test_a_coarse_simulation_gives_the_table():
    np.testing.assert_allclose(simulated_boundaries(200_000, seed=5), BOUNDARIES, rtol=0.03)


def test_spending_never_passes_the_level():
    assert [spent(n) for n in LOOKS] == sorted(spent(n) for n in LOOKS) and spent(10**9) <= LEVEL


# -- errors -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", SPREADS)
def test_at_the_threshold_each_side_errs_in_one_of_forty_runs_at_most(kind):
    y = SPREADS[kind](np.random.default_rng(1), (PATHS, LOOKS[-1]))
    low, high = confidence_sequence(y, floor=1e-9)
    three_sigma = 3 * math.sqrt(0.025 * 0.975 / PATHS)
    assert (low > 0).any(1).mean() <= 0.025 + three_sigma
    assert (high < 0).any(1).mean() <= 0.025 + three_sigma


def test_the_truth_is_inside_at_all_looks_together():
    y = np.random.default_rng(2).normal(0.3, 2.0, (PATHS, LOOKS[-1]))
    low, high = confidence_sequence(y, floor=1e-9)
    covered = ((low <= 0.3) & (high >= 0.3)).all(1).mean()
    assert covered == pytest.approx(1 - spent(LOOKS[-1]), abs=0.004)


@pytest.mark.parametrize("effect, seeds", [(1, 13), (1.5, 7.5), (2, 5.6), (3, 4.2), (5, 3.3)])
def test_seeds_to_a_decision(effect, seeds):
    y = np.random.default_rng(3).normal(effect, 1.0, (8_000, LOOKS[-1]))
    low, high = confidence_sequence(y, floor=1e-9)
    decided = (low > 0) | (high < 0)
    first = np.where(decided.any(1), np.array(LOOKS)[decided.argmax(1)], LOOKS[-1])
    assert first.mean() == pytest.approx(seeds, rel=0.06)


# -- decisions --------------------------------------------------------------------------------------------------------
@given(readings, st.floats(-1, 1))
def test_a_decided_claim_stays_decided_when_seeds_are_added(values, threshold):
    outcomes = [rc.verdict(values[:n], at_least=threshold).outcome for n in range(1, len(values) + 1)]
    decided = [outcome for outcome in outcomes if outcome != "open"]
    assert len(set(decided)) <= 1
    if decided:
        first = outcomes.index(decided[0])
        assert set(outcomes[first:]) == set(decided)


@given(readings, st.floats(-1, 1))
def test_only_looks_count(values, threshold):
    judged = rc.verdict(values, at_least=threshold)
    reached = [n for n in LOOKS if n <= len(values)]
    assert judged.n == (reached[-1] if reached else len(values))
    assert judged == rc.verdict(values[: judged.n], at_least=threshold)


@given(readings, st.floats(-1, 1))
def test_the_two_sides_mirror_each_other(values, threshold):
    here = rc.verdict(values, at_least=threshold)
    there = rc.verdict([-value for value in values], at_most=-threshold)
    assert (here.outcome, here.n, here.on_side) == (there.outcome, there.n, there.on_side)
    assert here.low == pytest.approx(-there.high) and here.e_value == pytest.approx(there.e_value)


@pytest.mark.parametrize("scale, values", [("log", [1.5, 1.7, 1.6, 1.9]), ("logit", [0.9, 0.85, 0.95, 0.9])])
def test_intervals_are_given_on_the_scale_of_the_readings(scale, values):
    judged = rc.verdict(values, at_least=0.5, scale=scale)
    assert judged.outcome == "supported" and judged.low < judged.mean < judged.high
    assert min(values) <= judged.mean <= max(values)


def test_a_mean_of_logs_is_a_geometric_mean():
    assert rc.verdict([1, 10, 100], at_least=1, scale="log").mean == pytest.approx(10)


def test_equal_seeds_do_not_decide_by_zero_width():
    assert rc.verdict([0.5, 0.5, 0.5], at_least=0.49).outcome == "open"
    assert rc.verdict([0.5, 0.5, 0.5], at_least=0.4).outcome == "supported"


def test_a_difference_within_the_margin_is_a_tie():
    values = [0.5, 0.501, 0.499, 0.5] * 4
    assert rc.verdict(values, at_least=0.5).outcome == "tie"
    assert rc.verdict(values, at_least=0.5, tie=0).outcome == "open"


def test_two_seeds_are_too_few():
    judged = rc.verdict([0.9, 0.9], at_least=0.1)
    assert judged.outcome == "open" and judged.n == 2 and "fewer than the 3" in str(judged)


def test_what_is_printed_says_verdict_interval_and_how_many_seeds():
    said = str(rc.verdict([0.31, 0.28, 0.33, 0.30], at_least=0.05))
    assert said.startswith("supported: 0.305 [") and said.endswith("over 4 seeds, at least 0.05 in 4 of 4")


# -- closed forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 3, 8, 22, 64])
def test_how_often_of_unanimous_seeds(n):
    low, high = how_often(n, n)
    assert high == 1 and low == pytest.approx((LEVEL / (n + 1)) ** (1 / n))
    assert how_often(0, n) == (0, pytest.approx(1 - low))


@given(st.integers(1, 64).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_how_often_contains_the_share_that_was_seen(pair):
    k, n = pair
    low, high = how_often(k, n)
    assert 0 <= low <= k / n <= high <= 1


# -- speed and bad input ----------------------------------------------------------------------------------------------
def test_ten_thousand_claims_of_64_seeds_are_judged_quickly():
    values = np.random.default_rng(6).normal(0.1, 1.0, (10_000, 64))
    began = time.process_time()
    outcomes, decided_at = judged_together(values, 0.0, 1.0)
    each = [rc.verdict(one, at_least=0.0) for one in values]
    assert time.process_time() - began < 2.0
    for row, one in enumerate(each):
        assert (OUTCOMES[outcomes[row]], decided_at[row]) == (one.outcome, one.decided_at)


def test_claims_that_are_judged_together_have_sides_thresholds_and_margins_of_their_own():
    values = np.random.default_rng(7).normal(0.3, 0.2, (40, 12))
    thresholds, signs = np.linspace(0, 0.6, 40), np.where(np.arange(40) % 2, 1.0, -1.0)
    outcomes, _ = judged_together(values, thresholds, signs, tie=0.1)
    for row, (threshold, sign) in enumerate(zip(thresholds, signs, strict=True)):
        bound = {"at_least" if sign > 0 else "at_most": threshold}
        assert OUTCOMES[outcomes[row]] == rc.verdict(values[row], tie=0.1, **bound).outcome
    assert len(set(outcomes.tolist())) >= 3


@pytest.mark.parametrize("m", [2, 7, 40])
def test_several_claims_share_the_level(m):
    """Boundaries of m claims: together they are crossed at most as often as those of one, look by look."""
    y = np.random.default_rng(8).standard_normal((PATHS, 24))
    low, high = confidence_sequence(y, floor=1e-9, m=m)
    assert ((low > 0) | (high < 0)).any(1).mean() <= spent(24) / m + 3 * math.sqrt(spent(24) / m / PATHS)
    assert boundaries_for(m)[0] == pytest.approx(stats.t.ppf(1 - spent(3) / 2 / m, 2))


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_at_its_threshold_a_share_is_decided_in_one_of_twenty_runs_at_most(share):
    drawn = np.random.default_rng(9).random((2_000, LOOKS[-1])) < share
    wrong = np.mean([judged_share(list(row), share).outcome != "open" for row in drawn])
    assert wrong <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 2_000)


@pytest.mark.parametrize("scale", TRANSFORMS)
def test_what_is_beyond_a_scale_is_named(scale):
    beyond = {"log": 0.0, "fisher": 1.5, "logit": -0.25}
    if scale in beyond:
        with pytest.raises(rc.UserError, match=f"{beyond[scale]:g} is not on the scale '{scale}'"):
            rc.verdict([0.5, beyond[scale], 0.5], at_least=0.5, scale=scale)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(values=[], at_least=1), ["[]", "one number per seed"]),
        (dict(values=["a", "b", "c"], at_least=1), ["'a'", "one number per seed"]),
        (dict(values=["1", "2", "3"], at_least=1), ["'1'", "one number per seed"]),
        (dict(values=[[1], [2, 3]], at_least=1), ["[2, 3]", "one number per seed"]),
        (dict(values={"a": 1}, at_least=1), ["'a'", "one number per seed"]),
        (dict(values=[1j, 2, 3], at_least=1), ["1j", "one number per seed"]),
        (dict(values=3.0, at_least=1), ["3.0", "one number per seed"]),
        (dict(values=[1.0, math.nan], at_least=1), ["reading 1", "not a number"]),
        (dict(values=[1.0, None], at_least=1), ["reading 1", "not a number"]),
        (dict(values=[1.0, math.inf], at_least=1), ["inf", "too large"]),
        (dict(values=[1e308, -1e308, 1e308], at_least=1), ["1e+308", "too large"]),
        (dict(values=[1.0], at_least="x"), ["at_least='x'", "not a number"]),
        (dict(values=[1.0], at_most=math.nan), ["at_most=nan", "identity"]),
        (dict(values=[0.5], at_least=1.5, scale="logit"), ["at_least=1.5", "0 to 1"]),
        (dict(values=[1.0], at_least=1, scale=[]), ["[]", "log"]),
        (dict(values=[1.0], at_least=1, tie=math.inf), ["tie=inf", "0 or more"]),
        (dict(values=[1.0], at_least=1, tie="x"), ["tie='x'", "margin"]),
        (dict(values=[1.0], at_least=1, floor=math.inf), ["floor=inf", "above 0"]),
        (dict(values=[1.0]), ["at_least", "at_most"]),
        (dict(values=[1.0], at_least=1, at_most=2), ["at_least=1", "at_most=2"]),
        (dict(values=[1.0], at_least=1, scale="lag"), ["'lag'", "log"]),
        (dict(values=[1.0], at_least=1, floor=0), ["floor=0", "above 0"]),
        (dict(values=[1.0], at_least=1, tie=-1), ["tie=-1", "0 or more"]),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(arguments, words):
    with pytest.raises(rc.UserError) as refusal:
        rc.verdict(**arguments)
    for word in words:
        assert word in str(refusal.value)
