"""factorized-fails: what is trained in each cell, readings on planted tables, its chart, the published setting."""

from __future__ import annotations

import re

import jax.numpy as jnp
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    paper_trials,
    score_rows,
    table_of,
)

from recombine import UserError
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.nets import MLP, CNNDecoder, PixelTransformer
from recombine.studies.liang2025 import factorized_fails_readings as readings
from recombine.studies.liang2025.factorized_fails import study


def failing(**errors: tuple[float, float]) -> StudyTable:
    """Trained and held-out errors by net."""
    rows = []
    for net, (test, held_out) in errors.items():
        common = {"net": net.replace("_", "-"), "depth": 2, "encoding": "bump", "cell": net}
        rows += score_rows(common, test, held_out, localized=1 - held_out)
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
def test_failure_is_a_factor_above_a_floor_and_asks_that_something_was_learned():
    table = failing(mlp=(0.1, 0.9), cnn_decoder=(0.0001, 0.8), coordinate_mlp=(1e-6, 4e-5))
    assert readings.failures_of("mlp")(table) == {"mlp of depth 2, bump": pytest.approx(9.0)}
    both = {"mlp of depth 2, bump": 0.9, "cnn-decoder of depth 2, bump": 0.8}
    assert readings.errors_of_plain(table) == pytest.approx(both)
    one_hot = table_of([row | {"encoding": "one-hot"} for row in table.frame.to_dict("records")])
    assert readings.coordinates_error(one_hot) == {"coordinate-mlp of depth 2, one-hot": pytest.approx(4e-5)}
    assert readings.most_localized("cnn-decoder")(table) == pytest.approx(0.2)
    # two tiny errors differ by a factor, and that is no failure
    tiny = failing(mlp=(1e-6, 1e-3))
    assert readings.failures_of("mlp")(tiny) == {"mlp of depth 2, bump": pytest.approx(0.05)}


def test_what_cannot_be_read_says_why():
    untrained = failing(mlp=(0.5, 5.0))
    words = r"mlp of depth 2, bump did not learn what it was trained on \(error 0\.50, above 0\.25\); train longer"
    (unmet,) = readings.failures_of("mlp")(untrained).values()  # a finding of this cell, beside the others
    assert isinstance(unmet, PreconditionFailed) and re.match(words, str(unmet))
    half = failing(mlp=(0.5, 5.0), cnn_decoder=(0.1, 0.9))
    unmet, known = readings.errors_of_plain(half).values()
    assert {type(unmet), type(known)} == {PreconditionFailed, float}
    with pytest.raises(PreconditionFailed, match="coordinate-mlp not run"):
        readings.coordinates_error(untrained)
    table = failing(cnn_decoder=(0.1, 0.9))
    with pytest.raises(PreconditionFailed, match=r"cnn-decoder of depth 2, bump has no score \(not run, failed,"):
        readings.most_localized("cnn-decoder")(table.where(stream="test"))


# -- charts -----------------------------------------------------------------------------------------------------------
def test_its_chart_has_one_row_per_net_and_depth_and_leaves_out_what_is_undefined():
    table = failing(mlp=(0.1, 0.9), cnn_decoder=(0.0001, 0.8), coordinate_mlp=(0.1, float("nan")))
    (figure,) = study.figures(table)
    shown = {row["net"]: row["value"] for row in figure.spec["data"]["values"]}
    assert shown == {"mlp, 2": pytest.approx(9.0), "cnn-decoder, 2": pytest.approx(40.0)}  # over the floor of .02
    assert figure.title == "How much worse on unseen combinations" and "one point per seed" in figure.caption
    assert_says_so_without_records(study)


