"""joint-scaling: an interaction of width and stored examples, read off four corners of a map."""

from __future__ import annotations

import pytest
from paper_scale import scores_table

from recombine.lab.study_table import PreconditionFailed
from recombine.studies import registry
from recombine.studies.redhardt2025 import joint_scaling_readings as read
from recombine.training import Recipe

STUDY = registry["joint-scaling"]
ERRORS = {(16, 4): 0.8, (16, 64): 0.6, (256, 4): 0.4, (256, 64): 0.1}


def planted_map(errors=ERRORS):
    return scores_table([{"width": w, "examples": n, "value": 1 - error} for (w, n), error in errors.items()])


def test_it_reads_the_corners_of_its_map():
    table = planted_map()
    assert read.both_scaled(table) == pytest.approx(0.9)
    assert read.width_gain(table) == pytest.approx(0.5)
    assert read.examples_gain(table) == pytest.approx(0.3)
    assert read.interaction(table) == pytest.approx((0.6 / 0.1) / (0.8 / 0.4))
    assert read.interaction_of_scores(table) == pytest.approx(0.5 - 0.4)


def test_where_each_divides_the_error_by_itself_there_is_no_interaction_though_scores_show_one():
    table = planted_map({(16, 4): 0.8, (16, 64): 0.4, (256, 4): 0.4, (256, 64): 0.2})
    assert read.interaction(table) == pytest.approx(1.0)
    assert read.interaction_of_scores(table) == pytest.approx(-0.2)


def test_what_lies_between_the_corners_changes_nothing():
    between = {(64, 4): 0.5, (64, 64): 0.5, (16, 16): 0.7, (64, 16): 0.7, (256, 16): 0.3}
    assert read.interaction(planted_map(ERRORS | between)) == pytest.approx(read.interaction(planted_map()))


def test_a_map_with_holes_is_not_read():
    with pytest.raises(PreconditionFailed, match="the map has holes: nets that were not run or diverged"):
        read.interaction(planted_map({place: e for place, e in ERRORS.items() if place != (256, 4)}))
    with pytest.raises(PreconditionFailed, match="at least two widths and two numbers of examples"):
        read.interaction(planted_map().where(width=16))


def test_its_cells_differ_in_what_is_stored_and_in_nothing_else_of_the_data():
    trials = [spec["trial"] for spec in STUDY.grid(STUDY.settings("laptop"), 0)]
    assert {str(trial["support"]) for trial in trials} == {str(trials[0]["support"])}
    recipes = [Recipe(**trial["stages"][0]["recipe"]) for trial in trials]
    assert {recipe.examples for recipe in recipes} == {4, 64, 2**20} and len(
        {recipe.shape() for recipe in recipes}
    ) == 1


def test_its_curves_begin_at_one_and_its_map_rises():
    heat, curves = STUDY.figures(planted_map())
    rows = curves.spec["data"]["values"]
    assert {row["value"] for row in rows if row["width"] == 16} == {1.0}
    assert max(row["value"] for row in rows) == pytest.approx(6.0)
    assert [row["examples"] for row in heat.spec["data"]["values"]] == ["4", "4", "64", "64"]
