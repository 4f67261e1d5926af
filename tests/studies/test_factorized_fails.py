"""factorized-fails: what is trained in each cell, readings on planted tables, its chart, the published setting."""

from __future__ import annotations

import pytest

from recombine import UserError
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import factorized_fails_readings as readings
from recombine.studies.liang2025.factorized_fails import study

from .drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    score_rows,
    table_of,
)


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
    assert readings.least_failure("mlp")(table) == pytest.approx(9.0)
    assert readings.least_error(table) == pytest.approx(0.8)
    assert readings.coordinates_error(table) == pytest.approx(4e-5)
    assert readings.most_localized("cnn-decoder")(table) == pytest.approx(0.2)
    # two tiny errors differ by a factor, and that is no failure
    tiny = failing(mlp=(1e-6, 1e-3))
    assert readings.least_failure("mlp")(tiny) == pytest.approx(0.05)


def test_what_cannot_be_read_says_why():
    untrained = failing(mlp=(0.5, 5.0))
    words = r"mlp of depth 2, bump did not learn what it was trained on \(error 0\.50, above 0\.25\); train longer"
    with pytest.raises(PreconditionFailed, match=words):
        readings.least_failure("mlp")(untrained)
    with pytest.raises(PreconditionFailed, match="did not learn"):
        readings.least_error(untrained)
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
    assert len(trials) == 3 * (2 + 2 + 1 + 2)
    steps = {place: trial["stages"][0]["recipe"]["steps"] for place, trial in trials.items()}
    assert {place[:2]: steps[place] for place in trials if place[0] == "pixel-transformer"} == {
        ("pixel-transformer", 2): 900
    }
    assert steps["mlp", 3, "bump"] == 3000
    net = trials["pixel-transformer", 2, "bump"]["stages"][0]["net"]
    assert net == {"name": "pixel-transformer", "width": 16, "depth": 2, "heads": 2}
    assert trials["cnn-decoder", 3, "bump"]["stages"][0]["net"]["base"] == 3  # 12 pixels: it doubles twice
    assert trials["cnn-decoder", 3, "bump"]["world"]["encoding"] == "bump"


def test_paper_scale_is_the_published_setting():
    """28 pixels, 64 channels, depths 2 to 6."""
    trials = paper_trials(study)
    nets = [trial.stages[0]["net"] for trial in trials]
    assert all(trial.world["space"]["size"] == 28 for trial in trials)
    assert {net["depth"] for net in nets} == {2, 3, 4, 5, 6}
    widths = {(net["name"], net["width"]) for net in nets}
    assert widths >= {("cnn-decoder", 64), ("mlp", 256), ("pixel-transformer", 128)}
    assert {net["base"] for net in nets if net["name"] == "cnn-decoder"} == {7}
    assert_trained_as_published(study)
    assert_one_step_can_be_taken(next(trial for trial in trials if trial.stages[0]["net"]["name"] == "mlp"))


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
