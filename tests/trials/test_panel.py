"""The panel's decodability by layer: what a layer holds is read, noise is not, a scrambled combination stands out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_weight import Multiple, OneWeight, OneWeightNet

import recombine as rc
from recombine.lab.scales import SCALES
from recombine.nets import MLP
from recombine.probes import combination_decodability
from recombine.statistics import ridge
from recombine.studies import registry
from recombine.tasks import FirstRow
from recombine.training import evaluate, evaluation
from recombine.training.pooled_layers import pooled
from recombine.trials.panel import MOST, panel, panel_rows, process_variance
from recombine.trials.panel_decodability import WIDEST

SPACE = rc.Subsets(12, 2)
COMBINATIONS, DRAWS, UNITS = 120, 8, 24
FITTED_ON = np.arange(COMBINATIONS) < 90


def drawn(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def decoded(layer: np.ndarray, z: np.ndarray, fitted_on: np.ndarray = FITTED_ON):
    return combination_decodability.decoded_combinations(layer, z, fitted_on)


def constituents(seed: int = 0) -> np.ndarray:
    """(combinations, draws, 5): some of a combination's own, some of each draw."""
    return drawn(seed, COMBINATIONS, 1, 5) + 0.5 * drawn(seed + 1, COMBINATIONS, DRAWS, 5)


