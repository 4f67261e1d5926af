"""re-entanglement: which nets are penalized, readings on planted tables, charts, the published setting, refusals."""

from __future__ import annotations

import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    planted_table,
    probe_rows,
    score_rows,
    table_of,
)

from recombine import UserError
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies.liang2025 import re_entanglement_readings as readings
from recombine.studies.liang2025.re_entanglement import study

SMALL = {"size": 6, "mlp:net.width": 8, "layers": [2], "steps": 5}


# -- what is trained ------------------------------------------------------------------------------------------------
def test_nets_of_the_middle_depth_are_penalized_too():
    specs = study.grid(study.settings("laptop"), 0)
    plain = [spec["at"] for spec in specs if not spec["at"]["penalty"]]
    bent = [spec["at"] for spec in specs if spec["at"]["penalty"]]
    assert len(plain) == 2 * 2 * 2 and {at["everywhere"] for at in plain} == {False}
    assert (
        len(bent) == 2 * 3 * 2 and {at["layers"] for at in bent} == {4} and {at["encoding"] for at in bent} == {"ramp"}
    )
    assert {at["penalty"] for at in bent} == {0.1, 1.0, 10.0} and {at["everywhere"] for at in bent} == {False, True}
    exact = {s["at"]["layers"] for s in specs if s["trial"]["probes"] == [{"name": "geometry"}]}
    assert exact == {4}  # F is read as it is penalized, also of the net without a penalty


def test_a_penalized_net_is_the_same_net_within():
    specs = study.grid(study.settings("laptop"), 0)
    for decoder, inner in (
        ("mlp", {"net": "mlp", "width": 128, "depth": 4}),
        ("cnn-decoder", {"net": "cnn-decoder", "base": 3, "width": 16, "depth": 4}),
    ):
        nets = {
            (spec["at"]["penalty"], spec["at"]["everywhere"]): spec["trial"]["stages"][0]["net"]
            for spec in specs
            if (spec["at"]["decoder"], spec["at"]["layers"], spec["at"]["encoding"]) == (decoder, 4, "ramp")
        }
        assert nets[0.0, False] == {"name": inner["net"]} | {k: v for k, v in inner.items() if k != "net"}
        for everywhere in (False, True):
            straightened = {"name": "straightened", "of": inner, "weight": 0.1, "everywhere": everywhere}
            assert nets[0.1, everywhere] == straightened


def test_volumes_are_kept_once_and_of_nets_without_a_penalty():
    for seed, kept in ((0, {0.0}), (1, set())):
        specs = study.grid(study.settings("smoke", SMALL), seed)
        records = [
            Record(Cell(study.id, 1, spec), found.rows, found.facts, {})
            for spec in specs
            for found in [study.measured(spec, Context())]
        ]
        assert {record.cell.spec["at"]["penalty"] for record in records if "volume" in record.facts} == kept
        titles = [grid.title for grid in study.image_grids(records)]
        assert titles == (
            ["What is drawn at places never trained", "Where it errs", "How a layer stretches the frame"]
            if kept
            else []
        )
        if kept:
            stretched = study.image_grids(records)[-1]
            assert stretched.columns == ("mlp of 2 layers, bump",) and stretched.slider == "layer"
            assert [name for name, _ in stretched.rows] == ["layer1", "layer2"]


# -- readings on planted tables ---------------------------------------------------------------------------------------
def entangled(f: dict[tuple[str, float], float], errors: dict[tuple[str, float], float]) -> StudyTable:
    """(decoder, penalty) -> F of the last layer and held-out error; the first layer has 1."""
    rows = []
    for (decoder, penalty), last in f.items():
        common = {"decoder": decoder, "layers": 3, "encoding": "bump", "penalty": penalty, "everywhere": False}
        common |= {"cell": f"{decoder} {penalty}"}
        rows += score_rows(common, 0.0, errors[decoder, penalty])
        values = (("factorization", last), ("factorization_trained", last), ("factorization_untrained", 0.99))
        for metric, value in values:
            rows += probe_rows(common, "geometry", metric, {"layer1/post": 1.0, "layer3/post": value, "output": 0.6})
    return table_of(rows)


NAMES = ("a", "b", "c", "d")
F = {(name, 0.0): 1 - 0.1 * i for i, name in enumerate(NAMES)} | {("a", 1.0): 0.999, ("a", 0.0): 0.95}
ERRORS = {(name, 0.0): 1 + 0.2 * i for i, name in enumerate(NAMES)} | {("a", 1.0): 0.5}