# -- settings ---------------------------------------------------------------------------------------------------------
def test_a_transformer_has_depths_steps_and_heads_of_its_own():
    trials = {tuple(spec["at"].values()): spec["trial"] for spec in study.grid(study.settings("laptop"), 0)}
    assert len(trials) == 3 * (1 + 1) + 1 + 1
    steps = {place: trial["stages"][0]["recipe"]["steps"] for place, trial in trials.items()}
    assert {place[:2]: steps[place] for place in trials if place[0] == "pixel-transformer"} == {
        ("pixel-transformer", 2): 2000
    }
    assert steps["mlp", 4, "bump"] == 40_000 and steps["coordinate-mlp", 2, "one-hot"] == 30_000
    net = trials["pixel-transformer", 2, "bump"]["stages"][0]["net"]
    assert net == {
        "name": "pixel-transformer",
        "width": 16,
        "depth": 2,
        "heads": 2,
        "feedforward": 64,
        "dropout": 0.0,
    }
    assert trials["cnn-decoder", 2, "bump"]["stages"][0]["net"]["base"] == 4  # 16 pixels: it doubles twice
    assert trials["cnn-decoder", 2, "bump"]["world"]["encoding"] == "bump"


#: of each net at paper scale: depths, epochs, pictures of an epoch, decay
PUBLISHED = {
    "mlp": ({3, 4, 5, 6, 7}, 20, 2000, 0.01),
    "cnn-decoder": ({2, 3, 4, 5, 6}, 50, 2000, 0.01),
    "pixel-transformer": ({2, 3, 4, 5}, 20, 2000, 0.01),
    "coordinate-mlp": ({2, 4}, 2000, 28**2 - 14**2, 1e-4),
}


def test_paper_scale_is_the_published_setting():
    """Dark bumps on 28 x 28 white pixels; nets, depths and steps as in the public scripts; torch's initialization."""
    trials = paper_trials(study)
    assert all(trial.world["space"]["size"] == 28 and trial.world["polarity"] == "dark" for trial in trials)
    task = trials[0].build_task()
    assert task.background == 1.0 and float(task.picture(jnp.asarray([[3.0, 5.0]]))[0, 5, 3]) == 0.0
    for name, (depths, epochs, epoch, decay) in PUBLISHED.items():
        stages = [trial.build_stages()[0] for trial in trials if trial.stages[0]["net"]["name"] == name]
        assert {stage.net.depth for stage in stages} == depths
        assert {stage.recipe.steps for stage in stages} == {epochs * epoch // 32}
        assert {stage.recipe.weight_decay for stage in stages} == {decay}
        recipe = stages[0].recipe
        assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.learning_rate) == (32, "constant", 0.0, 1e-3)
    nets = {(trial.stages[0]["net"]["name"], trial.world["encoding"]): trial.build_stages()[0].net for trial in trials}
    assert nets["pixel-transformer", "bump"] == PixelTransformer(depth=5)  # whose defaults are torch's
    assert nets["mlp", "bump"] == MLP(256, 7, initial="uniform") and nets["mlp", "ramp"].width == 128
    assert nets["cnn-decoder", "bump"] == CNNDecoder(64, 6, base=7) and nets["coordinate-mlp", "one-hot"].width == 256
    assert_one_step_can_be_taken(next(trial for trial in trials if trial.stages[0]["net"]["name"] == "mlp"))


def test_what_paper_scale_changes_stays_at_the_other_scales():
    """Bright pictures, and MLPs as they were; a net without steps of its own has those that are set."""
    for spec in study.grid(study.settings("laptop", {"steps": 7}), 0):
        trial = spec["trial"]
        assert "polarity" not in trial["world"] and "initial" not in trial["stages"][0]["net"]
        if spec["at"]["net"] == "cnn-decoder":
            assert trial["stages"][0]["recipe"]["steps"] == 7 and trial["stages"][0]["recipe"]["weight_decay"] == 0.01


def test_a_control_has_the_nets_that_its_claims_are_about():
    def trained(control: str) -> set[tuple[str, str]]:
        specs = study.grid(study.settings("smoke", study.control(control)), 0)
        return {(spec["trial"]["world"]["name"], spec["at"]["net"]) for spec in specs}

    assert trained("lookup") == {("bumps-lookup-v1", "coordinate-mlp")}
    assert trained("indifferent") == {("bumps-indifferent-v1", "mlp"), ("bumps-indifferent-v1", "cnn-decoder")}
    assert trained("indifferent-transformer") == {("bumps-indifferent-v1", "pixel-transformer")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"encoding": "identity"}, "identity"),
        ({"net": "transformer"}, "unknown name in net 'transformer'; did you mean 'pixel-transformer'"),
        ({"size": "1"}, "size=1 is too small; it must be at least 5"),
        ({"depth": "0"}, "depth=0"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
