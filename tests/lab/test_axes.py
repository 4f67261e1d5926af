"""What varies in a study: paths, arms, scales, and the grid that follows from them."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import coin

from recombine.errors import UserError
from recombine.lab.axes import Arms, blocks_of, points
from recombine.lab.paths import Same, changed, leaves, resolved, value_at
from recombine.lab.scales import SCALES, Scale, at_scale
from recombine.lab.settings import LARGEST, key_of, parsed
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least
from recombine.labels import spelled

NAMES = st.text("abcdef", min_size=1, max_size=4)
TREES = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=3),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3),
    max_leaves=8,
).filter(lambda tree: isinstance(tree, dict))


@given(TREES, st.integers())
@settings(deadline=None)
def test_what_is_set_at_a_path_is_there_and_nothing_else_changes(tree, value):
    for path, before in leaves(tree).items():
        after = changed(tree, path, value)
        assert value_at(after, path) == value and leaves(changed(after, path, before)) == leaves(tree)
        assert {name: leaf for name, leaf in leaves(after).items() if name != path} == {
            name: leaf for name, leaf in leaves(tree).items() if name != path
        }


def test_a_path_that_is_not_there_is_refused_with_the_near_one():
    tree = {"net": {"width": 64}, "recipe": {"steps": 10}}
    for path, near in (("net.widht", "net.width"), ("nett.width", "net.width")):
        with pytest.raises(UserError) as refused:
            value_at(tree, path)
        assert repr(path) in str(refused.value) and repr(near) in str(refused.value)
    with pytest.raises(UserError, match="'nett.width'.*'net.width'"):
        changed(tree, "nett.width", 3)


def test_what_is_the_same_follows_what_it_is_the_same_as():
    tree = {"a": {"b": 3}, "c": Same("a.b"), "d": [Same("c", lambda n: n + 1)]}
    assert resolved(tree, tree) == {"a": {"b": 3}, "c": 3, "d": [4]}
    assert set(leaves(tree)) == {"a.b"}, "what follows from others cannot be set"
    with pytest.raises(UserError, match="the same as itself"):
        resolved(Same("x"), {"x": Same("y"), "y": Same("x")})


@settings(deadline=None)
@given(st.lists(st.integers(), min_size=4, max_size=4))
def test_a_value_by_scale_is_found_however_deep_it_lies(values):
    tree = {"a": [{"b": Scale(*values)}], "c": "same"}
    for scale, value in zip(SCALES, values, strict=True):
        assert at_scale(tree, scale) == {"a": [{"b": value}], "c": "same"}
    with pytest.raises(UserError, match="'nihgt'.*'night'"):
        at_scale(tree, "nihgt")


BASE = {"net": {"name": "mlp", "width": 8}, "support": {"name": "random", "held_out": 0.25}}
ARMS = Arms(
    {
        "random": {},
        "blocks": {"support": {"name": "disconnected", "within": Same("support.held_out")}},
        "wide": {"net.width": Same("net.width", lambda width: 4 * width)},
    }
)


def test_arms_are_applied_on_top_of_values_and_see_them():
    blocks = blocks_of({"support.held_out": [0.1, 0.5], "variant": ARMS}, "smoke")
    found = {(at["held_out"], at["variant"]): tree for at, tree in points(blocks, BASE, {})}
    assert len(found) == 6
    assert found[0.5, "blocks"]["support"] == {"name": "disconnected", "within": 0.5}
    assert found[0.1, "wide"]["net"]["width"] == 32 and found[0.1, "wide"]["support"]["held_out"] == 0.1


def test_a_sum_of_products_has_each_block_with_its_own_values():
    vary = [
        {"net.width": [8, 16], "kind": Arms({"plain": {}})},
        {"net.width": [64], "kind": Arms({"deep": {"net.depth": 9}})},
    ]
    blocks = blocks_of(vary, "laptop")

    def at(**asked):
        return [(at["kind"], at["width"]) for at, _ in points(blocks, BASE, asked)]

    assert at() == [("plain", 8), ("plain", 16), ("deep", 64)]
    assert at(width=[5]) == [("plain", 5), ("deep", 5)], "values that are asked for hold in every block"
    assert at(kind=["deep"]) == [("deep", 64)]
    ((_, tree),) = points(blocks, BASE, {"kind": ["deep"], "deep:net.depth": 2})
    assert tree["net"] == {"name": "mlp", "width": 64, "depth": 2}


@pytest.mark.parametrize(
    ("asked", "value", "remedy"),
    [
        ({"width": []}, "width=[]", "at least one"),
        ({"width": [8, 8]}, "8 twice", "width"),
        ({"kind": ["plian"]}, "'plian'", "'plain'"),
    ],
)
def test_values_of_axes_that_cannot_be_are_refused(asked, value, remedy):
    blocks = blocks_of({"net.width": [8], "kind": Arms({"plain": {}})}, "smoke")
    with pytest.raises(UserError) as refused:
        list(points(blocks, BASE, asked))
    assert value in str(refused.value) and remedy in str(refused.value)


KNOWN = [
    "width",
    "world.name",
    "world.space.modules",
    "recipe.steps",
    "net.depth",
    "mlp:net.depth",
    "a:x.rate",
    "b:x.rate",
]


def test_a_setting_is_found_by_its_whole_name_or_by_its_last():
    assert key_of("modules", KNOWN) == "world.space.modules" and key_of("world", KNOWN) == "world.name"
    assert key_of("depth", KNOWN) == "net.depth", "the trial comes before an arm"
    assert key_of("mlp:net.depth", KNOWN) == "mlp:net.depth"
    assert key_of("b1", KNOWN) == "recipe.b1" and key_of("net.heads", KNOWN) == "net.heads"
    for name, near in (("widht", "'width'"), ("modlues", "'modules'"), ("rate", "'a:x.rate' or 'b:x.rate'")):
        with pytest.raises(UserError) as refused:
            key_of(name, KNOWN)
        assert repr(name) in str(refused.value) and near in str(refused.value)


INTEGERS = st.integers(-LARGEST, LARGEST)  # beyond these a setting is refused
FLOATS = st.floats(-LARGEST, LARGEST)


@settings(deadline=None)
@given(INTEGERS | FLOATS | st.booleans() | st.lists(INTEGERS, min_size=1, max_size=4))
def test_a_setting_that_is_written_is_read_as_it_was(value):
    assert parsed("x", spelled(value), value) == value


def test_settings_make_the_same_grid_again():
    study = dataclasses.replace(coin(), vary={"options.side": Scale(["a"], ["a", "b"], ["c"], ["d"])})
    for scale in SCALES:
        asked = study.settings(scale, {"bias": "2.5"})
        again = study.settings(scale, json.loads(json.dumps(asked)))  # as a store keeps them
        assert again == asked and study.cells(again, 2) == study.cells(asked, 2)
        assert study.cells(asked, 1)[0].spec["options"]["bias"] == 2.5


def test_with_same_arms_what_varies_is_recorded_and_not_applied():
    study = Study(
        id="s",
        title="t",
        question="q",
        source="x",
        world={"name": "hyperteacher-v1", "space": {"modules": 4, "at_most": 2}, "encoding": "identity"},
        support={"name": "random", "held_out": 0.25},
        net={"name": "mlp", "width": 8, "depth": 1},
        recipe={"steps": 2},
        vary={"net.width": [8, 16]},
        claims=[Claim("c", lambda t: 0.0, at_least(0), "c", "same-arms", description="zero")],
    )
    plain = study.grid(study.settings("smoke"), 0)
    same = study.grid(study.settings("smoke", study.control("same-arms")), 0)
    assert (
        [one["at"]["width"] for one in same] == [8, 16] == [one["trial"]["stages"][0]["net"]["width"] for one in plain]
    )
    assert [one["trial"]["stages"][0]["net"]["width"] for one in same] == [8, 8]
    assert len({one["trial"]["seed"] for one in same}) == 2 and {one["seed"] for one in same} == {0}
