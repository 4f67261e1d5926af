"""supports: what must be trained so that the rest follows, in three worlds."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine import UserError
from recombine.charts.map_layout import HELD_OUT, sides
from recombine.lab.cells import Cell
from recombine.lab.driver.run import run_study
from recombine.lab.record import Record, tidy
from recombine.lab.study import DEFAULT_SEEDS
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.redhardt2025 import supports_charts, supports_readings
from recombine.studies.redhardt2025.supports_readings import SUPPORTS
from recombine.training import Recipe
from recombine.trials import Trial

NAMES = ["supports", "supports-preference", "supports-goal"]
STUDY = registry["supports"]


# -- the grid ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_each_support_of_the_study_has_the_groups_its_claims_read(name):
    study = registry[name]
    specs = {cell.spec["at"]["support"]: cell.spec for cell in study.cells(study.settings("night"), 1)}
    assert made_of(specs, "as-many").train.size == made_of(specs, "disconnected").train.size
    assert ("one-apart" in specs) == (name != "supports-goal")
    made = {support: Trial.from_json(spec["trial"]).build_support() for support, spec in specs.items()}
    assert {"cross-block", "within-block"} <= set(made["disconnected"].groups)
    assert made["disconnected"].asks == "held_out/cross-block"
    unpopular = made["unpopular"]
    rarest = [group for group in unpopular.groups if group.startswith("with rarest")]
    assert len(rarest) == 1 and "without rarest" in unpopular.groups
    assert min(unpopular.certificate().usage.values()) == 1


def made_of(specs: dict, support: str):
    return Trial.from_json(specs[support]["trial"]).build_support()


def test_the_published_disconnected_split_is_one_module_against_fifteen():
    specs = {cell.spec["at"]["support"]: cell.spec for cell in STUDY.cells(STUDY.settings("laptop"), 1)}
    split = made_of(specs, "one-apart")
    assert split.settings["blocks"] == [1, 15] and split.asks == "held_out"
    assert (split.train.size, split.held_out.size) == (523, 173)  # 522 and 174 of random
    assert not split.certificate().connected


def test_other_recipes_are_tried_on_disconnected_only():
    cells = STUDY.cells(STUDY.settings("night"), 1)
    tried = [(cell.spec["at"]["support"], cell.spec["at"]["recipe"]) for cell in cells]
    assert tried == [
        *((support, "default") for support in SUPPORTS),
        ("disconnected", "constant"),
        ("disconnected", "long"),
    ]
    recipes = {place: Trial.from_json(cell.spec["trial"]).build_stages()[0].recipe for place, cell in zip(tried, cells)}
    usual = recipes["disconnected", "default"]
    assert recipes["disconnected", "long"] == dataclasses.replace(usual, steps=2 * usual.steps)
    assert recipes["disconnected", "constant"] == dataclasses.replace(
        usual, schedule="constant", learning_rate=1e-3, weight_decay=0.003, b2=0.999, nesterov=False
    )
    assert [STUDY.label(cell.spec) for cell in cells[-2:]] == [
        "disconnected (constant recipe), seed 0",
        "disconnected (long recipe), seed 0",
    ]


def test_a_rate_is_set_for_all_cells_and_not_for_the_arm_that_mentions_it():
    settings = STUDY.settings("night", {"learning_rate": "0.01"})
    rates = {
        (cell.spec["at"]["support"], cell.spec["at"]["recipe"]): cell.spec["trial"]["stages"][0]["recipe"][
            "learning_rate"
        ]
        for cell in STUDY.cells(settings, 1)
    }
    assert rates.pop(("disconnected", "constant")) == 1e-3 and set(rates.values()) == {0.01}


@pytest.mark.parametrize(
    "name, changes, words",
    [
        ("supports-preference", {"modules": "9", "features": "6"}, "modules=9.*features=6"),
        ("supports-preference", {"world": "hyperteacher-v1"}, "hyperteacher-v1.*features"),
        ("supports-preference", {"features": "99999999"}, "features='99999999'"),
        ("supports-goal", {"encoding": "few-shot"}, "few-shot"),
        ("supports-goal", {"length": "1000000000"}, "length='1000000000'"),
        ("supports", {"support": "random,magic"}, "magic"),
        ("supports", {"support": "random,random"}, "'random' twice"),
        ("supports", {"support": ""}, "support=.*empty"),
        ("supports", {"recipe": "lnog"}, "did you mean 'long'"),
        ("supports", {"held_out": "0"}, "held_out=0"),
        ("supports", {"held_out": "1"}, "held_out=1"),
        ("supports", {"at_most": "99"}, "at_most=99"),
        ("supports", {"encoding": "idenity"}, "'identity'"),
        ("supports", {"world": "hyperteacher"}, "hyperteacher-v1"),
        ("supports", {"schedule": "cosin"}, "cosine"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(name, changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    study = registry[name]
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("laptop", changes), 3)


def test_a_split_that_cannot_be_made_is_refused_at_once():
    with pytest.raises(UserError, match="compositional and connected"):
        STUDY.cells(STUDY.settings("laptop", {"modules": 8, "at_most": 2, "held_out": 0.98}), 1)


# -- paper scale ------------------------------------------------------------------------------------------------------
def test_supports_at_paper_scale_is_the_published_setting():
    """Six supports, M=16, K=3, a quarter held out, 4 x 1024, AdamW at 3e-4, 300,000 steps, 3 seeds."""
    cells = STUDY.cells(STUDY.settings("paper"), DEFAULT_SEEDS)
    assert {cell.spec["at"]["support"] for cell in cells} == set(SUPPORTS) - {"disconnected", "as-many"}  # ours
    share = {"missing": {}}
    for cell in cells:
        trial, support = Trial.from_json(cell.spec["trial"]), cell.spec["at"]["support"]
        assert trial.world["space"] == {"modules": 16, "at_most": 3} and trial.world["encoding"] == "identity"
        assert trial.support == {"name": support, **share.get(support, {"held_out": 0.25})}
        (stage,) = trial.stages
        assert stage["net"] == {"name": "mlp", "width": 1024, "depth": 4}
        assert dataclasses.replace(Recipe(**stage["recipe"]), evaluations=0) == Recipe.published(evaluations=0)


# -- readings ---------------------------------------------------------------------------------------------------------
def supports_table(supports: tuple[str, ...] = ("random", "disconnected", "missing"), seeds: int = 3) -> StudyTable:
    """Readings like those of the study, with values far off any axis among them."""
    records = []
    score = {"reading": "score", "metric": "r2", "step": 9}
    for seed in range(seeds):
        for support in supports:
            asked = "cross-block" if support == "disconnected" else ""
            groups = ["", "1 active", "2 active"]
            groups += ["cross-block", "within-block"] if support == "disconnected" else ["with rarest (m1)"]
            value = -40.0 if support == "missing" else 0.7 + 0.01 * seed
            rows = [score | {"stream": "test", "group": "", "value": 0.9, "asked": False}]
            rows += [
                score | {"stream": "held_out", "group": group, "value": value, "asked": group == asked}
                for group in groups
            ]
            rows += [
                {"reading": "history", "stream": stream, "group": "", "metric": "r2", "step": step, "value": value}
                for step, value in ((3, math.nan), (6, 0.6), (9, 0.9))
                for stream in ("validation", "held_out/cross-block")
            ]
            probe = {"reading": "decodability", "stream": "held_out", "group": "", "layer": "layer2", "step": 9}
            metrics = ("r2", "r2_test", "r2_shuffled", "r2_untrained", "r2_encoding")
            rows += [probe | {"metric": metric, "value": 0.5} for metric in metrics]
            spec = {"seed": seed, "at": {"support": support, "recipe": "default"}}
            records.append(Record(Cell("supports", 1, spec), rows, {}, {}))
    return StudyTable(tidy(records), "r2")


def test_the_gap_of_disconnected_is_that_across_its_blocks():
    table = supports_table(seeds=1)
    table.frame.loc[table.frame.group == "cross-block", "value"] = 0.25
    assert supports_readings.gap(table, "disconnected") == pytest.approx(0.65)
    assert supports_readings.gap(table, "random") == pytest.approx(0.2)
    with pytest.raises(PreconditionFailed, match="popular has no score"):
        supports_readings.gap(table, "popular")
    table.frame.loc[table.frame.stream == "test", "value"] = 0.4
    table = StudyTable(table.frame, "r2")  # a table keeps what it has read
    with pytest.raises(PreconditionFailed, match=r"random was not learned: 0.40 on trained combinations, below 0\.5"):
        supports_readings.gap(table, "random")


def test_the_loss_with_the_rarest_element_is_compared_with_that_without_it():
    table = supports_table(("unpopular",), seeds=1)
    with pytest.raises(PreconditionFailed, match="no score"):
        supports_readings.rarest_difference(table)
    table.frame.loc[table.frame.group == "2 active", ["group", "value"]] = ["without rarest", 0.85]
    table = StudyTable(table.frame, "r2")
    assert supports_readings.rarest_difference(table) == pytest.approx(0.15)
    with pytest.raises(PreconditionFailed, match="unpopular has no group with the rarest module"):
        supports_readings.rarest_difference(table[~table.group.str.startswith("with rarest")])


def test_a_diverged_seed_enters_no_answer_and_one_evaluation_gives_no_growth():
    tiny = {"support": ["disconnected"], "steps": 5, "evaluations": 5, "width": 8, "warmup": 0.0, "modules": 6}
    for changes in ({"learning_rate": 1e9}, {"learning_rate": 1e9, "width": 64}, {"evaluations": 1}):
        result = run_study(STUDY, "smoke", seeds=1, changes=tiny | changes, quiet=True)
        assert not result.failures
        assert all(not interval.seeds for one, interval, _ in result.measurements if "growth" in one.id)
        assert {verdict.outcome for verdict in result.verdicts} == {"open"}


def test_the_headline_names_what_composes_and_what_fails():
    outcomes = {"random-composes": "supported", "popular-composes": "supported", "missing-fails": "supported"}
    said = STUDY.headline_for(supports_table(), outcomes)
    assert (
        said == "It composes on random and popular training combinations, and it fails where a module is never trained."
    )
    said = registry["supports-goal"].headline_for(supports_table(), {"blocks-fail": "supported"})
    assert said == "It fails where blocks of levels are never combined."


# -- charts -----------------------------------------------------------------------------------------------------------
def test_figures_compile():
    import vl_convert

    figures = STUDY.figures(supports_table())
    assert len(figures) == 5
    for figure in figures:
        json.dumps(figure.spec, allow_nan=False)
        assert vl_convert.vegalite_to_vega(figure.spec)["marks"]


def test_an_image_of_a_chart(tmp_path):
    figure = STUDY.figures(supports_table())[0]
    path = rc.charts.save(figure.chart, tmp_path / "chart.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert figure.spec["width"] == "container"  # the figure itself is left as it was


def test_the_main_chart_takes_the_cross_block_group():
    table = supports_table()
    table.frame.loc[table.frame.group == "cross-block", "value"] = 0.25
    rows = STUDY.figures(table)[0].spec["data"]["values"]
    found = {(row["support"], row["series"]): row["value"] for row in rows}
    assert found["disconnected", "held-out combinations"] == 0.25
    assert found["random", "held-out combinations"] == pytest.approx(0.72)
    assert found["random", "trained combinations"] == 0.9


@pytest.mark.parametrize("blind", [None, 0.5, 0.99])
def test_gaps_are_drawn_as_claims_read_them(blind):
    """The wrong-code baseline is right in `blind` of the tasks: there is 1 - blind to learn, or a quarter at least."""
    table = supports_table(seeds=2)
    if blind is not None:
        told_wrong = table.frame[table.frame.stream == "test"].assign(stream="blind", value=blind)
        table = StudyTable(pandas.concat([table.frame, told_wrong], ignore_index=True), "r2")
    drawn = supports_charts.gaps(table)
    assert {row["support"] for row in drawn} == {"random", "disconnected", "missing"}
    for row in drawn:
        if blind != 0.99:  # with so little to learn the claim asks for no more
            read = supports_readings.gap(table.where(seed=row["seed"]), row["support"])
            assert row["value"] == pytest.approx(read)
    room = 1.0 if blind is None else max(1 - blind, 0.25)
    assert drawn[0]["value"] == pytest.approx((0.9 - 0.7) / room)
    (end,) = {row["value"] for row in supports_charts.gap_over_training(moved(table)) if row["step"] == 9}
    assert end == pytest.approx(0.3 / room)


def moved(table: StudyTable) -> StudyTable:
    """The table with a cross-block gap of .3 at the end of training."""
    frame = table.frame.copy()
    frame.loc[(frame.stream == "held_out/cross-block") & (frame.step == 9), "value"] = 0.6
    return StudyTable(frame, "r2")


@pytest.mark.parametrize("readings, number", [((), 0), (("history",), 1), (("score",), 3), (("decodability",), 1)])
def test_figures_of_partial_tables(readings: tuple[str, ...], number: int):
    assert len(STUDY.figures(supports_table().where(reading=list(readings)))) == number


# -- maps of splits ---------------------------------------------------------------------------------------------------
def test_a_run_keeps_the_scores_of_one_seed():
    changes = {"support": ["random"], "steps": 30, "modules": 6, "at_most": 2, "width": 16, "tasks": 16}
    result = run_study(STUDY, "smoke", seeds=2, changes=changes, quiet=True)
    assert ["each" in record.facts for record in result.records] == [True, False]
    (one,) = STUDY.support_maps(result.records)
    assert one.support is not None and one.scores is not None and np.isfinite(one.scores).all()
    # what is kept one by one is what the score of the side is about, up to chance
    held_out = one.scores[sides(one.support) == HELD_OUT].mean()
    pooled = result.table.where(seed=0).score("held_out", group="", metric="r2_pooled")
    assert held_out == pytest.approx(pooled, abs=0.15)
    assert STUDY.texts is not None and list(STUDY.texts.texts(result.records)) == ["random, seed 0", "random, seed 1"]
