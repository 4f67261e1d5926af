"""The hyperteacher, its weights and its control worlds, against plain formulas."""

from __future__ import annotations

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from recombine import Subsets, encodings, tasks
from recombine.tasks import Hyperteacher, Indifferent, Lookup
from recombine.tasks.teachers.module_weights import WEIGHTS, draw_weights

SPACE = Subsets(16, 3)
TEACHERS = [name for name in tasks.registry if issubclass(tasks.registry[name], Hyperteacher)]
ROWS = jnp.asarray(SPACE.unrank(range(5, 696, 14)))  # 50 combinations, some of one, two and three modules


def rows_of(*sets) -> jax.Array:
    rows = np.full((len(sets), 3), -1, np.int16)
    for row, chosen in zip(rows, sets, strict=True):
        row[: len(chosen)] = sorted(chosen)
    return jnp.asarray(rows)


# Compiled as a whole, which is much faster here than operation by operation; the public check compares the two.
@jax.jit
def sampled(task, key, rows):
    return task.sample(key, rows)


@jax.jit
def taught(task, rows, z, inputs):
    return task.teach(rows, z, inputs)


@functools.partial(jax.jit, static_argnums=1)
def weights_drawn(active, kind):
    return draw_weights(jax.random.key(1), active, kind)


# -- the hyperteacher ---------------------------------------------------------------------------------------------


def teach_plainly(task: Hyperteacher, z: np.ndarray, x: np.ndarray) -> np.ndarray:
    """f_z(x) = Omega relu(sum_m z_m (Theta_m x + b_m) / sqrt(K)), a hidden layer at a time, one number at a time."""
    h = x.astype(float)
    for modules, biases in zip(task.modules, task.biases, strict=True):
        pre = np.zeros(modules.shape[2])
        for m in range(len(z)):
            pre += z[m] / math.sqrt(task.space.at_most) * (h @ np.asarray(modules[m], float) + np.asarray(biases[m]))
        h = np.maximum(pre, 0)
    return h @ np.asarray(task.readout, float)


@pytest.mark.parametrize("hidden", [16, (16, 16, 16)], ids=str)
def test_targets_follow_the_formula(hidden):
    task = Hyperteacher(SPACE, seed=3, hidden=hidden)
    batch = sampled(task, jax.random.key(0), ROWS)
    z, inputs = np.asarray(batch.constituents, float), np.asarray(batch.inputs[:, :3], float)
    expected = [[teach_plainly(task, z_t, x) for x in x_t] for z_t, x_t in zip(z, inputs, strict=True)]
    np.testing.assert_allclose(batch.target[:, :3], expected, rtol=5e-5, atol=5e-6)


@pytest.fixture(scope="module")
def teachers() -> list[Hyperteacher]:
    return [Hyperteacher(SPACE, seed=seed) for seed in range(40)]


def assert_truncated_normal(values: np.ndarray, sd: float) -> None:
    """Truncated at two deviations of the normal before the cut, with `sd` left after it."""
    standard_error = sd * 0.6 / math.sqrt(values.size)  # of the deviation of a normal cut there
    assert values.std() == pytest.approx(sd, abs=5 * standard_error)
    assert abs(values).max() == pytest.approx(2 * sd / 0.87962566, rel=0.01)
    assert abs(values.mean()) < 5 * sd / math.sqrt(values.size)


def test_modules_and_readout_keep_their_deviation_after_the_cut(teachers):
    assert_truncated_normal(np.stack([t.modules[0] for t in teachers]), math.sqrt(math.sqrt(3) / 16))
    assert_truncated_normal(np.stack([t.readout for t in teachers]), math.sqrt(math.sqrt(3) / 16))


def test_every_matrix_is_scaled_by_its_own_fan_in():
    task = Hyperteacher(SPACE, inputs=64, hidden=(16, 16))
    assert_truncated_normal(np.asarray(task.modules[0]), math.sqrt(math.sqrt(3) / 64))
    assert_truncated_normal(np.asarray(task.modules[1]), math.sqrt(math.sqrt(3) / 16))


def test_biases_are_uniform_up_to_one_half(teachers):
    biases = np.stack([t.biases[0] for t in teachers]).ravel()
    assert scipy.stats.kstest(biases, scipy.stats.uniform(0, 0.5).cdf).pvalue > 1e-3


