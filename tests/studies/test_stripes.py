"""stripes: what is trained in each cell, readings on planted tables, charts, the published setting, refusals."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    planted_table,
    score_rows,
    table_of,
)

from recombine import UserError, packed_images
from recombine.context import Context
from recombine.keys import key_for
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import stripes_readings as readings
from recombine.studies.liang2025.stripes import study
from recombine.studies.liang2025.stripes_grid import VARIANTS
from recombine.training import train
from recombine.trials import Trial, keeping
from recombine.trials.measure import every_combination, every_rows

SMALL = {"size": 6, "mlp:net.width": 16, "mlp:net.depth": 1, "steps": 30, "tasks": 16}


def small_spec(variant: str = "mixed", seed: int = 0, stripes: float = 1.0) -> dict:
    """A cell of a small grid with all bumps and a share of the stripes."""
    changes = SMALL | {"variant": [variant], "stripes": [stripes], "bumps": [500]}
    (spec,) = study.grid(study.settings("smoke", changes), seed)
    return spec


# -- what is trained ------------------------------------------------------------------------------------------------
def test_stripes_are_shares_of_all_and_more_bumps_than_there_are_means_all():
    """At 12 pixels there are 24 stripes, and 12 x 12 bumps of which 7 x 7 are the hole."""
    mixed = [spec["at"] for spec in study.grid(study.settings("laptop"), 0) if spec["at"]["variant"] == "mixed"]
    places = [(at["stripes"], at["bumps"]) for at in mixed if at["net"] == "mlp"]
    assert places == [(s, b) for s in (0, 24) for b in (10, 144 - 49)]
    support = Trial.from_json(study.grid(study.settings("laptop"), 0)[-1]["trial"]).build_support()
    assert support.train.size == 24 + 144 - 49 and support.held_out.size == 49


def test_other_ways_are_tried_with_all_stripes_and_bumps():
    asked = study.settings("laptop", {"variant": list(VARIANTS)})
    others = [spec for spec in study.grid(asked, 0) if spec["at"]["variant"] != "mixed"]
    assert len(others) == 2 * 7
    assert {(spec["at"]["stripes"], spec["at"]["bumps"]) for spec in others} == {(24, 95)}
    worlds = {spec["at"]["variant"]: spec["trial"]["world"] for spec in others}
    assert worlds["masked"]["mask"] == [3, 9] and worlds["masked"]["encoding"] == "one-hot"
    assert worlds["absent-mean"]["encoding_options"] == {"absent": "mean"}
    assert worlds["off-frame"]["encoding"] == "margin"
    assert worlds["off-frame-zeros"]["encoding_options"] == {"absent": "zeros"}
    assert "mask" not in worlds["stripes-then-both"]


@pytest.mark.parametrize(
    "variant, first, last",
    [
        ("stripes-then-bumps", {"stripes": 24, "bumps": 0}, {"stripes": 0, "bumps": 95}),
        ("stripes-then-both", {"stripes": 24, "bumps": 0}, {"stripes": 24, "bumps": 95}),
        ("bumps-then-both", {"stripes": 0, "bumps": 95}, {"stripes": 24, "bumps": 95}),
    ],
)
def test_one_kind_of_picture_comes_first_for_half_of_the_steps(variant, first, last):
    specs = study.grid(study.settings("laptop", {"steps": 1501, "variant": [variant]}), 0)
    trial = next(spec["trial"] for spec in specs if spec["at"]["variant"] == variant)
    before, after = trial["stages"]
    assert before["support"] == {"name": "bumps-and-stripes", **first}
    assert trial["support"] == {"name": "bumps-and-stripes", **last} and "support" not in after
    assert (before["recipe"]["steps"], after["recipe"]["steps"]) == (750, 751)
    assert before["recipe"]["evaluations"] == 0 and before["net"] == after["net"]


def test_the_first_half_of_the_steps_can_have_other_data():
    """Bumps alone after stripes alone is not the same as bumps alone, and each is a function of its spec."""
    staged, plain = small_spec("stripes-then-bumps"), small_spec(stripes=0.0)
    found = [study.measured(spec, Context()) for spec in (staged, staged, plain)]
    values = [[row["value"] for row in one.rows if row["reading"] == "score"] for one in found]
    assert values[0] == values[1] != values[2]


def test_every_combination_is_drawn_once_and_scored_by_hand():
    trial = Trial.from_json(small_spec()["trial"])
    task, support = trial.build_task(), trial.build_support()
    run = train(task, support, trial.build_stages(), progress=False, watch=())
    items = every_combination(run)
    rows, held_out = items.combinations, support.held_out.contains(items.combinations)
    assert len(rows) == support.train.size + support.held_out.size == len(np.unique(rows, axis=0))
    batch = task.sample(key_for("any", 0), jnp.asarray(rows))
    output = np.asarray(run.nets[0](batch)[0]).reshape(len(rows), -1)
    np.testing.assert_allclose(items.kept["answer"].reshape(len(rows), -1), output, atol=1e-5)
    targets = items.kept["target"].reshape(len(rows), -1)
    scores = {row["stream"]: row["value"] for row in every_rows(run, items, 1) if row["metric"] == "error"}
    bumps = (rows < 6).all(1)  # stripes are trained on, and are no part of what is asked
    for stream, mask in (("held_out", held_out), ("test", ~held_out & bumps)):
        by_hand = ((output - targets)[mask] ** 2).mean() / (targets[mask] ** 2).mean()
        assert scores[stream] == pytest.approx(by_hand, rel=1e-4)


def test_a_cell_keeps_drawings_of_the_first_seed_only():
    spec = small_spec()
    kept = study.measured(spec, Context()).facts["drawings"]
    assert len(kept["pictures"]) == keeping.SHOWN
    hole = Trial.from_json(spec["trial"]).build_support().held_out.combinations()
    for picture in kept["pictures"]:
        assert picture["at"] in hole.tolist()
        x, y = picture["at"]
        truth = packed_images.unpack(picture["target"])
        assert truth[y, x] == pytest.approx(1.0) and truth.shape == (6, 6)
    grid = packed_images.unpack(kept["error_map"])
    assert grid.shape == (6, 6)  # without the places of stripes
    x, y, width, height = kept["hole"]
    assert (width, height) == tuple(np.ptp(hole, axis=0) + 1) and np.isfinite(grid[y : y + height, x : x + width]).all()
    assert "drawings" not in study.measured(small_spec(seed=1), Context()).facts


# -- readings on planted tables ---------------------------------------------------------------------------------------
def striped(values: dict[tuple[int, int, str], tuple[float, float]]) -> StudyTable:
    """(stripes, bumps, variant) -> held-out error and share in place, of an MLP."""
    rows = []
    for (n, m, variant), (error, localized) in values.items():
        common = {"net": "mlp", "stripes": n, "bumps": m, "variant": variant, "cell": f"{n} {m} {variant}"}
        rows += score_rows(common, 0.0, error, localized)
    return table_of(rows)


PLANTED = {
    (0, 100, "mixed"): (1.0, 0.1),
    (24, 100, "mixed"): (2.0, 0.9),
    (24, 10, "mixed"): (4.0, 0.7),
    (0, 10, "mixed"): (1.0, 0.0),
    (24, 100, "masked"): (1.0, 0.3),
}


def test_stripes_tell_where_from_how():
    table = striped(PLANTED)
    assert readings.held_out_error("mlp")(table) == 2.0 and readings.error_ratio("mlp")(table) == pytest.approx(2.0)
    assert readings.gain_of_place(table) == {"mlp": pytest.approx(0.8)}
    assert readings.loss_by_mask(table) == {"mlp": pytest.approx(0.6)}
    assert readings.place_with_few(table) == {"mlp": pytest.approx(0.7)}
    with pytest.raises(PreconditionFailed, match="cnn-decoder with all stripes and 10 bumps, mixed, was not run"):
        readings.error_with_few(table)
    with pytest.raises(PreconditionFailed, match="masked, was not run"):
        readings.loss_by_mask(table[table.variant == "mixed"])
    unlearned = table_of(
        [r | ({"value": 0.4} if r["stream"] == "test" else {}) for r in table.frame.to_dict("records")]
    )
    with pytest.raises(PreconditionFailed, match="did not learn what it was trained on"):
        readings.error_ratio("mlp")(unlearned)


def test_the_headline_tells_each_net():
    outcomes = dict.fromkeys([claim.id for claim in study.claims], "open")
    decided = {"stripes-cure-cnn-decoder": "supported", "stripes-cure-mlp": "refuted"}
    headline = study.headline_for(striped(PLANTED), outcomes | decided)
    assert headline == "With stripes a CNN draws unseen bumps; even with stripes an MLP does not draw unseen bumps."
    assert study.headline_for(striped(PLANTED), outcomes) == "What stripes teach is not settled at this scale."


# -- charts -----------------------------------------------------------------------------------------------------------
def test_there_is_one_map_per_net_and_score_and_one_row_per_other_way():
    table = planted_table(study, lambda at: score_rows({}, 0.0, 1.0, 0.5))
    figures = study.figures(table)
    assert [figure.title for figure in figures] == [
        "Share of held-out bumps in place, mlp",
        "Share of held-out bumps in place, cnn-decoder",
        "Held-out error, mlp",
        "Held-out error, cnn-decoder",
        "Other ways to show stripes",
    ]
    assert len(figures[0].spec["data"]["values"]) == 2 * 2
    assert len({row["variant"] for row in figures[-1].spec["data"]["values"]}) == 2
    assert_says_so_without_records(study)


def test_a_single_way_to_show_stripes_is_not_compared():
    table = planted_table(study, lambda at: score_rows({}, 0.0, 1.0, 0.5)).where(variant="mixed")
    assert [figure.title for figure in study.figures(table)][-1] == "Held-out error, cnn-decoder"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_paper_scale_is_the_published_setting():
    """28 pixels, five numbers of stripes by six of bumps and seven other ways, for two nets."""
    trials = paper_trials(study)
    assert len(trials) == 2 * (5 * 6 - 1 + 7)
    assert {trial.world["space"]["size"] for trial in trials} == {28}
    assert {trial.support["stripes"] for trial in trials} == {0, 7, 14, 28, 56}
    assert {trial.support["bumps"] for trial in trials} == {0, 10, 50, 100, 250, 495}
    nets = {(trial.stages[0]["net"]["name"], trial.stages[0]["net"]["width"]) for trial in trials}
    assert nets == {("mlp", 256), ("cnn-decoder", 64)}
    assert_trained_as_published(study)
    assert_one_step_can_be_taken(trials[0])


def test_in_the_control_stripes_tell_nothing_of_bumps():
    for control, net in (("lookup", "mlp"), ("lookup-cnn", "cnn-decoder")):
        specs = study.grid(study.settings("smoke", study.control(control)), 0)
        assert {spec["trial"]["world"]["name"] for spec in specs} == {"bumps-and-stripes-lookup-v1"}
        assert {spec["at"]["net"] for spec in specs} == {net}


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"variant": "maskd"}, "did you mean 'masked'"),
        ({"net": "cnn-decodr"}, "did you mean 'cnn-decoder'"),
        ({"size": "3"}, "size=3"),
        ({"stripes": "many"}, "stripes='many' is not a list of numbers"),
        ({"bumps": ""}, "bumps=.*is empty; give at least one value"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
