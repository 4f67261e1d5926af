"""The forecast: effects against their closed forms, leave-one-out against leaving one out, answers folded in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, betabinom

from recombine.audit import logistic
from recombine.audit.coverage_rules import Trained
from recombine.audit.effects import NAMES, fit_effects
from recombine.audit.findings import RULES
from recombine.audit.patterns import Answered
from recombine.audit.planted_worlds import world
from recombine.audit.risk_forecast import beta_of, left_out, mixed, moments, own_spread, shared, surprise
from recombine.audit.scorecard import examine, score
from recombine.audit.seen import Seen
from recombine.spaces import Product


def table_of(seed: int = 0, answers: int = 30, spread: float = 1.0) -> tuple[Answered, Trained, np.ndarray]:
    """Six by six combinations whose levels add up, all trained; and the true rates."""
    rng = np.random.default_rng(seed)
    space = Product(a=6, b=6)
    rows = space.enumerate().astype(np.int64)
    effects = rng.normal(0, spread, (2, 6))
    truth = expit(-1 + effects[0][rows[:, 0]] + effects[1][rows[:, 1]])
    n = np.full(36, float(answers))
    table = Answered(
        rows, (6, 6), n, rng.binomial(answers, truth).astype(float), n > 0, np.zeros((36, len(RULES)), bool)
    )
    return table, Trained(Seen(space, rows.astype(space.dtype))), truth


def test_effects_are_the_maximum_of_their_posterior():
    table, trained, _ = table_of()
    dense = np.ones((36, 1))
    found = fit_effects(table, trained, dense, ["base"], pairs=False)
    x = np.column_stack([dense, np.eye(6)[table.codes[:, 0]], np.eye(6)[table.codes[:, 1]]])
    d = 1 + (table.answers - 1) * found.rho
    prior = found.variance[found.columns.group]

    def loss(b: np.ndarray) -> float:
        eta = x @ b
        return float(
            ((table.answers * np.logaddexp(0, eta) - table.wrong * eta) / d).sum() + 0.5 * (b**2 / prior).sum()
        )

    best = loss(found.b)
    for column in range(x.shape[1]):
        for step in (-0.05, 0.05):
            moved = found.b.copy()
            moved[column] += step
            assert loss(moved) > best - 1e-3
    eta, v = found.moments(table.codes, dense)
    np.testing.assert_allclose(eta, x @ found.b)
    np.testing.assert_allclose(v, np.einsum("ij,jk,ik->i", x, found.covariance, x))


def test_groups_are_as_wide_as_the_answers_say():
    variance = [
        fit_effects(*table_of(answers=200, spread=spread)[:2], np.ones((36, 1)), ["base"], pairs=False).variance
        for spread in (0.05, 1.5)
    ]
    levels = NAMES.index("levels")
    assert variance[0][levels] < 0.1 and 0.7 < variance[1][levels] < 5


def test_a_level_that_nobody_answered_about_adds_its_prior_variance():
    table, trained, _ = table_of()
    part = np.flatnonzero(table.codes[:, 0] > 0)
    few = Answered(*(one[part] if isinstance(one, np.ndarray) else one for one in vars(table).values()))
    found = fit_effects(few, trained, np.ones((30, 1)), ["base"], pairs=False)
    _, v = found.moments(np.array([[0, 1]]), np.ones((1, 1)))
    _, base = found.moments(np.array([[1, 1]]), np.ones((1, 1)))
    assert v[0] > base[0] and v[0] > found.variance[NAMES.index("levels")]


def test_leaving_one_out_by_approximation_is_leaving_it_out():
    table, trained, _ = table_of(answers=12)
    whole = fit_effects(table, trained, np.ones((36, 1)), ["base"], pairs=False)
    eta, v = left_out(whole, table)
    for i in range(0, 36, 5):
        rest = np.arange(36) != i
        part = Answered(*(one[rest] if isinstance(one, np.ndarray) else one for one in vars(table).values()))
        there = fit_effects(part, trained, np.ones((35, 1)), ["base"], pairs=False)
        exact, spread = there.moments(table.codes[i : i + 1], np.ones((1, 1)))
        assert eta[i] == pytest.approx(exact[0], abs=0.25) and v[i] == pytest.approx(spread[0], rel=0.5)


def test_moments_are_those_of_a_logistic_normal_and_mixtures_add_up():
    rng = np.random.default_rng(0)
    for eta, v in ((-2.0, 0.1), (0.5, 2.0)):
        drawn = expit(rng.normal(eta, np.sqrt(v), 400_000))
        mean, variance = moments(np.array([eta]), np.array([v]))
        assert mean[0] == pytest.approx(drawn.mean(), abs=2e-3)
        assert variance[0] == pytest.approx(drawn.var(), abs=2e-3)
    mean, variance = mixed(
        np.array([0.25, 0.75]), [(np.array([0.0]), np.array([0.1])), (np.array([1.0]), np.array([0.2]))]
    )
    assert mean[0] == 0.75 and variance[0] == pytest.approx(0.25 * 0.1 + 0.75 * 0.2 + 0.25 * 0.75)


def test_a_rate_of_its_own_is_a_beta_and_its_answers_beta_binomial():
    a, b = beta_of(np.array([0.2]), np.array([0.001]), 0.3)
    own = beta(a[0], b[0])
    assert own.mean() == pytest.approx(0.2) and own.var() == pytest.approx(0.001 + 0.3 * (0.16 - 0.001))
    table, _, _ = table_of()
    said = surprise(table, np.full(36, 0.2), np.full(36, 0.001), 0.3)
    exact = betabinom(30, a[0], b[0])
    expected = exact.logpmf(table.wrong) - betabinom(30, 1, 1).logpmf(table.wrong)  # less the coefficient, and 1 / 31
    ours = said - surprise(table, np.full(36, 0.5), np.full(36, 1 / 12), 0.0)
    np.testing.assert_allclose(ours, expected, atol=1e-8)


@pytest.mark.parametrize("own", [0.0, 0.4])
def test_the_spread_of_own_rates_is_found(own):
    rng = np.random.default_rng(0)
    n = np.full(2000, 20.0)
    p = rng.beta(0.3 * (1 / own - 1), 0.7 * (1 / own - 1), 2000) if own else np.full(2000, 0.3)
    table = Answered(
        np.zeros((2000, 1), int), (1,), n, rng.binomial(20, p).astype(float), np.arange(2000) % 2 > 0, n[:, None] > 99
    )
    found = own_spread(table, np.full(2000, 0.3), np.full(2000, 1e-6))
    assert found == pytest.approx([own, own], abs=0.08)


def test_the_model_that_foretells_best_gets_the_weight_and_a_larger_one_has_to_earn_it():
    table, _, truth = table_of(answers=200)
    right, rate = (truth, np.full(36, 1e-4)), (np.full(36, truth.mean()), np.full(36, 1e-4))
    assert shared(table, [rate, rate, right, right])[2:].sum() > 0.99
    alike = shared(table, [right] * 4)
    assert (np.diff(alike) < 0).all() and alike[0] > 0.5


@pytest.mark.parametrize(("kind", "most"), [("level", 0.2), ("binder", 0.25), ("memorizer", 0.2), ("pair-many", 0.2)])
def test_risks_are_close_to_the_truth_and_ranked(kind, most):
    found = score(made := world(kind, 2, combinations=2000), examine(made))
    assert (
        found["rmse_ratio"] < most
        and found["auroc_unanswered"] > 0.95
        and found["wrong_holds"] <= 0.01 * len(made.rows)
    )


def test_own_answers_are_folded_in():
    """In a lottery nothing but its own answers tells anything of a combination."""
    made = world("lottery", 4, combinations=1000)
    said = examine(made)
    several = made.answers > 20
    own = np.corrcoef(said.risk[several], made.truth[several])[0, 1]
    assert own > 0.9 and np.ptp(said.risk[made.answers == 0]) < 0.5 * np.ptp(made.truth)
    blind = examine(replace(made, wrong=np.random.default_rng(0).permutation(made.wrong).clip(0, made.answers)))
    assert logistic.auroc(blind.risk, (made.truth > 0.3).astype(float)) < 0.75
