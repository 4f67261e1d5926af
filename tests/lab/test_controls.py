"""Controls that any study can have: what varies is recorded and not applied, along all axes or along one."""

from __future__ import annotations

import pytest

from recombine.errors import UserError
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
        ("same-arms:encoding", [("identity", 8), ("identity", 16)] * 2),
        ("same-arms:width", [("identity", 8)] * 2 + [("interval-shuffle", 8)] * 2),
    ],
)
def test_what_varies_is_recorded_and_not_applied(control, applied):
    found = specs(control)
    assert [of(spec) for spec in found] == applied
    recorded = [(spec["at"]["encoding"], spec["at"]["width"]) for spec in found]
    assert recorded == [("identity", 8), ("identity", 16), ("interval-shuffle", 8), ("interval-shuffle", 16)]


def test_each_arm_of_same_arms_has_nets_of_its_own():
    assert {spec["trial"]["seed"] for spec in specs("")} == {2}
    for control in ("same-arms", "same-arms:encoding"):
        assert len({spec["trial"]["seed"] for spec in specs(control)}) == 4


@pytest.mark.parametrize(
    ("control", "remedy"),
    [("same-arm", "same-arms"), ("same-arms:widht", "same-arms:width"), ("unrelatd", "unrelated")],
)
def test_a_control_that_would_change_nothing_is_refused_with_the_near_one(control, remedy):
    with pytest.raises(UserError, match=f"'{control}'.*'{remedy}'"):
        specs(control)
