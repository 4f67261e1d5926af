"""Ridge against scikit-learn, decodability against nets whose layers are known."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn.linear_model
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits
from turned_digits import turned

from recombine import Product, Recipe, Subsets, Trained, UserError, probes, supports, train
from recombine.nets import MLP, Blueprint, Hypernetwork, Net, Transformer
from recombine.probes import decodability
from recombine.probes.linear_decoding import AtLastRow
from recombine.statistics import ridge
from recombine.tasks import Bumps, Hyperteacher, LastRow, Unscored, draw_batch
from recombine.testing import check_probe
from recombine.training import Member

# -- ridge --------------------------------------------------------------------------------------------------------


def regression(seed: int, n: int, d: int, targets: int = 3, offset: float = 2.0):
    """Correlated features that are not centered, targets that are not either."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / math.sqrt(d) + offset * rng.normal(size=d)
    return x, x @ rng.normal(size=(d, targets)) / math.sqrt(d) + rng.normal(size=(n, targets)) + 5


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(60, 5), (40, 40), (41, 40), (20, 60), (2, 7), (300, 1)]),
    st.sampled_from([1e-2, 1.0, 50.0]),
)
def test_ridge_is_that_of_sklearn(seed, shape, strength):
    x, y = regression(seed, *shape)
    weights, intercept = ridge.fit(x, y, strength)
    reference = sklearn.linear_model.Ridge(alpha=strength).fit(x, y)
    np.testing.assert_allclose(weights, reference.coef_.T, atol=1e-5)
    np.testing.assert_allclose(intercept, reference.intercept_, atol=1e-5 * (1 + abs(reference.intercept_).max()))


@pytest.mark.parametrize("n, d", [(2048, 64), (2048, 384), (200, 384)])
def test_float32_features_are_enough(n, d):
    """Against the exact solution in float64, in predictions of new rows."""
    x, y = regression(0, n + 100, d)
    x, y = x.astype(np.float32), y.astype(np.float32)
    weights, intercept = ridge.fit(x[:n], y[:n])
    assert weights.dtype == np.float32
    reference = sklearn.linear_model.Ridge(alpha=1.0).fit(x[:n].astype(float), y[:n].astype(float))
    expected = reference.predict(x[n:].astype(float))
    assert np.abs(x[n:] @ weights + intercept - expected).max() < 1e-3 * expected.std()


def test_ridge_leaves_its_arguments_alone():
    for shape in ((50, 7), (7, 50)):
        x, y = regression(0, *shape)
        before = x.copy(), y.copy()
        ridge.fit(x, y)
        assert (x == before[0]).all() and (y == before[1]).all()


def test_the_intercept_is_not_penalized():
    x, y = regression(1, 200, 4)
    weights, intercept = ridge.fit(x, y, strength=1e9)
    np.testing.assert_allclose(weights, 0, atol=1e-4)
    np.testing.assert_allclose(intercept, y.mean(0), atol=1e-2)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.sampled_from([0.0, 10.0, 1e3]), st.sampled_from([1e-3, 1.0]))
def test_r2_is_that_of_sklearn(seed, n, offset, scale):
    rng = np.random.default_rng(seed)
    targets = scale * rng.normal(size=(n, 4)) + offset
    predicted = targets + scale * rng.normal(size=(n, 4)) * [0, 0.1, 1, 10]
    expected = sklearn.metrics.r2_score(targets, predicted, multioutput="raw_values")
    np.testing.assert_allclose(ridge.r2_by_target(predicted, targets), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1000.1])
@pytest.mark.parametrize("n", [3, 1024, 10_000])
def test_r2_of_a_constant_column_is_undefined(n, constant, dtype):
    targets = np.random.default_rng(0).normal(size=(n, 3)).astype(dtype)
    targets[:, 1] = constant
    found = ridge.r2_by_target(targets + dtype(0.5), targets)
    assert np.isnan(found).tolist() == [False, True, False]


