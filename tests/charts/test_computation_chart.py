"""computation: where nodes stand, what joins them, and what is refused."""

from __future__ import annotations

import pytest

from recombine import UserError
from recombine.charts import Figure, computation
from recombine.charts.computation_chart import MOST, places_of


def node(name: str, layer: int, parents: str = "", label: str = "correct", written: str = "1") -> dict:
    return {"node": name, "layer": layer, "parents": parents, "series": label, "written": written, "truth": "1"}


CHAIN = [
    node("a", 1, label="input"),
    node("b", 1, label="input"),
    node("a+b", 2, "a;b", "local error", "7"),
    node("b+b", 2, "b;b"),
    node("all", 3, "a+b;b+b", "propagation"),
]


def test_nodes_stand_by_layer_at_the_mean_of_their_parents_and_apart():
    places = places_of(CHAIN)
    assert places == {"a": 0, "b": 1, "a+b": 0.5, "b+b": 1.5, "all": 1.0}


def test_lines_join_a_node_with_each_parent_and_labels_have_colors_in_order():
    spec = Figure("Graph", "Nodes.", computation(CHAIN, order=("correct", "local error", "propagation", "input"))).spec
    lines, points, words = spec["layer"]
    ends = lines["data"]["values"]
    assert {row["line"] for row in ends} == {"a+b<a", "a+b<b", "b+b<b", "all<a+b", "all<b+b"}
    assert sum(row["line"] == "all<a+b" for row in ends) == 2
    assert points["encoding"]["color"]["scale"]["domain"] == ["correct", "local error", "propagation", "input"]
    assert words["encoding"]["text"]["field"] == "said"
    assert [row["said"] for row in spec["data"]["values"]] == ["1", "1", "7", "1", "1"]


def test_more_nodes_than_can_be_told_apart_are_refused():
    with pytest.raises(UserError, match=f"{MOST + 1} nodes are too many to tell apart; {MOST} would do"):
        computation([node(str(number), 1) for number in range(MOST + 1)])