def test_inputs_are_uniform_from_minus_one_to_one(teachers):
    inputs = np.asarray(sampled(teachers[0], jax.random.key(0), ROWS).inputs)
    assert inputs.shape == (50, 16, 16)
    assert scipy.stats.kstest(inputs.ravel(), scipy.stats.uniform(-1, 2).cdf).pvalue > 1e-3


def plain_size_of_targets(n: int = 100_000) -> float:
    """Root mean square of the targets over teachers, from n hidden units of teachers of their own, in numpy.

    E y^2 = H Var(Omega) E h^2 = sqrt(3) E h^2, h = relu(sum_k z_k (theta_k . x + b_k) / sqrt(K)).
    """
    rng = np.random.default_rng(0)
    active = np.resize(np.asarray(ROWS) >= 0, (n, 3))
    theta = scipy.stats.truncnorm(-2, 2).rvs((n, 3, 16), rng) / 0.87962566 * math.sqrt(math.sqrt(3) / 16)
    z = rng.integers(5, 11, (n, 3)) / 10 * active
    reached = (theta * rng.uniform(-1, 1, (n, 1, 16))).sum(2) + rng.uniform(0, 0.5, (n, 3))
    return math.sqrt(math.sqrt(3) * np.mean(np.maximum((z * reached).sum(1) / math.sqrt(3), 0) ** 2))


def test_targets_are_as_large_as_those_of_plain_teachers(teachers):
    """At M=16, K=3. One teacher differs from the next: the .69 of notes 11 is the deviation under one of them."""
    targets = np.stack([sampled(task, jax.random.key(s), ROWS).target for s, task in enumerate(teachers)])
    assert math.sqrt((targets**2).mean()) == pytest.approx(plain_size_of_targets(), rel=0.05)
    deviations = targets.std((1, 2, 3))
    assert deviations.min() < 0.69 < deviations.max()


# -- weights ------------------------------------------------------------------------------------------------------


def drawn(kind: str, active: int, n: int = 3000) -> np.ndarray:
    """Weights where the first `active` of four modules are active, (n, active)."""
    z = np.asarray(weights_drawn(np.tile(np.arange(4) < active, (n, 1)), kind))
    assert (z[:, active:] == 0).all()
    return z[:, :active]


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_are_zero_exactly_where_inactive(kind):
    active = np.random.default_rng(0).random((3000, 4)) < 0.5
    z = np.asarray(weights_drawn(active, kind))
    assert ((z != 0) == active).all()
    assert ((z == 0) | ((z >= 0.5) & (z <= 1))).all()


@jax.jit
def constituents(task, key):
    return task.sample(key, ROWS).constituents


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_task_shows_weights_of_its_kind(kind):
    z = np.asarray(constituents(Hyperteacher(SPACE, weights=kind), jax.random.key(0)))
    values = len(np.unique(z[z > 0].round(5)))
    assert {"khot": values == 1, "discrete": values == 6, "continuous": values > 100}[kind]


def test_discrete_weights_are_uniform_on_six_values():
    values, counts = np.unique(drawn("discrete", 3), return_counts=True)
    np.testing.assert_allclose(values, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], rtol=1e-6)
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_discrete_weights_of_one_task_are_independent():
    z = drawn("discrete", 2)
    table = np.histogram2d(z[:, 0], z[:, 1], bins=np.arange(0.45, 1.1, 0.1))[0]
    assert table.shape == (6, 6) and scipy.stats.chi2_contingency(table).pvalue > 1e-3


def test_khot_weights_are_one():
    assert (drawn("khot", 3) == 1).all()


@pytest.mark.parametrize("active", [1, 2, 3])
def test_continuous_weights_are_normalized_exponentials(active):
    """w = e / (1 + sum e), z = (1 + w) / 2: so sum w = S / (1 + S) with S ~ Gamma(active)."""
    w = 2 * drawn("continuous", active) - 1
    total = w.sum(1)
    assert (w > 0).all() and (total < 1).all()
    assert scipy.stats.kstest(total / (1 - total), scipy.stats.gamma(active).cdf).pvalue > 1e-3


def test_weights_are_drawn_afresh_for_every_task():
    assert len(np.unique(drawn("discrete", 3), axis=0)) == 6**3


