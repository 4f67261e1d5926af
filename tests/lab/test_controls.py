"""Controls that any study can have: what varies is not applied, or has nothing to do with the scores."""

from __future__ import annotations

import pytest

from recombine.errors import UserError
from recombine.lab.cells import Cell
from recombine.lab.controls import CHANCE, scores_by_chance
from recombine.studies import registry

STUDY = registry["scaling-model"]
CHANGES = {"encoding": ["identity", "interval-shuffle"], "width": [8, 16]}


def specs(control: str):
    return STUDY.specs(STUDY.settings("smoke", CHANGES | {"control": control}), seed=2)


def of(spec):
    trial = spec["trial"]
    return trial["world"]["encoding"], trial["stages"][0]["net"]["width"]


@pytest.mark.parametrize(
    ("control", "applied"),
    [
        ("", [("identity", 8), ("identity", 16), ("interval-shuffle", 8), ("interval-shuffle", 16)]),
        ("same-arms", [("identity", 8)] * 4),
    ],
)
def test_what_varies_is_recorded_and_not_applied(control, applied):
    found = specs(control)
    assert [of(spec) for spec in found] == applied
    recorded = [(spec["at"]["encoding"], spec["at"]["width"]) for spec in found]
    assert recorded == [("identity", 8), ("identity", 16), ("interval-shuffle", 8), ("interval-shuffle", 16)]


def test_each_arm_of_same_arms_has_nets_of_its_own():
    assert {spec["trial"]["seed"] for spec in specs("")} == {2}
    assert len({spec["trial"]["seed"] for spec in specs("same-arms")}) == 4


@pytest.mark.parametrize(
    ("control", "remedy"),
    [("same-arm", "same-arms"), ("unrelated:widht", "unrelated:width"), ("unrelatd", "unrelated")],
)
def test_a_control_that_would_change_nothing_is_refused_with_the_near_one(control, remedy):
    with pytest.raises(UserError, match=f"'{control}'.*'{remedy}'"):
        specs(control)


def test_scores_rise_along_the_axis_that_is_named_and_chance_does_the_rest():
    rows = [{"reading": "score", "stream": name, "value": 7.0} for name in ("held_out", "test", "blind")]
    other = {"reading": "decodability", "stream": "held_out", "value": 7.0}
    found = {}
    for spec in specs("unrelated:width"):
        cell = Cell(STUDY.id, STUDY.version, spec)
        *scores, kept = scores_by_chance([*rows, other], cell)
        held_out, trained, blind = (row["value"] for row in scores)
        assert kept == other and blind == 0.0 and held_out != trained
        assert scores_by_chance(rows, cell) == scores, "the same each time"
        found[spec["at"]["encoding"], spec["at"]["width"]] = held_out
    assert len(set(found.values())) == 4
    for (_, width), score in found.items():
        assert 0 <= score - (1 - CHANCE) * (width == 16) <= CHANCE


def test_scores_of_no_control_stay_as_they_are():
    rows = [{"reading": "score", "stream": "held_out", "value": 7.0}]
    for control in ("", "same-arms"):
        assert scores_by_chance(rows, Cell(STUDY.id, STUDY.version, specs(control)[0])) == rows