def test_re_entanglement_is_read_at_hidden_layers_against_the_untrained_net():
    table = entangled(F, ERRORS)
    falls = {f"{name} of 3 layers, bump": pytest.approx(1 - F[name, 0.0]) for name in NAMES}
    assert readings.published_fall(table) == falls
    by_training = {f"{name}, bump": pytest.approx(0.99 - F[name, 0.0]) for name in NAMES}
    assert readings.fall_by_training(table) == by_training
    assert readings.prediction(table) == pytest.approx(1.0)
    assert readings.cure(table) == {"a, bump": pytest.approx(0.5)} and readings.raised(table, False) > 0
    (unmet,) = readings.cure(entangled(F | {("a", 1.0): 0.9}, ERRORS)).values()
    assert isinstance(unmet, PreconditionFailed) and "no penalty raised F of the a, bump by 0.01" in str(unmet)
    with pytest.raises(PreconditionFailed, match="with and without"):
        readings.cure(table, everywhere=True)


def test_what_cannot_be_read_says_why():
    table = entangled(F, ERRORS)
    with pytest.raises(PreconditionFailed, match="a correlation takes 4 nets, and 2 were run"):
        readings.prediction(table.where(decoder=["a", "b"]))
    with pytest.raises(PreconditionFailed, match="geometry has no readings of hidden layers"):
        readings.mean_fall(table[~table.layer.str.endswith("/post")])
    unlearned = table_of(
        [row | ({"value": 0.4} if row["stream"] == "test" else {}) for row in table.frame.to_dict("records")]
    )
    (unmet,) = readings.cure(unlearned).values()
    assert isinstance(unmet, PreconditionFailed) and "a, bump without a penalty did not learn" in str(unmet)


# -- charts -----------------------------------------------------------------------------------------------------------
def test_there_is_one_chart_by_layer_per_net_and_code_and_one_against_the_error():
    def planted(at: dict) -> list[dict]:
        layers = {f"layer{i + 1}/post": 1 - 0.1 * i for i in range(at["layers"])}
        return score_rows({}, 0.0, 1.0) + probe_rows({}, "geometry", "factorization", layers | {"output": 0.1})

    figures = study.figures(planted_table(study, planted))
    assert [figure.title for figure in figures] == [
        "Factorization by layer, cnn-decoder, bump code",
        "Factorization by layer, cnn-decoder, ramp code",
        "Factorization by layer, mlp, bump code",
        "Factorization by layer, mlp, ramp code",
        "Loss of factorization against held-out error",
    ]
    rows = figures[0].spec["data"]["values"]
    assert {row["layer"] for row in rows} == {"input", "layer1", "layer2", "layer3", "layer4"}
    assert {row["value"] for row in rows if row["layer"] == "input" and row["seed"] == 0} == {1.0}
    assert len(figures[-1].spec["data"]["values"]) == 4 * 2 * 2 * 2  # no penalized nets
    assert_says_so_without_records(study)


# -- settings ---------------------------------------------------------------------------------------------------------
def test_paper_scale_is_the_published_setting():
    """28 pixels, bump and ramp codes, two to six layers; three penalties at the middle depth, in two places."""
    trials = paper_trials(study)
    assert len(trials) == 2 * 2 * (5 + 3 * 2)
    assert {trial.world["space"]["size"] for trial in trials} == {28}
    assert {trial.world["encoding"] for trial in trials} == {"bump", "ramp"}
    assert_trained_as_published(study)
    assert_one_step_can_be_taken(trials[0])
    assert_one_step_can_be_taken(trials[-1])


def test_controls_bend_nothing_relate_nothing_or_compose_nothing():
    straight, unrelated, lookup = (
        study.grid(study.settings("smoke", study.control(name)), 0) for name in ("straightened", "unrelated", "lookup")
    )
    assert {spec["trial"]["stages"][0]["net"]["name"] for spec in straight} == {"straightened"}
    assert {spec["trial"]["world"]["encoding"] for spec in straight} == {"one-hot"}
    assert {spec["control"] for spec in unrelated} == {"unrelated"} and len(unrelated) >= readings.FEWEST
    assert {spec["trial"]["world"]["name"] for spec in lookup} == {"bumps-lookup-v1"}
    assert {spec["at"]["penalty"] > 0 for spec in lookup} == {False, True}


def test_a_cell_is_called_by_net_depth_code_and_penalty():
    labels = [study.label(spec) for spec in study.grid(study.settings("laptop"), 0)]
    assert "mlp of 3 layers, bump, seed 0" in labels
    assert "mlp of 4 layers, ramp, penalty 0.1, seed 0" in labels
    assert "cnn-decoder of 4 layers, ramp, penalty 0.1 on the whole frame, seed 0" in labels


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"decoder": "mpl"}, "did you mean 'mlp'"),
        ({"encoding": "identity"}, "identity"),
        ({"size": "1"}, "size=1"),
        ({"layers": ""}, "layers=.*is empty"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)


def test_an_unknown_control_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="did you mean 'unrelated'"):
        study.control("unrelatd")