@pytest.mark.parametrize("encoding", encodings.showing("constituents"))
def test_a_batch_shows_its_constituents_and_their_code(encoding):
    task = Hyperteacher(SPACE, encoding=encoding)
    batch = sampled(task, jax.random.key(0), ROWS)
    assert ((np.asarray(batch.constituents) > 0) == SPACE.multihot(np.asarray(ROWS))).all()
    assert batch.code.shape == (50, task.encoding.size)
    assert jnp.issubdtype(batch.code.dtype, jnp.integer) == ("code" in task.words)
    if encoding != "few-shot":  # that one does not describe the constituents
        np.testing.assert_allclose(batch.code, task.encoding(batch.constituents), atol=1e-6)


# -- control worlds -----------------------------------------------------------------------------------------------


def ask(task: Hyperteacher, rows: jax.Array, inputs: np.ndarray, weight: float = 0.75) -> np.ndarray:
    """Targets of the same inputs under each combination, all weights alike."""
    z = (weight * task.space.multihot(np.asarray(rows))).astype(np.float32)
    return np.asarray(taught(task, rows, z, np.broadcast_to(inputs, (len(rows), *inputs.shape))))


@pytest.fixture(scope="module")
def inputs() -> np.ndarray:
    return np.random.default_rng(9).uniform(-1, 1, (40, 16)).astype(np.float32)


@pytest.mark.parametrize("name", TEACHERS)
def test_the_seed_decides_the_teacher(name, inputs):
    first, same, other = (ask(tasks.registry[name](SPACE, seed=seed), ROWS, inputs) for seed in (0, 0, 1))
    assert (first == same).all() and (first != other).any()


def test_a_lookup_teacher_depends_on_its_combination_alone(inputs):
    task = Lookup(SPACE)
    together = ask(task, ROWS, inputs)
    order = np.random.default_rng(0).permutation(len(ROWS))
    np.testing.assert_allclose(ask(task, ROWS[order], inputs), together[order], atol=1e-5)
    for i in (0, 7, 40):  # in the company of itself alone
        alone = ask(task, ROWS[np.full(len(ROWS), i)], inputs)
        np.testing.assert_allclose(alone, np.broadcast_to(together[i], alone.shape), atol=1e-5)


def test_lookup_teachers_of_all_combinations_differ(inputs):
    together = ask(Lookup(SPACE), ROWS, inputs).reshape(len(ROWS), -1)
    assert len(np.unique(together.round(4), axis=0)) == len(ROWS)


def test_a_lookup_teacher_uses_the_weights(inputs):
    targets = [ask(Lookup(SPACE), ROWS, inputs, weight) for weight in (0.5, 1.0)]
    assert abs(targets[0] - targets[1]).max((1, 2)).min() > 0.01


def correlation_of_neighbors(task: Hyperteacher, inputs: np.ndarray) -> float:
    """Mean correlation over inputs of the targets of combinations that share two of three modules."""
    triples = itertools.combinations(range(16), 3)
    pairs = [(a, (a[0], a[1], a[2] + 1)) for a in triples if a[2] < 15][::9][: len(ROWS)]
    a, b = (ask(task, rows_of(*side), inputs) for side in zip(*pairs, strict=True))
    a, b = (t - t.mean(1, keepdims=True) for t in (a, b))
    return float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))


def test_combinations_that_share_modules_are_alike_in_the_hyperteacher_and_not_in_the_lookup(inputs):
    composed = [correlation_of_neighbors(Hyperteacher(SPACE, seed=s), inputs) for s in range(5)]
    looked_up = [correlation_of_neighbors(Lookup(SPACE, seed=s), inputs) for s in range(5)]
    assert min(composed) > 0.3
    assert abs(np.mean(looked_up)) < 0.03


def test_lookup_targets_are_as_large_as_those_of_plain_teachers(inputs):
    """With the mean square of the weights .5, .6, ..., 1 in place of weights that are drawn."""
    weight = math.sqrt(np.mean(np.arange(5, 11) ** 2) / 100)
    targets = np.stack([ask(Lookup(SPACE, seed=s), ROWS, inputs, weight) for s in range(5)])
    assert math.sqrt((targets**2).mean()) == pytest.approx(plain_size_of_targets(), rel=0.05)


def test_the_indifferent_teacher_ignores_the_combination(inputs):
    targets = np.concatenate([ask(Indifferent(SPACE), ROWS, inputs, weight) for weight in (0.5, 1.0)])
    np.testing.assert_allclose(targets, np.broadcast_to(targets[0], targets.shape), atol=1e-6)
    assert targets[0].std(0).min() > 0.01, "a constant teacher would be no control"