def test_ridge_is_no_slower_than_that_of_sklearn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_000, 1024)).astype(np.float32)
    y = rng.normal(size=(10_000, 16)).astype(np.float32)
    reference = sklearn.linear_model.Ridge(alpha=1.0, solver="cholesky")
    ours, theirs = [], []
    with threadpool_limits(1):
        for fits in range(6):
            for times, fit in ((ours, lambda: ridge.fit(x, y)), (theirs, lambda: reference.fit(x, y))):
                begun = time.process_time()
                fit()
                if fits:  # the first round warms up
                    times.append(time.process_time() - begun)
    assert statistics.median(ours) <= 1.15 * statistics.median(theirs), (ours, theirs)


# -- planted truth ------------------------------------------------------------------------------------------------

SPACE = Subsets(6, 3)
FEATURES = 32


class KnownNet(Net):
    """A net whose one layer is a linear map of the code and of the inputs; either map may be zero."""

    of_code: jax.Array
    of_inputs: jax.Array

    def __call__(self, batch, key=None):
        layer = (batch.code @ self.of_code)[:, None] + batch.inputs @ self.of_inputs
        prediction = jnp.zeros((*batch.inputs.shape[:2], 16))
        return prediction, {"layer1/pre": layer, "output": prediction}


@dataclass(frozen=True)
class Known(Blueprint):
    """Built, its layer ignores the code: what is decodable is what a test then puts there."""

    name: ClassVar[str] = "known"

    def layers(self):
        return ("layer1/pre", "output")

    def fresh(self, task, key, precision):
        return known(0.0, 1.0)


def known(code: float, inputs: float) -> KnownNet:
    rng = np.random.default_rng(0)
    maps = code * rng.normal(size=(6, FEATURES)), inputs * rng.normal(size=(16, FEATURES))
    return KnownNet(*(jnp.asarray(m, jnp.float32) for m in maps))


def pretend(net: Net, support=None, seeds: tuple[int, ...] = (0,), **more) -> Trained:
    """A run that ended with this net."""
    facts = {"history": [], "diverged_at": None, "seconds": 1.0, "steps_per_second": 1.0, "compile_seconds": 1.0}
    members = [Member(seed=seed, net=net, raw=net, **(facts | more)) for seed in seeds]
    return Trained(Hyperteacher(SPACE), support or supports.random(SPACE), Known(), Recipe(steps=1), members)


@pytest.fixture(scope="module")
def linear():
    return decodability(pretend(known(1.0, 0.0)), layer=1)


@pytest.fixture(scope="module")
def ignoring():
    return decodability(pretend(known(0.0, 1.0)), layer=1)


def test_a_linear_map_of_the_constituents_is_decoded(linear):
    assert linear.value().mean > 0.99 and linear.value("r2_test").mean > 0.99
    by_factor = [row["value"] for row in linear.rows if row["metric"] == "r2" and row["factor"] != "mean"]
    assert len(by_factor) == 6 and min(by_factor) > 0.99
    assert linear.value().mean == pytest.approx(np.mean(by_factor))


def test_a_layer_that_ignores_the_constituents_is_not(ignoring):
    assert abs(ignoring.value().mean) < 0.1 and abs(ignoring.value("r2_test").mean) < 0.1


@jax.jit
def constituents(task, sampler):
    return draw_batch(task, sampler, jax.random.key(0), 4000, 1).constituents


def test_a_layer_with_noise_decodes_as_much_as_there_is_signal():
    """One feature, z_0 plus inputs of known variance: R^2 = signal / (signal + noise) by least squares."""
    rng = np.random.default_rng(1)
    for noise in (0.3, 1.0):
        of_inputs = np.zeros((16, FEATURES))
        of_inputs[:FEATURES, 0] = rng.normal(size=16)
        of_inputs *= noise / math.sqrt((of_inputs**2).sum() / 3)  # inputs are uniform on [-1, 1]: variance 1/3
        of_code = np.zeros((6, FEATURES))
        of_code[0, 0] = 1
        net = KnownNet(jnp.asarray(of_code, jnp.float32), jnp.asarray(of_inputs, jnp.float32))
        run = pretend(net)
        z = np.asarray(constituents(run.task, run.support.held_out.sampler()))[:, 0]
        found = decodability(run, layer=1, controls=False).value("r2", factor="m0").mean
        assert found == pytest.approx(z.var() / (z.var() + noise**2), abs=0.08)


def test_shuffled_labels_are_not_decoded(linear, ignoring):
    for readings in (linear, ignoring):
        assert readings.value("r2_shuffled").mean < 0.02