# -- the ridge in blocks ----------------------------------------------------------------------------------------------
@given(seed=st.integers(0, 99), rows=st.integers(3, 40), strength=st.floats(0.01, 100))
def test_sums_of_blocks_give_the_fit_of_all_rows_and_can_leave_some_out(seed, rows, strength):
    x, y = drawn(seed, rows + 5, 4), drawn(seed + 1, rows + 5, 2)
    first, second, third = (ridge.Sums.of(x[part], y[part]) for part in np.split(np.arange(rows + 5), [2, rows]))
    for found, expected in zip((first + second + third).solve(strength), ridge.fit(x, y, strength), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    without = (first + second + third - third).solve(strength)
    for found, expected in zip(without, ridge.fit(x[:rows], y[:rows], strength), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)


# -- combinations, one by one -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_a_layer_that_holds_the_constituents_is_read_without_error(scale):
    z = constituents()
    found = decoded(scale * (z @ drawn(2, 5, UNITS) + 3), z)
    assert found.values.min() > 0.999
    assert found.together(FITTED_ON) > 0.9999 and found.together(~FITTED_ON) > 0.9999


@pytest.mark.parametrize("units", [4, 64, 256])
def test_a_layer_of_noise_is_read_no_better_and_hardly_worse_than_by_the_mean(units):
    z = constituents()
    z[~FITTED_ON] *= 2  # what is held out may be further from the mean
    found = decoded(drawn(3, COMBINATIONS, DRAWS, units), z)
    assert abs(found.together(FITTED_ON)) < 0.05 and abs(found.together(~FITTED_ON)) < 0.05
    assert abs(found.values[FITTED_ON].mean()) < 0.05
    assert found.values[~FITTED_ON].mean() < -1  # further off than combinations are from their mean, on average


def test_with_noise_beside_it_as_much_is_read_as_a_linear_map_can_read():
    """A unit that holds z + e, both of variance 1 over rows: the best map has half of the variance left as error."""
    z, noise = drawn(4, COMBINATIONS, DRAWS, 1), drawn(5, COMBINATIONS, DRAWS, 1)
    assert decoded(z + noise, z).values.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("scrambled", [7, 100], ids=["trained", "held out"])
def test_the_combination_whose_activations_were_scrambled_stands_out(scrambled):
    z = constituents()
    layer = z @ drawn(2, 5, UNITS)
    layer[scrambled] = layer[(scrambled + 1) % COMBINATIONS]  # those of another combination
    values = decoded(layer, z).values
    assert values.argmin() == scrambled and values[scrambled] < 0
    assert np.delete(values, scrambled).min() > 0.9


def test_a_training_combination_is_read_by_a_map_that_has_not_seen_it():
    """A unit for each combination tells which one it is: by heart everything is known, and of others nothing."""
    z = np.repeat(drawn(6, COMBINATIONS, 1, 3), DRAWS, axis=1)
    by_heart = np.repeat(np.eye(COMBINATIONS)[:, None], DRAWS, axis=1)
    assert decoded(by_heart, z).together(FITTED_ON) < 0.05  # a map that has seen it would give 1
    # half of a unit is noise, and 40 units of noise beside it can be fitted to what was seen
    blurred = np.repeat(np.concatenate([z[:, :1] + drawn(7, *z[:, :1].shape), drawn(8, len(z), 1, 40)], 2), DRAWS, 1)
    found = decoded(blurred, z)
    assert found.together(~FITTED_ON) > 0.1 and 0.1 < found.together(FITTED_ON) < 0.5


def test_what_is_undefined_is_said_to_be():
    z = constituents()
    layer = z @ drawn(2, 5, UNITS)
    for undefined in (decoded(layer, np.ones_like(z)), decoded(layer, z, np.arange(COMBINATIONS) < 1)):
        assert np.isnan(undefined.values).all() and np.isnan(undefined.together(FITTED_ON))
    layer[3, 2, 1] = np.inf
    found = decoded(layer, z)
    assert np.flatnonzero(np.isnan(found.values)).tolist() == [3] and np.nanmin(found.values) > 0.999
    assert found.together(FITTED_ON) > 0.999
    assert abs(decoded(np.ones_like(layer), z).together(FITTED_ON)) < 0.05  # a constant layer


# -- layers as a few numbers ------------------------------------------------------------------------------------------
def test_a_narrow_layer_is_averaged_over_all_axes_between():
    layer = drawn(0, 6, 3, 4, 10).astype(np.float32)
    np.testing.assert_allclose(pooled(jnp.asarray(layer), 10), layer.mean((1, 2)), atol=1e-6)
    assert pooled(jnp.ones(6), 10).shape == (6, 1)
    assert pooled(jnp.ones((6, 4), jnp.bfloat16), 10).dtype == jnp.float32


def test_a_wide_layer_keeps_its_distances_on_average_and_always_in_the_same_way():
    layer = drawn(1, 40, 5_003).astype(np.float32)
    narrow = np.asarray(pooled(jnp.asarray(layer), 256))
    assert narrow.shape == (40, 256)
    np.testing.assert_array_equal(narrow, pooled(jnp.asarray(layer), 256))
    before, after = (np.linalg.norm(one[:20] - one[20:], axis=1) for one in (layer, narrow))
    assert np.abs(after / before - 1).max() < 0.2 and abs((after / before).mean() - 1) < 0.05
    # every unit is in it, and none twice
    units = np.asarray(pooled(jnp.eye(5_003), 256))
    assert (np.abs(units).sum(1) == 1).all()


def test_what_a_wide_layer_holds_is_still_read():
    z = constituents()
    wide = np.tanh(0.3 * z @ drawn(2, 5, 12_000)).reshape(-1, 12_000)
    narrow = np.asarray(pooled(jnp.asarray(wide), WIDEST)).reshape(COMBINATIONS, DRAWS, -1)
    assert decoded(narrow, z).values.mean() > 0.95


# -- the panel of a net -----------------------------------------------------------------------------------------------
class PlantedNet(OneWeightNet):
    """Layers of which is known what they hold."""

    def __call__(self, batch, key=None):
        answer, trace = super().__call__(batch, key)
        code = batch.code[:, None]  # (T, 1, elements)
        noise = jax.random.normal(jax.random.key(0) if key is None else key, (len(batch.code), 2, 12))
        one = (batch.code[:, 2] * batch.code[:, 5] > 0)[:, None, None]  # of the combination {m2, m5}
        wide = jnp.tile(code, (1, 1, 200))
        return answer, trace | {
            "holds": code,
            "noise": noise,
            "scrambled": jnp.where(one, jnp.roll(code, 1, -1), code),
            "wide": wide,
        }


@dataclass(frozen=True)
class Planted(OneWeight):
    name: ClassVar[str] = "planted-layers"

    def layers(self):
        return ("output", "holds", "noise", "scrambled", "wide")

    def fresh(self, task, key, precision):
        return PlantedNet(jnp.asarray(0.1, jnp.float32))


class Told(Multiple):
    """As Multiple, without constituents: the elements of a combination are all there is to decode."""

    def sample(self, key, combinations, samples=None):
        return super().sample(key, combinations, samples)._replace(constituents=None)

    def given(self, support):
        return self


def planted_run(task, support=None):
    support = support or rc.supports.random(SPACE, held_out=0.3, seed=0)
    return rc.train(task, support, Planted(), rc.Recipe(steps=1, tasks=8, precision="float32"))


@pytest.fixture(scope="module")
def planted_panel():
    return panel(planted_run(Multiple(SPACE)))["panel"]


def test_the_panel_reads_layers_that_hold_the_constituents_and_not_layers_of_noise(planted_panel):
    found = planted_panel["decodability"]
    assert found["of"] == "constituents"
    assert set(found["layers"]) == set(found["trained"]) == set(found["held_out"]) == set(Planted().layers())
    assert {len(values) for values in found["layers"].values()} == {SPACE.size}
    for layer in ("holds", "wide"):
        assert min(found["layers"][layer]) > 0.999 and found["held_out"][layer] == found["trained"][layer] == 1
    assert abs(found["trained"]["noise"]) < 0.1 and abs(found["held_out"]["noise"]) < 0.1
    assert abs(found["held_out"]["output"]) < 0.1  # the answer has nothing to do with the combination
    assert found["untrained"]["holds"] == 1  # what the architecture gives
    json.dumps(planted_panel, allow_nan=False)


def test_the_panel_singles_out_the_one_combination_that_a_layer_scrambles(planted_panel):
    values = np.array(planted_panel["decodability"]["layers"]["scrambled"], float)
    (scrambled,) = SPACE.rank(np.array([[2, 5]]))
    assert values.argmin() == scrambled and values[scrambled] < 0.2 < 0.6 < np.delete(values, scrambled).min()


def test_where_a_task_has_no_constituents_the_elements_of_combinations_are_decoded():
    found = panel(planted_run(Told(SPACE)))["panel"]["decodability"]
    assert found["of"] == "elements"
    assert min(found["layers"]["holds"]) > 0.999 and abs(found["held_out"]["noise"]) < 0.1


def test_the_summary_is_over_what_the_score_of_the_split_is_about():
    support = rc.supports.disconnected(SPACE, within=0.3)
    found = panel(planted_run(Multiple(SPACE), support))["panel"]["decodability"]
    rows = SPACE.enumerate()
    z = SPACE.multihot(rows).astype(float)
    trained, asked = (side.contains(rows) for side in (support.train, support.side(support.asks)))
    by_mean = ((z - z[trained].mean(0)) ** 2).sum(1)
    errors = (1 - np.array(found["layers"]["scrambled"], float)) * by_mean[trained].mean()
    for side, where in (("trained", trained), ("held_out", asked)):
        expected = 1 - errors[where].sum() / by_mean[where].sum()
        assert found[side]["scrambled"] == pytest.approx(expected, abs=2e-3)


# -- large spaces -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("design", ["random", "implicit"])
def test_of_a_large_space_a_sample_of_both_sides_is_kept_and_says_which(design):
    space = rc.Subsets(20, 3)
    support = getattr(rc.supports, design)(space, held_out=0.4, seed=0)
    kept = panel(planted_run(Multiple(space), support))["panel"]
    ranks = np.array(kept["ranks"])
    assert (np.diff(ranks) > 0).all() and len(ranks) == MOST
    trained = support.train.contains(space.unrank(ranks))
    assert trained.sum() == MOST / 2
    assert {len(kept[name]) for name in ("score", "untrained", "variance")} == {len(ranks)}
    assert min(kept["decodability"]["layers"]["holds"]) > 0.99
    np.testing.assert_allclose(kept["variance"], process_variance(support)[ranks], atol=1e-4)


def test_the_sample_of_a_large_space_does_not_depend_on_the_seed_of_a_net():
    support = rc.supports.random(rc.Subsets(20, 3), held_out=0.4, seed=3)
    np.testing.assert_array_equal(panel_rows(support), panel_rows(support))


def test_a_space_that_cannot_be_listed_has_a_panel_too():
    space = rc.Subsets(60, 8)
    kept = panel(planted_run(Multiple(space), rc.supports.implicit(space, held_out=0.3, seed=0)))["panel"]
    assert len(kept["ranks"]) == len(kept["score"]) and max(kept["ranks"]) < space.size
    assert kept["decodability"]["held_out"]["holds"] > 0.99
    assert 0 <= min(kept["variance"]) <= max(kept["variance"]) < 1e-3  # of so many trained ones everything is known


# -- asked in one pass, by programs that are there --------------------------------------------------------------------
def test_layers_asked_for_by_a_star_are_all_there_and_pooled_as_said(task):
    net = MLP(width=24, depth=2).build(task, jax.random.key(0))
    asked = {"key": jax.random.key(1), "draws": 2}
    names = MLP(width=24, depth=2).layers()
    whole = evaluate(net, task, task.space.enumerate(), trace=names, **asked)
    few = evaluate(net, task, task.space.enumerate(), trace=["*"], widest=16, keep=["answer"], **asked)
    assert set(few.trace) == set(names)
    for name in names:
        np.testing.assert_allclose(few.trace[name], pooled(jnp.asarray(whole.trace[name]), 16), rtol=1e-4, atol=1e-5)
    with pytest.raises(rc.errors.UserError, match="widest"):
        evaluate(net, task, task.space.enumerate(), trace=["*"], widest=0, **asked)


def test_another_net_or_its_layers_or_a_view_compile_no_items_again(task):
    def compiled() -> int:
        return evaluation._items_program(None)._cache_size()

    rows, key = task.space.enumerate(), jax.random.key(0)
    nets = [MLP(width=width, depth=1).build(task, key) for width in (5, 6)]
    plain = evaluate(nets[0], task, rows, key=key)
    before = compiled()
    traced = evaluate(nets[0], task, rows, key=key, trace=["*"], widest=8)
    evaluate(nets[1], task, rows, key=key)
    evaluate(nets[0], FirstRow(task), rows, key=key)
    assert compiled() == before
    assert traced.scores() == pytest.approx(plain.scores(), abs=1e-5)


#: parts of linear-size about weights that were written down: no net was trained, so there is nothing to keep
TRAIN_NOTHING = ("written", "twins")


@pytest.mark.parametrize("name", [name for name, study in registry.items() if study.world is not None])
def test_every_trial_of_every_study_keeps_the_panel_at_every_scale(name):
    study = registry[name]
    for scale in SCALES:
        for seed in (0, 1):
            settings = study.settings(scale)
            specs = study.cells_of(study, settings, seed) if study.cells_of else study.specs(settings, seed)
            trained = [spec for spec in specs if spec["at"].get("part") not in TRAIN_NOTHING]
            assert trained and all("panel" in spec["trial"]["keep"] for spec in trained)
