"""render: readings on planted tables, what is kept, its chart, the published setting, controls, refusals."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    paper_trials,
    score_rows,
    table_of,
)

from recombine import UserError, packed_images
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.nets import Rendering
from recombine.spaces import Product
from recombine.studies.liang2025 import drawn
from recombine.studies.liang2025 import render_readings as readings
from recombine.studies.liang2025 import render_weights as weights
from recombine.studies.liang2025.render import study
from recombine.tasks import Bumps

ERRORS = {
    ("as-published", "bumps-v1"): 0.01,
    ("neither", "bumps-v1"): 2.0,
    ("entropy", "bumps-v1"): 0.3,
    ("variance", "bumps-v1"): 0.5,
    ("normalized", "bumps-v1"): 0.06,
    ("as-published", "ellipse-v1"): 0.2,
    ("as-published", "ring-v1"): 0.4,
    ("as-published", "stripe-sum-v1"): 0.05,
}


def rendered(trained: float = 0.0) -> StudyTable:
    rows = []
    for (variant, target), error in ERRORS.items():
        rows += score_rows({"target": target, "variant": variant, "cell": variant + target}, trained, error)
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
def test_rendering_is_compared_by_regularizer_and_target():
    table = rendered()
    assert readings.error_of("as-published")(table) == 0.01 and readings.error_of("normalized")(table) == 0.06
    assert readings.memorized(table) == 2.0
    assert readings.not_separable(table) == {"turned ellipses": 0.2, "rings": 0.4}
    alone = {"entropy alone": 0.3 / drawn.FLOOR, "variance alone": 0.5 / drawn.FLOOR}
    assert readings.lost_alone(table) == pytest.approx(alone)
    found = {one.id: one.reading(table) for one in study.measurements}
    assert found == {"stripe-sum-v1": 0.05, "ellipse-v1": 0.2, "ring-v1": 0.4}


def test_published_weights_are_kept_where_published_and_count_as_much_for_smaller_pictures():
    """Each term at the start, by the error of an empty picture, is what it is at N = 32, sigma = 1.5."""
    assert (weights.weight("entropy", 32, 1.5), weights.weight("variance", 32, 1.5)) == (0.1, 0.01)
    for term, published in (("entropy", 0.1), ("variance", 0.01)):
        counted = [
            weight * weights.at_start(term, n) / weights.empty_error(n, sigma)
            for n, sigma, weight in ((32, 1.5, published), (12, 1.0, weights.weight(term, 12, 1.0)))
        ]
        assert counted[1] == pytest.approx(counted[0], rel=0.01)


@pytest.mark.parametrize("size", [12, 32])
def test_the_expected_regularizers_are_those_of_fresh_nets(size):
    """The closed forms against drawn nets: a mean of three, within a few percent."""
    task = Bumps(Product(x=size, y=size), encoding="one-hot")
    pages = [Rendering().build(task, jax.random.key(seed)).pages for seed in range(3)]
    entropy = np.mean([sum(float(page.entropy()) for page in both) for both in pages])
    variance = np.mean([sum(float(page.variance("raw")) for page in both) for both in pages])
    assert entropy == pytest.approx(weights.at_start("entropy", size), rel=0.05)
    assert variance == pytest.approx(weights.at_start("variance", size), rel=0.05)


def test_what_cannot_be_read_says_why():
    table = rendered()
    with pytest.raises(PreconditionFailed, match="variance on bumps-v1 was not run"):
        readings.lost_alone(table[table.variant != "variance"])
    with pytest.raises(PreconditionFailed, match="as-published on ring-v1 was not run"):
        readings.not_separable(table[table.target != "ring-v1"])
    with pytest.raises(PreconditionFailed, match="the net without regularizers did not learn what it was trained on"):
        readings.memorized(rendered(trained=0.5))


# -- charts -----------------------------------------------------------------------------------------------------------
def test_its_chart_has_one_row_per_target_and_variant_in_words():
    (figure,) = study.figures(rendered(trained=0.1))
    rows = figure.spec["data"]["values"]
    shown = {(row["what"], row["series"]): row["value"] for row in rows}
    assert len(rows) == 2 * len(ERRORS)
    assert shown["bumps, neither", "held out"] == 2.0 and shown["rings, as-published", "trained"] == 0.1
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
        page = packed_images.unpack(one["shades"])
        assert page.shape == (5, 5) and np.abs(page).max() == pytest.approx(1.0, abs=0.01)
    factors, drawings, errors = study.image_grids([first, second])
    assert (factors.title, drawings.title, errors.title) == (
        "What each factor is drawn as",
        "What is drawn at places never trained",
        "Where it errs",
    )
    assert [name for name, _ in factors.rows] == ["bumps, neither"] and errors.columns == ("bumps, neither",)
    assert study.label(cells[0].spec) == "bumps, neither, seed 0"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_other_targets_are_drawn_with_both_regularizers():
    places = [tuple(spec["at"].values()) for spec in study.grid(study.settings("laptop"), 0)]
    bumps = [variant for target, variant in places if target == "bumps-v1"]
    assert bumps == ["as-published", "normalized", "entropy", "variance", "neither"]
    assert places[5:] == [("ellipse-v1", "as-published"), ("ring-v1", "as-published")]


def test_paper_scale_is_the_published_setting():
    """Plan A: 32 pixels, sigma 1.5, decay 1e-4, 1000 epochs of 624 pictures in batches of 32."""
    trials = paper_trials(study)
    for trial in trials:
        recipe = trial.build_stages()[-1].recipe
        assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.learning_rate) == (32, "constant", 0.0, 1e-3)
        assert recipe.weight_decay == 1e-4 and not recipe.nesterov and recipe.steps == 1000 * 624 // 32
        assert (trial.world["space"]["size"], trial.world["sigma"], trial.support["name"]) == (32, 1.5, "corner")
    both = trials[0].stages[0]["net"]
    assert (both["entropy"], both["variance"], both["variance_of"]) == (0.1, 0.01, "raw")
    assert_one_step_can_be_taken(trials[0])


def test_in_lookup_every_target_is_drawn_by_lot_and_in_indifferent_one_regularizer_is_both():
    lookup = study.grid(study.settings("smoke", study.control("lookup")), 0)
    assert {spec["at"]["target"] for spec in lookup} == {"bumps-v1", "ellipse-v1", "ring-v1"}
    assert {spec["trial"]["world"]["name"] for spec in lookup} == {"bumps-lookup-v1"}
    indifferent = study.grid(study.settings("smoke", study.control("indifferent")), 0)
    nets = {spec["at"]["variant"]: spec["trial"]["stages"][0]["net"] for spec in indifferent}
    assert nets["as-published"] == nets["entropy"] == nets["variance"] != nets["neither"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"world": "ring-v1"}, "unknown world of render 'ring-v1'"),
        ({"target": "rings-v1"}, "did you mean 'ring-v1'"),
        ({"variant": "normalised"}, "did you mean 'normalized'"),
        ({"size": "4"}, "size=4 is too small; it must be at least 5"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