def test_the_untrained_control_is_the_blueprint_built_anew(linear):
    assert abs(linear.value("r2_untrained").mean) < 0.1


def test_the_encoding_control_needs_no_net(linear, ignoring):
    assert linear.value("r2_encoding").mean > 0.99
    assert ignoring.value("r2_encoding").mean == linear.value("r2_encoding").mean


def test_a_module_that_was_never_trained_is_not_decoded_and_not_counted_where_it_is_constant():
    readings = decodability(pretend(known(1.0, 0.0), supports.missing(SPACE)), layer=1, controls=False)
    assert readings.value("r2", factor="m5").mean < 0.1
    tested = {row["factor"]: row["value"] for row in readings.rows if row["metric"] == "r2_test"}
    assert math.isnan(tested["m5"]) and tested["mean"] > 0.99


def test_every_seed_is_read_and_diverged_ones_are_not():
    run = pretend(known(1.0, 0.0), seeds=(3, 5))
    readings = decodability(run, layer=1, controls=False)
    assert {row["seed"] for row in readings.rows} == {3, 5}
    broken = Trained(
        run.task,
        run.support,
        run.blueprint,
        run.recipe,
        [*pretend(known(1.0, 0.0), diverged_at=7).members, *run.members],
    )
    assert {row["seed"] for row in decodability(broken, layer=1, controls=False).rows} == {3, 5}
    with pytest.raises(UserError, match="every member diverged"):
        decodability(pretend(known(1.0, 0.0), diverged_at=7), layer=1)


@pytest.mark.parametrize("layer, named", [(2, "'layer2/pre'"), (0, "'layer0/pre'"), ("outptu", "'outptu'.*'output'")])
def test_unknown_layers_are_refused_by_name(layer, named):
    with pytest.raises(UserError, match=named):
        decodability(pretend(known(1.0, 0.0)), layer=layer)


# -- the row that is read -----------------------------------------------------------------------------------------


class LateNet(KnownNet):
    """Its layer holds the constituents at the sixteenth row only: it has to see all that come before."""

    def __call__(self, batch, key=None):
        rows = batch.inputs.shape[1]
        late = (jnp.arange(rows) == 15).astype(jnp.float32)[None, :, None]
        layer = (batch.code @ self.of_code)[:, None] * late + batch.inputs @ self.of_inputs
        prediction = jnp.zeros((*batch.inputs.shape[:2], 16))
        return prediction, {"layer1/pre": layer, "output": prediction}


def test_the_last_row_is_read_where_all_rows_before_it_were_seen():
    """A layer that holds the constituents at the sixteenth row only: as published it is decoded, at the first not."""
    net = known(1.0, 1e-3)
    run = pretend(LateNet(net.of_code, net.of_inputs))
    found = {row: decodability(run, layer=1, row=row, fit_tasks=512, score_tasks=256) for row in ("first", "last")}
    assert found["last"].value().mean > 0.99 and found["last"].value("r2_test").mean > 0.99
    assert abs(found["first"].value().mean) < 0.1
    assert found["last"].value("r2_untrained").mean < 0.1 and found["last"].value("r2_encoding").mean > 0.99


@pytest.mark.parametrize("made", [MLP(8, 1), Hypernetwork(8)], ids=lambda made: made.name)
def test_a_net_that_answers_rows_apart_gives_the_same_at_the_last_row_alone(made):
    """Declared by the net, and so the other rows need not be computed; a transformer does not declare it."""
    task = Hyperteacher(SPACE)
    net = made.build(task, jax.random.key(0))
    rows = jnp.asarray(SPACE.sample(0, 5))
    alone, all_rows = (view(task).sample(jax.random.key(1), rows) for view in (LastRow, Unscored))
    wanted = net(all_rows)[1]["layer1/pre"][:, -1]
    np.testing.assert_allclose(net(alone)[1]["layer1/pre"][:, 0], wanted, atol=1e-5)
    np.testing.assert_array_equal(AtLastRow(net).answer(all_rows)[1]["layer1/pre"], wanted)
    assert made.rows_apart and not Transformer.rows_apart


