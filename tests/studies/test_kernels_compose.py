"""kernels-compose: exact kernels against closed forms, the problems themselves, and nets that are trained on them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from recombine import Recipe, UserError
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.lippl2025 import kernels_compose_readings as read
from recombine.studies.lippl2025 import overlap_kernels as kernels
from recombine.studies.lippl2025.symbol_nets import ScaledMLP, Symbols, learn, tangent_salience
from recombine.studies.lippl2025.symbolic_problems import addition, context, equivalence

STUDY = registry["kernels-compose"]
QUICK = Recipe(steps=400, tasks=32, learning_rate=5e-3, weight_decay=0.0, precision="float32", evaluations=0)


@pytest.mark.parametrize("known", [1, 2, 3, 4])
@pytest.mark.parametrize("salience", [0.1, 0.3, 0.49])
def test_the_leak_of_an_exact_fit_is_that_of_the_formula(known, salience):
    kappa = np.array([0.0, salience, 1.0])  # kappa_1 - kappa_0 is the salience of one component
    assert kernels.saliences(kappa) == pytest.approx([salience, 1 - 2 * salience])
    problem = addition(known)
    said = kernels.least_squares(problem, kernels.by_overlap(problem, kappa))
    assert kernels.slope(problem, said) == pytest.approx(kernels.leak_slope(salience, known), abs=1e-4)
    assert said[problem.trained] == pytest.approx(problem.target[problem.trained], abs=1e-4)


def test_a_kernel_of_single_components_alone_does_not_leak():
    assert kernels.leak_slope(0.5, 1) == pytest.approx(1.0) and kernels.leak_slope(0.3, 1) < kernels.leak_slope(0.3, 4)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("problem", [addition(2), context(3), equivalence("symbols")], ids=["add", "context", "equal"])
def test_kernels_add_conjunctions_that_training_has(problem, depth):
    kernel = kernels.by_overlap(problem, kernels.random_relu_kernel(problem.rows.shape[1], depth))
    assert kernels.additivity(problem, kernels.least_squares(problem, kernel)) == pytest.approx(1.0, abs=1e-6)
    # and what is not such a sum is not called one
    assert kernels.additivity(problem, np.random.default_rng(0).normal(size=len(problem.rows))) < 0.9


def test_the_kernel_of_random_relu_nets_is_that_of_random_nets():
    rows = addition(1).rows
    onehot = np.eye(9)[rows].reshape(len(rows), -1) / 2**0.5
    features = np.maximum(onehot @ np.random.default_rng(0).normal(size=(18, 100_000)) * 2**0.5, 0)
    gram = features @ features.T / features.shape[1]
    shared = (rows[:, None] == rows).sum(-1)
    found = [gram[shared == count].mean() for count in range(3)]
    assert kernels.random_relu_kernel(2, 1) == pytest.approx(np.array(found) / found[-1], abs=0.01)


def test_the_largest_margin_is_one_on_what_was_trained_and_no_other_fit_is_shorter():
    problem = context(3)
    kernel = kernels.by_overlap(problem, kernels.random_relu_kernel(3, 2))
    said = kernels.largest_margin(problem, kernel)
    assert (said * problem.target)[problem.trained].min() == pytest.approx(1.0, abs=1e-3)
    squares = kernels.least_squares(problem, kernel + kernels.FREE)
    norm = [float(one @ np.linalg.solve(kernel + kernels.FREE + 1e-8 * np.eye(72), one)) for one in (said, squares)]
    assert norm[0] < norm[1]


def test_a_shortcut_that_the_data_offer_is_taken_by_a_margin_and_not_by_least_squares():
    accuracy = {}
    for left_out in (1, 2, 3):
        problem = context(left_out)
        kernel = kernels.by_overlap(problem, kernels.random_relu_kernel(3, 1))
        both = kernels.largest_margin(problem, kernel), kernels.least_squares(problem, kernel)
        accuracy[left_out] = [kernels.accuracy(problem, said) for said in both]
    assert accuracy == {1: [1.0, 1.0], 2: [1.0, 1.0], 3: [0.0, 1.0]}


def test_the_problems_ask_what_they_say():
    sums = addition(2)
    assert (sums.trained == ((sums.rows == 2) | (sums.rows == 6)).any(1)).all() and sums.target.max() == 8
    of_context = context(3)
    away = of_context.rows[of_context.held_out]
    assert len(away) == 18 and (away[:, 1] < 3).all() and (away[:, 2] >= 3).all()
    # in training, wherever the features disagree, the context tells the answer, and it tells the other one there
    first, second = of_context.rows[:, 1] >= 3, of_context.rows[:, 2] >= 3
    for side, sign in ((of_context.trained, 1), (of_context.held_out, -1)):
        some = side & (first != second)
        assert (of_context.target[some] == sign * np.where(of_context.rows[some, 0] == 0, 1, -1)).all()
    equal = equivalence("symbols")
    assert (equal.trained == ((equal.rows == 0) | (equal.rows == 4)).any(1)).all() and equal.held_out.sum() == 36
    assert abs(equal.target[equal.held_out].mean()) < 1e-9


def test_a_net_is_shown_the_symbols_and_asked_for_their_sum():
    problem = addition(1)
    task = Symbols(problem)
    batch = task.sample(jax.random.key(0), jnp.asarray(problem.rows))
    assert np.asarray(batch.target)[:, 0, 0] == pytest.approx(problem.target)
    assert (np.asarray(batch.code).reshape(-1, 2, 9).argmax(-1) == problem.rows).all()
    yes = Symbols(context(1))
    assert yes.words == {"target": 2} and yes.shapes().target.shape == (1, 1)


def test_a_net_says_nothing_at_first_and_learns_what_it_is_trained_on():
    problem = addition(4)
    task = Symbols(problem)
    batch = task.sample(jax.random.key(0), jnp.asarray(problem.rows))
    assert not np.asarray(ScaledMLP(width=16, depth=2).build(task, jax.random.key(0))(batch)[0]).any()
    found = learn(problem, ScaledMLP(width=64, depth=1), QUICK, 0, kernel=True)
    assert np.mean((found.said - problem.target)[problem.trained] ** 2) < 0.05
    assert 0 < found.salience < 0.5


def test_the_tangent_kernel_of_a_wide_net_is_the_one_of_random_relu_features():
    salience = tangent_salience(addition(1), ScaledMLP(width=4000, depth=1, scale=10.0), 0)
    assert salience == pytest.approx(kernels.saliences(kernels.random_relu_kernel(2, 1))[0], abs=0.02)


def test_a_net_that_has_not_learned_is_not_judged():
    row = {"seed": 0, "model": "net", "problem": "addition", "known": 1, "depth": 1, "begins": "lazy"}
    rows = [row | {"metric": "additivity", "value": 0.99}, row | {"metric": "unfitted", "value": 0.3}]
    table = StudyTable(pandas.DataFrame(rows), "additivity")
    with pytest.raises(PreconditionFailed, match=r"a net has not learned its training combinations: 0\.300 off"):
        read.net_additivity(table)
    assert read.net_additivity(StudyTable(table.frame.assign(value=[0.99, 0.01]), "additivity")) == {
        "addition, 1 known, 1 layers, lazy": 0.99
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"known": "7"}, "known.*'7'"),
        ({"left_out": "4"}, "left_out.*'4'"),
        ({"kernel": "overlp"}, "did you mean 'overlap'"),
        ({"fit": "margins"}, "did you mean 'margin'"),
        ({"depth": "0"}, "depth=0 must be a whole number of hidden layers"),
    ],
)
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(UserError, match=words):
        STUDY.cells(STUDY.settings("laptop", changes), 1)


@pytest.mark.parametrize("begins", [[np.nan, np.nan], [None, "rich"], ["lazy", "rich"]])
def test_the_formula_is_drawn_of_kernels_alone_too_which_do_not_begin(begins):
    """Where only kernels were run the column is one of numbers; warnings of the table library are errors here."""
    common = {"reading": "said", "problem": "addition", "seed": 0, "known": 1, "depth": 1}
    rows = [
        common | {"model": "net" if isinstance(one, str) else "kernel", "begins": one, "metric": metric, "value": value}
        for one in begins
        for metric, value in (("slope", 0.7), ("formula", 0.6))
    ]
    drawn = read.formula_rows(StudyTable(pandas.DataFrame(rows), "additivity"))
    assert len(drawn) == len(set(map(str, begins))) and all(row["x"] == 0.6 for row in drawn)
