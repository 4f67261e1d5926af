"""tuning-curves: readings on planted tables, curves and maps of units, the published setting, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    probe_rows,
    score_rows,
    table_of,
)

from recombine import UserError, packed_images
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.record import Record, tidy
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import tuned_units
from recombine.studies.liang2025 import tuning_curves_readings as readings
from recombine.studies.liang2025.tuning_curves import study


def tuned(trained: float = 0.0) -> StudyTable:
    rows = []
    for who, before, after in (("mlp", 0.4, 0.45), ("mlp-with-stripes", 0.4, 0.65), ("coordinate-mlp", 0.7, 0.75)):
        for metric, value in (("index", after), ("index_untrained", before)):
            rows += probe_rows({"who": who, "cell": who}, "tuning", metric, {"layer1/post": 0.9, "layer2/post": value})
        rows += score_rows({"who": who, "cell": who}, trained, 1.0)
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
def test_tuning_counts_what_training_adds():
    table = tuned()
    assert readings.tuned_by_stripes(table) == {"MLP, with stripes against MLP": pytest.approx(0.2)}
    assert readings.tuned_by_coordinates(table) == {"coordinate net against MLP": pytest.approx(0.0)}
    (unmet,) = readings.tuned_by_stripes(tuned(trained=0.5)).values()
    assert isinstance(unmet, PreconditionFailed) and "did not learn what it was trained on" in str(unmet)
    assert readings.of_last_layer("mlp-with-stripes", "index")(table) == pytest.approx(0.65)


def test_what_cannot_be_read_says_why():
    alone = tuned().where(who="mlp")
    with pytest.raises(PreconditionFailed, match="it takes nets with and without"):
        readings.tuned_by_stripes(alone)
    with pytest.raises(PreconditionFailed, match="cnn was not run"):
        readings.of_last_layer("cnn", "index")(alone)
    with pytest.raises(PreconditionFailed, match="tuning has no readings of hidden layers"):
        readings.of_last_layer("mlp", "dead")(alone)


# -- charts -----------------------------------------------------------------------------------------------------------
def test_the_first_chart_has_one_line_per_net_through_its_layers():
    (figure,) = study.figures(tuned())
    rows = figure.spec["data"]["values"]
    assert {(row["series"], row["layer"]) for row in rows} == {
        (name, layer) for name in ("MLP", "MLP, with stripes", "coordinate net") for layer in ("layer1", "layer2")
    }
    assert_says_so_without_records(study)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Both smoke nets on five pixels, of two seeds, hardly trained."""
    settings = study.settings("smoke", {"size": 5, "steps": 2})
    specs = [spec for seed in (0, 1) for spec in study.grid(settings, seed)]
    return [study.compute(Cell(study.id, study.version, spec), Context()) for spec in specs]


def test_units_of_the_first_seed_have_curves_that_are_the_means_of_their_maps(records):
    first, _, third, _ = records
    assert "units" in first.facts and "units" not in third.facts
    assert not [row for row in third.rows if row["reading"] == "tuning_curve"]
    units = first.facts["units"]
    assert 1 <= len(units) <= tuned_units.SHOWN
    assert [unit["index"] for unit in units] == sorted(unit["index"] for unit in units)
    curves = [row for row in first.rows if row["reading"] == "tuning_curve"]
    assert {row["layer"] for row in curves} == {"layer2/post"}
    for unit in units:
        page = packed_images.unpack(unit["map"])  # (y, x)
        for factor, axis in (("x", 0), ("y", 1)):
            values = [r["value"] for r in curves if (r["unit"], r["group"]) == (unit["unit"], factor)]
            np.testing.assert_allclose(values, page.mean(axis), atol=np.ptp(page) / 100)


def test_there_is_one_chart_of_curves_and_one_row_of_maps_per_net(records):
    titles = [figure.title for figure in study.figures(study.table(tidy(records)))]
    assert titles[1:] == ["Tuning curves, MLP", "Tuning curves, MLP, with stripes"]
    caption = study.figures(study.table(tidy(records)))[1].caption
    assert caption.startswith("Mean activation along x and y of some units of layer2, from the least to the most")
    (grid,) = study.image_grids(records)
    assert [name for name, _ in grid.rows] == ["MLP", "MLP, with stripes"]
    assert len({len(images) for _, images in grid.rows}) == 1 and grid.title == "Units over the frame"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_only_some_nets_are_trained_with_stripes():
    specs = study.grid(study.settings("laptop"), 0)
    without = {spec["at"]["who"] for spec in specs if spec["trial"]["support"].get("stripes") == 0}
    assert without == {"mlp", "cnn", "coordinate-mlp"} and len(specs) == 5
    assert study.label(specs[1]) == "MLP, with stripes, seed 0"


def test_paper_scale_is_the_published_setting():
    trials = paper_trials(study)
    assert all(trial.world["space"]["size"] == 28 for trial in trials)
    assert_trained_as_published(study)
    assert_one_step_can_be_taken(trials[0])


def test_in_its_control_every_net_is_the_same_one():
    trials = [spec["trial"] for spec in study.grid(study.settings("smoke", study.control("same-arms")), 0)]
    assert len({trial["seed"] for trial in trials}) == len(trials) == 3
    assert [trial["support"] for trial in trials] == [{"name": "bumps-and-stripes", "stripes": 0}] * 3
    assert {trial["stages"][0]["net"]["name"] for trial in trials} == {"mlp"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"who": ""}, "is empty; give at least one value"),
        ({"who": "cnn-with-stripe"}, "did you mean 'cnn-with-stripes'"),
        ({"size": "4"}, "size=4 is too small; it must be at least 5"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