def test_a_transformer_is_read_at_the_last_row_after_all_others():
    """Its activations there are those of the whole sequence, and not those of a sequence of one row."""
    task = Hyperteacher(SPACE)
    run = train(task, supports.random(SPACE), Transformer(16, 1, 2, 16), Recipe(steps=2, tasks=8), progress=False)
    net, rows = run.nets[0], jnp.asarray(SPACE.sample(0, 5))
    batch = Unscored(task).sample(jax.random.key(1), rows)
    whole = net(batch)[1]["layer1/pre"]
    seen = AtLastRow(net).answer(batch)[1]["layer1/pre"]
    np.testing.assert_array_equal(seen, whole[:, -1])
    alone = net(LastRow(task).sample(jax.random.key(1), rows))[1]["layer1/pre"][:, 0]
    assert abs(alone - seen).max() > 1e-3
    readings = decodability(run, layer=1, row="last", fit_tasks=256, score_tasks=256)
    assert set(readings.table.layer) == {"layer1/pre"} and np.isfinite(readings.value().mean)


def test_an_unknown_row_is_refused_by_name():
    with pytest.raises(UserError, match="'lst'; did you mean 'last'"):
        decodability(pretend(known(1.0, 0.0)), layer=1, row="lst")


# -- every registered probe on a trained net ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def run() -> Trained:
    return train(
        Hyperteacher(SPACE),
        supports.random(SPACE),
        MLP(32, 2),
        Recipe(steps=60, evaluations=1),
        seeds=2,
        progress=False,
    )


@pytest.fixture(scope="module")
def bumps() -> Trained:
    space = Product(x=8, y=8)
    recipe = Recipe(steps=60, tasks=32, evaluations=1)
    return train(Bumps(space), supports.donut(space), MLP(16, 2), recipe, seeds=2, progress=False)


@pytest.mark.parametrize("name", probes.registry)
def test_registered_probes_pass_the_public_check(name, bumps):
    check_probe(probes.registry[name], turned() if name == "crossfade" else bumps)  # that one reads a single factor


@pytest.mark.parametrize("name", probes.registry)
def test_registered_probes_read_subsets_or_say_that_they_need_factors(name, run):
    if name == "decodability":
        check_probe(probes.registry[name], run)
    else:
        with pytest.raises(UserError, match=r"hyperteacher-v1.*(Product|draws nothing)"):
            probes.registry[name](run)


def without(metric_end: str, kind: str = "decoding"):
    """A probe that lacks some of its rows."""

    def probe(trained: Trained) -> probes.Readings:
        readings = decodability(trained, fit_tasks=64, score_tasks=64)
        rows = [row for row in readings.rows if not row["metric"].endswith(metric_end)]
        return probes.Readings("without", rows, "r2", kind)

    return probe


@pytest.mark.parametrize("control", ["shuffled", "untrained", "encoding"])
def test_the_public_check_asks_for_the_controls_of_a_kind(control, run):
    with pytest.raises(AssertionError, match=f"r2_{control}.*missing"):
        check_probe(without(control), run)


def test_the_public_check_knows_the_kinds(run):
    check_probe(without("shuffled", "layers"), run)  # a layer that is described has no labels to shuffle
    with pytest.raises(AssertionError, match="r2_truth.*missing"):
        check_probe(without("nothing", "drawings"), run)
    with pytest.raises(AssertionError, match="no kind of probe"):
        check_probe(without("nothing", "anything"), run)


def test_layers_are_read_by_number_and_by_name(run):
    pre, post, output = (
        decodability(run, layer=layer, activation=activation, fit_tasks=256, score_tasks=256, controls=False)
        for layer, activation in ((1, "pre"), (1, "post"), ("output", "pre"))
    )
    assert [r.rows[0]["layer"] for r in (pre, post, output)] == ["layer1/pre", "layer1/post", "output"]
    assert pre.value().mean > 0.95, "with the identity encoding the first layer holds the constituents"
    assert output.value().mean < pre.value().mean


def test_readings_are_a_table(run):
    readings = decodability(run, fit_tasks=256, score_tasks=256)
    table = readings.table
    assert len(table) == 2 * 5 * 7  # seeds x metrics x (six modules and their mean)
    assert set(table.metric) == {"r2", "r2_test", "r2_shuffled", "r2_untrained", "r2_encoding"}
    assert "layer2/pre" in str(readings) and "r2_shuffled" in str(readings)
