"""render: readings on planted tables, what is kept, its chart, the published setting, controls, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from recombine import UserError, shades
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import drawn
from recombine.studies.liang2025 import render_readings as readings
from recombine.studies.liang2025.render import study

from .drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    paper_trials,
    score_rows,
    table_of,
)

ERRORS = {
    ("both", "bumps-v1"): 0.01,
    ("neither", "bumps-v1"): 2.0,
    ("entropy", "bumps-v1"): 0.3,
    ("variance", "bumps-v1"): 0.5,
    ("as-published", "bumps-v1"): 0.06,
    ("both", "ellipse-v1"): 0.2,
    ("both", "ring-v1"): 0.4,
    ("both", "stripe-sum-v1"): 0.05,
}


def rendered(trained: float = 0.0) -> StudyTable:
    rows = []
    for (variant, target), error in ERRORS.items():
        rows += score_rows({"target": target, "variant": variant, "cell": variant + target}, trained, error)
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
def test_rendering_is_compared_by_regularizer_and_target():
    table = rendered()
    assert readings.with_both(table) == 0.01
    assert readings.memorized(table) == 2.0 and readings.worst_not_separable(table) == 0.4
    assert readings.lost_alone(table) == pytest.approx(0.3 / drawn.FLOOR)
    found = {one.id: one.reading(table) for one in study.measurements}
    assert found == {"as-published": 0.06, "stripe-sum-v1": 0.05, "ellipse-v1": 0.2, "ring-v1": 0.4}


def test_what_cannot_be_read_says_why():
    table = rendered()
    with pytest.raises(PreconditionFailed, match="variance on bumps-v1 was not run"):
        readings.lost_alone(table[table.variant != "variance"])
    with pytest.raises(PreconditionFailed, match="both on ring-v1 was not run"):
        readings.worst_not_separable(table[table.target != "ring-v1"])
    with pytest.raises(PreconditionFailed, match="the net without regularizers did not learn what it was trained on"):
        readings.memorized(rendered(trained=0.5))


# -- charts -----------------------------------------------------------------------------------------------------------
def test_its_chart_has_one_row_per_target_and_variant_in_words():
    (figure,) = study.figures(rendered(trained=0.1))
    rows = figure.spec["data"]["values"]
    shown = {(row["what"], row["series"]): row["value"] for row in rows}
    assert len(rows) == 2 * len(ERRORS)
    assert shown["bumps, neither", "held out"] == 2.0 and shown["rings, both", "trained"] == 0.1
    assert figure.caption.endswith("An arrow marks a point beyond the axis.")
    assert_says_so_without_records(study)


def test_the_first_seed_keeps_what_each_factor_is_drawn_as():
    small = {"size": 5, "steps": 2, "variant": ["neither"]}
    cells = [
        Cell(study.id, study.version, spec)
        for seed in (0, 1)
        for spec in study.grid(study.settings("smoke", small), seed)
    ]
    first, second = (study.compute(cell, Context()) for cell in cells)
    assert "rendered" not in second.facts and "drawings" not in second.facts
    kept = first.facts["rendered"]
    assert [one["name"] for one in kept] == ["x = 1", "x = 3", "y = 1", "y = 3"]
    for one in kept:
        page = shades.unpack(one["shades"])
        assert page.shape == (5, 5) and np.abs(page).max() == pytest.approx(1.0, abs=0.01)
    factors, drawings, errors = study.plates([first, second])
    assert (factors.title, drawings.title, errors.title) == (
        "What each factor is drawn as",
        "What is drawn at places never trained",
        "Where it errs",
    )
    assert [name for name, _ in factors.rows] == ["bumps, neither"] and errors.columns == ("bumps, neither",)
    assert study.label(cells[0].spec) == "bumps, neither, seed 0"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_other_targets_are_drawn_with_both_and_with_neither():
    places = [tuple(spec["at"].values()) for spec in study.grid(study.settings("laptop"), 0)]
    bumps = [variant for target, variant in places if target == "bumps-v1"]
    assert bumps == ["both", "entropy", "variance", "neither", "as-published"] and len(places) == 5 + 3 * 2
    assert {variant for target, variant in places if target != "bumps-v1"} == {"both", "neither"}


def test_paper_scale_is_the_published_setting():
    """Plan A: 32 pixels, sigma 1.5, decay 1e-4, 1000 epochs of 624 pictures in batches of 32."""
    trials = paper_trials(study)
    for trial in trials:
        recipe = trial.build_stages()[-1].recipe
        assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.learning_rate) == (32, "constant", 0.0, 1e-3)
        assert recipe.weight_decay == 1e-4 and not recipe.nesterov and recipe.steps == 1000 * 624 // 32
        assert (trial.world["space"]["size"], trial.world["sigma"], trial.support["name"]) == (32, 1.5, "corner")
    both = trials[0].stages[0]["net"]
    assert (both["entropy"], both["variance"]) == (0.1, 0.01) and "variance_of" not in both
    assert_one_step_can_be_taken(trials[0])


def test_in_lookup_every_target_is_drawn_by_lot_and_in_indifferent_one_regularizer_is_both():
    lookup = study.grid(study.settings("smoke", study.control("lookup")), 0)
    assert {spec["at"]["target"] for spec in lookup} == {"bumps-v1", "ellipse-v1", "ring-v1"}
    assert {spec["trial"]["world"]["name"] for spec in lookup} == {"bumps-lookup-v1"}
    indifferent = study.grid(study.settings("smoke", study.control("indifferent")), 0)
    nets = {spec["at"]["variant"]: spec["trial"]["stages"][0]["net"] for spec in indifferent}
    assert nets["both"] == nets["entropy"] == nets["variance"] != nets["neither"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"world": "ring-v1"}, "unknown world of render 'ring-v1'"),
        ({"target": "rings-v1"}, "did you mean 'ring-v1'"),
        ({"variant": "bth"}, "did you mean 'both'"),
        ({"size": "4"}, "size=4 is too small; it must be at least 5"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
