"""Picture studies: exact scores, readings on planted tables, the published settings, refusals."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Recipe, UserError, shades
from recombine.keys import key_for
from recombine.lab.study import Context
from recombine.lab.verdicts import NotMet
from recombine.studies import (
    bisection,
    data_efficiency,
    factorized_fails,
    picture_trial,
    re_entanglement,
    registry,
    render,
    stripes,
    superposition,
    trial,
    tuning_curves,
)
from recombine.training import train
from recombine.trials import keeping

NAMES = [name for name, study in registry.items() if isinstance(study, picture_trial.PictureStudy)]


def score_rows(common: dict, test: float, held_out: float, localized: float = 0.0) -> list[dict]:
    """Final scores of a trial, as a study finds them in its table."""
    values = {("test", "error"): test, ("held_out", "error"): held_out, ("held_out", "localized"): localized}
    common = {"seed": 0, "support": "donut", "group": "", "layer": "", "reading": "score", **common}
    return [common | {"stream": stream, "metric": metric, "value": v} for (stream, metric), v in values.items()]


def probe_rows(common: dict, probe: str, metric: str, by_layer: dict[str, float]) -> list[dict]:
    common = {"seed": 0, "support": "donut", "group": "", "reading": probe, "stream": "grid", **common}
    return [common | {"layer": layer, "metric": metric, "value": value} for layer, value in by_layer.items()]


# -- trials -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def small() -> dict:
    return {"seed": 0, "task": "bumps-and-stripes-v1", "size": 6, "encoding": "one-hot", "support": "bumps-and-stripes",
            "support_options": {}, "net": "mlp", "width": 16, "depth": 1, "steps": 30, "tasks": 16,
            "evaluations": 1}  # fmt: skip


def test_every_combination_is_drawn_once_and_scored_by_hand(small):
    task, support = trial.build_task(small), trial.build_support(small)
    run = train(task, support, trial.build_net(small), trial.build_recipe(small), progress=False, watch=())
    drawn = picture_trial.drawings(run)
    assert len(drawn.rows) == support.train.size + support.held_out.size == len(np.unique(drawn.rows, axis=0))
    assert (support.held_out.contains(drawn.rows) == drawn.held_out).all()
    batch = task.sample(key_for("any", 0), jnp.asarray(drawn.rows))
    output = np.asarray(run.nets[0](batch)[0]).reshape(drawn.outputs.shape)
    np.testing.assert_allclose(drawn.outputs, output, atol=1e-5)
    bumps = (drawn.rows < 6).all(1)  # stripes are trained on, and are no part of what is asked
    for stream, mask in (("held_out", drawn.held_out), ("test", ~drawn.held_out & bumps)):
        by_hand = drawn.errors[mask].mean() / (drawn.targets[mask] ** 2).mean()
        assert drawn.metrics[stream]["error"] == pytest.approx(by_hand, rel=1e-4)


def test_a_cell_keeps_drawings_of_the_first_seed_only(small):
    first = picture_trial.measure(small, Context())
    kept = first.facts["drawings"]
    assert len(kept["pictures"]) == keeping.SHOWN
    hole = trial.build_support(small).held_out.combinations()
    for picture in kept["pictures"]:
        assert picture["at"] in hole.tolist()
        x, y = picture["at"]
        truth = shades.unpack(picture["target"])
        assert truth[y, x] == pytest.approx(1.0) and truth.shape == (6, 6)
    grid = shades.unpack(kept["error_map"])
    assert grid.shape == (6, 6)  # without the places of stripes
    x, y, width, height = kept["hole"]
    assert (width, height) == tuple(np.ptp(hole, axis=0) + 1) and np.isfinite(grid[y : y + height, x : x + width]).all()
    assert "drawings" not in picture_trial.measure(small | {"seed": 1}, Context()).facts


def test_the_first_half_of_the_steps_can_have_other_data(small):
    """Bumps alone after stripes alone is not the same as both at once, and each is a function of its spec."""
    bumps, only = ({"support_options": {"stripes": 0}}, {"support_options": {"bumps": 0}})
    staged = [picture_trial.measure(small | bumps, Context(), first=small | only) for _ in range(2)]
    plain = picture_trial.measure(small | bumps, Context())
    values = [[row["value"] for row in one.rows if row["reading"] == "score"] for one in (*staged, plain)]
    assert values[0] == values[1] != values[2]


# -- bisection ----------------------------------------------------------------------------------------------------
@given(st.integers(1, 40), st.integers(2, 3000), st.integers(1, 4000))
@settings(deadline=None)
def test_bisection_finds_what_is_enough_within_a_factor(low, span, enough_from):
    most, tried = low + span, []
    enough_from = max(enough_from, low + 1)

    def enough(n: int) -> bool:
        tried.append(n)
        return n >= enough_from

    found = bisection.smallest_enough(low, most, enough)
    assert len(tried) == len(set(tried)) and all(low < n <= most for n in tried)
    assert len(tried) <= 2 * bisection.expected_tries(low, most) + 2
    if enough_from > most:
        assert found is None and tried == [most]
    else:
        assert found is not None and enough_from <= found <= max(enough_from * bisection.CLOSE, enough_from + 1)


# -- readings on planted tables -----------------------------------------------------------------------------------
def failing(**errors: tuple[float, float]) -> pandas.DataFrame:
    rows = []
    for net, (test, held_out) in errors.items():
        common = {"net": net.replace("_", "-"), "depth": 2, "encoding": "bump", "cell": net}
        rows += score_rows(common, test, held_out)
    return pandas.DataFrame(rows)


def test_failure_is_a_factor_above_a_floor_and_asks_that_something_was_learned():
    table = failing(mlp=(0.1, 0.9), cnn_decoder=(0.0001, 0.8), coordinate_mlp=(1e-6, 4e-5))
    assert factorized_fails.least_failure(table, "mlp") == pytest.approx(9.0)
    assert factorized_fails.least_error(table) == pytest.approx(0.8)
    assert factorized_fails.control_error(table) == pytest.approx(4e-5)
    # two tiny errors differ by a factor, and that is no failure
    tiny = failing(mlp=(1e-6, 1e-3))
    assert factorized_fails.least_failure(tiny, "mlp") == pytest.approx(0.05)
    with pytest.raises(NotMet, match="did not learn"):
        factorized_fails.least_failure(failing(mlp=(0.5, 5.0)), "mlp")
    with pytest.raises(NotMet, match="coordinate-mlp not run"):
        factorized_fails.control_error(failing(mlp=(0.1, 0.9)))


def striped(values: dict[tuple[int, int, str], tuple[float, float]]) -> pandas.DataFrame:
    """(stripes, bumps, variant) -> held-out error and share in place, of an MLP."""
    rows = []
    for (n, m, variant), (error, localized) in values.items():
        common = {"net": "mlp", "stripes": n, "bumps": m, "variant": variant, "cell": f"{n} {m} {variant}"}
        rows += score_rows(common, 0.0, error, localized)
    return pandas.DataFrame(rows)


def test_stripes_tell_where_from_how():
    table = striped({(0, 100, "mixed"): (1.0, 0.1), (24, 100, "mixed"): (2.0, 0.9), (24, 10, "mixed"): (4.0, 0.7),
                     (0, 10, "mixed"): (1.0, 0.0), (24, 100, "masked"): (1.0, 0.3)})  # fmt: skip
    assert stripes.least_error(table) == 2.0 and stripes.loss_of_error(table) == pytest.approx(2.0)
    assert stripes.gain_of_place(table) == pytest.approx(0.8) and stripes.loss_by_mask(table) == pytest.approx(0.6)
    assert stripes.place_with_few(table) == pytest.approx(0.7)
    with pytest.raises(NotMet, match="masked, was not run"):
        stripes.loss_by_mask(table[table.variant == "mixed"])


def needed_table(needed: dict[tuple[int, bool], int | None], criterion: str = "localized") -> pandas.DataFrame:
    """(N, with stripes) -> pictures that are enough, of an MLP; None: never."""
    good, bad = (1.0, 0.0) if criterion == "localized" else (0.05, 0.5)
    rows = []
    for (size, with_stripes), n in needed.items():
        common = {"seed": 0, "net": "mlp", "size": size, "with_stripes": with_stripes, "reading": "tried",
                  "metric": criterion}  # fmt: skip
        rows += [common | {"pictures": 4096, "value": bad if n is None else good}]
        if n is not None:
            rows += [common | {"pictures": n, "value": good}, common | {"pictures": n - 1, "value": bad}]
    return pandas.DataFrame(rows)


@pytest.mark.parametrize("criterion", data_efficiency.CRITERIA)
def test_exponents_and_savings_of_planted_needs(criterion):
    sizes = (8, 12, 16)
    table = needed_table({(n, s): 2 * n if s else n**3 // 4 for n in sizes for s in (True, False)}, criterion)
    assert data_efficiency.exponent(table, "mlp", True, criterion) == pytest.approx(1.0)
    assert data_efficiency.exponent(table, "mlp", False, criterion) == pytest.approx(3.0, abs=0.02)
    wanted = np.mean([math.log2((n**3 // 4) / (2 * n)) for n in sizes])
    assert data_efficiency.saved(table, criterion) == pytest.approx(wanted)
    never = needed_table({(n, s): 2 * n if s else None for n in sizes for s in (True, False)}, criterion)
    with pytest.raises(NotMet, match="all 4096 pictures of size 8 were not enough"):
        data_efficiency.exponent(never, "mlp", False, criterion)
    assert data_efficiency.saved(never, criterion) == pytest.approx(np.mean([math.log2(4096 / (2 * n)) for n in sizes]))


def test_the_interval_of_an_exponent_covers_it_about_as_often_as_it_says():
    covered = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(size=(4, 4))
        rows = [{"series": "a", "size": n, "seed": s, "value": 3 * n**2 * math.exp(0.1 * noise[i, s])}
                for i, n in enumerate((8, 12, 16, 24)) for s in range(4)]  # fmt: skip
        rows += [{"series": "b", "size": n, "seed": 0, "value": math.nan} for n in (8, 12)]
        (fit,) = data_efficiency.fits(rows, draws=400)  # what was never reached has no exponent
        assert fit["series"] == "a" and fit["high"] - fit["low"] < 0.6
        covered.append(fit["low"] < 2 < fit["high"])
    assert np.mean(covered) > 0.75  # a bootstrap over sixteen points is a little narrow


def entangled(f: dict[tuple[str, float], float], errors: dict[tuple[str, float], float]) -> pandas.DataFrame:
    """(decoder, penalty) -> F of the last layer and held-out error; the first layer has 1."""
    rows = []
    for (decoder, penalty), last in f.items():
        common = {"decoder": decoder, "layers": 3, "encoding": "bump", "penalty": penalty, "everywhere": False,
                  "cell": f"{decoder} {penalty}"}  # fmt: skip
        rows += score_rows(common, 0.0, errors[decoder, penalty])
        for metric, value in (("factorization", last), ("factorization_untrained", 0.99)):
            rows += probe_rows(common, "geometry", metric, {"layer1/post": 1.0, "layer3/post": value, "output": 0.6})
    return pandas.DataFrame(rows)


def test_re_entanglement_is_read_at_hidden_layers_against_the_untrained_net():
    names = ("a", "b", "c", "d")
    f = {(name, 0.0): 1 - 0.1 * i for i, name in enumerate(names)} | {("a", 1.0): 0.999}
    errors = {(name, 0.0): 1 + 0.2 * i for i, name in enumerate(names)} | {("a", 1.0): 0.5}
    f["a", 0.0] = 0.95
    table = entangled(f, errors)
    assert re_entanglement.fall_by_training(table) == pytest.approx(np.mean([0.05, 0.1, 0.2, 0.3]) - 0.01)
    assert re_entanglement.prediction(table) == pytest.approx(1.0)
    assert re_entanglement.cure(table) == pytest.approx(0.5) and re_entanglement.raised(table, False) > 0
    with pytest.raises(NotMet, match="did not raise F"):
        re_entanglement.cure(entangled(f | {("a", 1.0): 0.9}, errors))
    with pytest.raises(NotMet, match="with and without"):
        re_entanglement.cure(table, everywhere=True)


def test_superposition_asks_failing_nets_that_fail_and_cured_ones_that_are_cured():
    def table(mlp: float, coordinate: float) -> pandas.DataFrame:
        rows = []
        for net, error, shared, truth in (("mlp", mlp, 0.7, 0.1), ("coordinate-mlp", coordinate, 0.3, 0.99)):
            common = {"net": net, "encoding": "one-hot", "cell": net}
            rows += score_rows(common, 0.0, error)
            rows += probe_rows(common, "superposition", "by_shared", {"": shared})
            rows += probe_rows(common, "superposition", "by_truth", {"": truth})
        return pandas.DataFrame(rows)

    assert superposition.blend_over_truth(table(1.0, 0.01)) == pytest.approx(0.6)
    assert superposition.truth_over_blend(table(1.0, 0.01)) == pytest.approx(0.69)
    with pytest.raises(NotMet, match="does not fail"):
        superposition.blend_over_truth(table(0.2, 0.01))
    with pytest.raises(NotMet, match="is not cured"):
        superposition.truth_over_blend(table(1.0, 0.4))


def test_rendering_is_compared_by_regularizer_and_target():
    errors = {("both", "bumps-v1"): 0.01, ("neither", "bumps-v1"): 2.0, ("entropy", "bumps-v1"): 0.3,
              ("variance", "bumps-v1"): 0.5, ("both", "ellipse-v1"): 0.2, ("both", "ring-v1"): 0.4}  # fmt: skip
    rows = []
    for (variant, target), error in errors.items():
        rows += score_rows({"variant": variant, "target": target, "cell": variant + target}, 0.0, error)
    table = pandas.DataFrame(rows)
    assert render.memorized(table) == 2.0 and render.worst_not_separable(table) == 0.4
    assert render.lost_alone(table) == pytest.approx(0.3 / picture_trial.FLOOR)
    with pytest.raises(NotMet, match="variance on bumps-v1 was not run"):
        render.lost_alone(table[table.variant != "variance"])


def test_tuning_counts_what_training_adds():
    rows = []
    for who, before, after in (("mlp", 0.4, 0.45), ("mlp-with-stripes", 0.4, 0.65), ("coordinate-mlp", 0.7, 0.75)):
        for metric, value in (("index", after), ("index_untrained", before)):
            rows += probe_rows({"who": who, "cell": who}, "tuning", metric, {"layer1/post": 0.9, "layer2/post": value})
    table = pandas.DataFrame(rows)
    assert tuning_curves.tuned_by(table, tuning_curves.STRIPES) == pytest.approx(0.2)
    assert tuning_curves.tuned_by(table, tuning_curves.COORDINATES) == pytest.approx(0.0)
    with pytest.raises(NotMet, match="with and without"):
        tuning_curves.tuned_by(table[table.who == "mlp"], tuning_curves.STRIPES)


# -- settings -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_paper_scale_is_the_published_setting(name):
    """28 pixels, AdamW at 1e-3 without schedule, batches of 32, decay .01; Plan A: 32 pixels, sigma 1.5, decay 1e-4."""
    study = registry[name]
    specs = study.grid(study.settings("paper"), 0)
    for spec in specs:
        recipe = trial.build_recipe(spec)
        assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.learning_rate) == (32, "constant", 0.0, 1e-3)
        assert recipe.weight_decay == (1e-4 if name == "render" else 0.01) and not recipe.nesterov
        if name == "render":
            assert (spec["size"], spec["task_options"]["sigma"], spec["support"]) == (32, 1.5, "corner")
            assert recipe.steps == 1000 * 624 // 32
        elif name != "data-efficiency":
            assert spec["size"] == 28
    if name == "factorized-fails":
        assert {spec["depth"] for spec in specs} == {2, 3, 4, 5, 6}
        assert {(s["net"], s["width"]) for s in specs} >= {
            ("cnn-decoder", 64),
            ("mlp", 256),
            ("pixel-transformer", 128),
        }


@pytest.mark.parametrize(
    "name, changes, words",
    [
        ("factorized-fails", {"encodings": "identity"}, "identity"),
        ("factorized-fails", {"nets": "transformer"}, "transformer"),
        ("factorized-fails", {"size": "1"}, "1"),
        ("stripes", {"variants": "maskd"}, "did you mean 'masked'"),
        ("data-efficiency", {"sizes": "3"}, "sizes=3"),
        ("render", {"task": "ring-v1"}, "ring-v1"),
        ("re-entanglement", {"outcome": "mesured"}, "did you mean 'measured'"),
        ("superposition", {"task": "hyperteacher-v1"}, "hyperteacher-v1"),
        ("tuning-curves", {"nets": ""}, "nets is empty"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(name, changes, words):
    study = registry[name]
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)


def test_published_recipe_is_that_of_the_cnn_sweep():
    """2,000 pictures, 50 epochs, batches of 32."""
    assert picture_trial.PUBLISHED.steps == 2000 * 50 // 32 and isinstance(picture_trial.PUBLISHED, Recipe)
