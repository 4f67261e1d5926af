"""e-values: ratios of likelihoods, of which each side is an e-value; those of several cells; and what survives."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from recombine.lab.boundaries import LEVEL
from recombine.lab.claims import Claim, at_least, at_most
from recombine.lab.evidence import e_value, for_every, sides_of_mean, sides_of_share, survivors
from recombine.lab.study_table import StudyTable
from recombine.lab.verdicts import judge


def likelihood_ratio(t: float, n: int, low: float, high: float) -> float:
    """Of the t-statistic: noncentral t (noncentrality normal with variance 16 n, in this range) against central t."""

    def weighted(delta: float) -> float:
        return stats.nct.pdf(t, n - 1, delta) * stats.norm.pdf(delta, 0, 4 * math.sqrt(n))

    return integrate.quad(weighted, low, high, limit=400)[0] / stats.t.pdf(t, n - 1)


@pytest.mark.parametrize("n, t", [(4, 0.0), (4, 3.0), (12, 5.0), (6, -2.0)])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_e_value_is_a_ratio_of_marginal_likelihoods_and_so_is_each_side(n, t, sign):
    above, below = likelihood_ratio(t, n, 0, 60), likelihood_ratio(t, n, -60, 0)
    assert e_value(t / math.sqrt(n), 1.0, n, 0.0) == pytest.approx(above + below, rel=1e-3)
    expected = (above, below) if sign > 0 else (below, above)
    assert sides_of_mean(t / math.sqrt(n), 1.0, n, 0.0, sign) == pytest.approx(expected, rel=1e-3, abs=1e-6)


#: log_G_t of avinf 1.0.0 (PyPI), whose g is 1 / PRIOR; safestats' eGauss (R) is the same formula with g = PRIOR
OF_AVINF = [
    (3, 7.65, 11.78165238520058),
    (4, 5.3, 10.177738121892451),
    (4, 0.0, 0.12403473458920847),
    (6, -2.0, 0.57773713923757),
    (12, 5.0, 82.44694008460473),
    (24, 3.2, 4.172963660624523),
    (64, 3.4, 6.814619574060364),
]


@pytest.mark.parametrize("n, t, theirs", OF_AVINF)
def test_the_e_value_is_that_of_another_library(n, t, theirs):
    assert e_value(0.3 + 2 * t / math.sqrt(n), 2.0, n, 0.3) == pytest.approx(theirs, rel=1e-12)


def expected_side(n: int, effect: float, side: int) -> float:
    """The mean of a side's part where the true effect is this."""

    def weighted(t: float) -> float:
        return sides_of_mean(t / math.sqrt(n), 1.0, n, 0.0, 1)[side] * stats.nct.pdf(t, n - 1, effect * math.sqrt(n))

    edges = [-np.inf, -30, 0, 30, np.inf]
    return sum(integrate.quad(weighted, low, high, limit=400)[0] for low, high in zip(edges, edges[1:], strict=False))


@pytest.mark.parametrize("n", [3, 6, 24])
def test_twice_each_side_is_an_e_value_of_its_own(n):
    assert 2 * expected_side(n, 0.0, 0) == pytest.approx(1, rel=1e-3)
    assert 2 * expected_side(n, 0.0, 1) == pytest.approx(1, rel=1e-3)
    assert 2 * expected_side(n, -0.2, 0) < 0.9 and 2 * expected_side(n, 0.2, 1) < 0.9


@pytest.mark.parametrize("k, n, share", [(3, 4, 0.75), (22, 22, 0.75), (0, 6, 0.5)])
def test_the_e_value_of_a_share_is_a_ratio_of_likelihoods(k, n, share):
    on, _ = integrate.quad(lambda p: stats.binom.pmf(k, n, p), share, 1)
    off, _ = integrate.quad(lambda p: stats.binom.pmf(k, n, p), 0, share)
    one = stats.binom.pmf(k, n, share)
    assert sides_of_share(k, n, share) == pytest.approx((on / one, off / one))


@pytest.mark.parametrize("n, share", [(4, 0.75), (24, 0.75), (12, 0.3)])
def test_the_expected_e_value_of_a_share_is_one_on_each_side_by_what_lies_there(n, share):
    there = [(stats.binom.pmf(k, n, share), *sides_of_share(k, n, share)) for k in range(n + 1)]
    assert sum(p * on for p, on, _ in there) == pytest.approx(1 - share)
    assert sum(p * off for p, _, off in there) == pytest.approx(share)


def of_cells(drawn: np.ndarray, bound=at_least) -> float:
    """The e-value of a claim "for every" of readings (seeds, cells) against 0, as a study's verdict has it."""
    claim = Claim("c", lambda part: dict(enumerate(drawn[int(part.seed.iloc[0])].tolist())), bound(0.0), "c", "x", "d")
    table = StudyTable(pd.DataFrame({"seed": range(len(drawn)), "value": 0.0}), "r2")
    found = judge(claim, table, "laptop").e_value
    assert found is not None
    return found


#: means of the cells, in sd: the worst lies exactly at the threshold
BOUNDARY = {"alone": [0.0], "all": [0.0, 0.0, 0.0], "one of two": [0.0, 3.0], "one of five": [0.0, 0.5, 1.0, 4.0, 4.0]}


@pytest.mark.parametrize("means", BOUNDARY.values(), ids=BOUNDARY)
@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_where_the_worst_cell_lies_at_the_threshold_the_expected_e_value_is_one_at_most(means, shared):
    """By simulation, of seeds whose cells depend on each other or not; what is huge counts as 10^4."""
    rng, n, runs = np.random.default_rng(11), 6, 8_000
    common = rng.standard_normal((runs, n, 1))
    y = (
        np.array(means)
        + math.sqrt(shared) * common
        + math.sqrt(1 - shared) * rng.standard_normal((runs, n, len(means)))
    )
    means_, spreads = y.mean(1), y.std(1, ddof=1)
    found = np.array(
        [
            for_every([sides_of_mean(m, s, n, 0.0, 1.0) for m, s in zip(*row, strict=True)])
            for row in zip(means_, spreads, strict=True)
        ]
    )
    counted = np.minimum(found, 1e4)
    assert counted.mean() <= 1 + 3 * counted.std() / math.sqrt(runs)
    for level in (0.05, 0.01):  # and a large one is as rare as Markov says
        assert (found >= 1 / level).mean() <= level
    some = [of_cells(one) for one in y[:3]]  # it is what verdicts say
    np.testing.assert_allclose(some, found[:3], rtol=1e-9)
    mirrored = [of_cells(-one, at_most) for one in y[:3]]
    np.testing.assert_allclose(mirrored, some, rtol=1e-9)


def test_one_cell_far_off_is_evidence_of_refutation_and_all_cells_are_of_support():
    rng = np.random.default_rng(12)
    y = rng.standard_normal((8, 3))
    assert of_cells(y + 8) > 1_000 and of_cells(y - np.array([0, 0, 8])) > 1_000
    assert of_cells(y + np.array([8, 8, 0])) < 20  # two cells say nothing of the third


@given(st.lists(st.floats(0, 1e6), max_size=12))
def test_survivors_are_the_largest_set_that_e_bh_allows(values):
    m = len(values)
    ordered = sorted(values, reverse=True)
    most = max((k for k in range(1, m + 1) if ordered[k - 1] >= m / (LEVEL * k)), default=0)
    kept = survivors(values)
    assert sum(kept) == most
    assert all(one >= other for one, a in zip(values, kept) if a for other, b in zip(values, kept) if not b)
