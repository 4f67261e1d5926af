"""Maps of splits: every combination in a place of its own, on the side it is on, and no name acts."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fruit_study import HOSTILE, fruit_result
from report_page import Page
from shown_studies import Mapped

import recombine as rc
from recombine.charts.map_layout import HELD_OUT, TRAINED, layout, sides, words
from recombine.charts.part_graph import graph_words
from recombine.charts.saving import sized_svg
from recombine.charts.split_map import SupportMap
from recombine.errors import UserError
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.support_maps import read_scores, support_maps
from recombine.report import render
from recombine.report.graph import graph_svg
from recombine.report.maps import map_svg, page_data
from recombine.supports.support import from_ranks
from recombine.trials import Trial

SPACES = [
    rc.Subsets(5, 1),
    rc.Subsets(16, 3),
    rc.Subsets(6, 4),
    rc.Product(a=7),
    rc.Product(a=4, b=3),
    rc.Product(a=2, b=3, c=2, d=5),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_combination_has_a_place_of_its_own(space: rc.Space):
    where = layout(space)
    places = where.places
    assert places.shape == (space.size, 2) and len(np.unique(places, axis=0)) == space.size
    assert (places >= 0).all() and (places + where.cell <= [where.width, where.height]).all()
    for i, (x, y) in enumerate(places):  # cells do not lap over each other
        apart = np.abs(places - [x, y]).max(axis=1) >= where.cell
        assert apart.sum() == space.size - 1, i


def test_rows_are_first_parts_and_columns_second_ones():
    space = rc.Subsets(6, 3)
    where = layout(space)
    at = {space.describe(row): tuple(place) for row, place in zip(space.enumerate(), where.places, strict=True)}
    assert at["{m0, m3}"][0] == at["{m1, m3}"][0] and at["{m0, m3}"][1] == at["{m0}"][1]
    assert at["{m2}"][0] - at["{m0}"][0] == at["{m2}"][1] - at["{m0}"][1] == 2 * where.cell  # the diagonal
    assert [name for name, _, _ in where.panels] == ["one or two", "with m2", "with m3", "with m4", "with m5"]


def squares(svg: str) -> int:
    return sum(path.count("M") for path in re.findall(r'<path d="([^"]*)"', svg))


def test_the_drawing_shows_both_sides_and_nothing_else():
    space = rc.Subsets(6, 2)
    support = from_ranks(space, np.arange(9), np.arange(12, 20), "some")
    side = sides(support)
    assert (side == TRAINED).sum() == 9 and (side == HELD_OUT).sum() == 8 and (side == 0).sum() == space.size - 17
    plain = map_svg(SupportMap("plain", support))
    assert squares(plain) == 17 and "var(--series-2)" in plain
    ElementTree.fromstring(plain)
    scores = np.full(space.size, 0.9)
    scores[12], scores[13] = -3.0, math.nan
    scored = SupportMap("scored", support, scores, "R²")
    drawn = map_svg(scored)
    assert squares(drawn) == 17 and drawn.count("#440154") == 1  # below zero has the color of zero
    assert 'fill="none" stroke="var(--muted)"' in drawn  # one is undefined
    assert "0.900 on trained" in words(scored) and "not kept" in words(SupportMap("plain", support))
    assert "var(" not in sized_svg(rc.charts.map(scored), 9, "light")


def test_scores_must_fit_the_space(support: rc.Support):
    with pytest.raises(UserError, match="one for each of 21"):
        SupportMap("m", support, np.zeros(3))
    with pytest.raises(UserError, match="say why"):
        SupportMap("m", None)


def test_a_space_that_is_too_large_is_said_to_be():
    support = rc.supports.random(rc.Subsets(30, 3), held_out=0.5, seed=0)
    shown, island = page_data([SupportMap("large", support), SupportMap("gone", None, missing="it is gone")])
    assert island is None and "too many to draw" in shown[0]["words"] and not shown[0]["svg"] and shown[0]["graph"]
    assert shown[1]["missing"] == "it is gone"


# -- graphs -----------------------------------------------------------------------------------------------------------
def test_components_have_colors_of_their_own():
    space = rc.Subsets(6, 2)
    svg = graph_svg(rc.supports.disconnected(space, within=0.2, seed=0))
    ElementTree.fromstring(svg)
    assert len(set(re.findall(r"var\(--series-\d\)", svg))) == 2
    whole = rc.supports.random(space, held_out=0.2, seed=0)
    assert set(re.findall(r"var\(--series-\d\)", graph_svg(whole))) == {"var(--series-1)"}
    # long names have room on both sides
    named = graph_svg(rc.supports.random(rc.Product(interaction=5, quadrant=4), held_out=0.25, seed=0))
    left, _, width, _ = map(float, re.findall(r'viewBox="([^"]*)"', named)[0].split())
    for x, side, name in re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', named):
        reach = 6 * len(name) * {"start": 1, "middle": 0.5, "end": -1}[side]
        assert left <= float(x) + min(reach, 0) and float(x) + max(reach, 0) <= left + width
    assert graph_words(whole) == "all 6 trained parts hang together"


def test_lines_are_pairs_that_were_trained():
    space = rc.Subsets(5, 2)
    trained = space.rank(space.from_sets([{0, 1}, {1, 2}, {3}]))
    svg = graph_svg(from_ranks(space, trained, None, "some"))
    assert len(re.findall(r"<path", svg)) == 2
    assert "m4: in 0 trained combinations" in svg and svg.count("stroke-dasharray") == 1
    assert "never trained: m4" in graph_words(from_ranks(space, trained, None, "some"))


def test_many_parts_are_not_drawn():
    assert graph_svg(rc.supports.random(rc.Subsets(80, 2), held_out=0.5, seed=0)) == ""


# -- from records -----------------------------------------------------------------------------------------------------
def spec(seed: int = 0, name: str = "random") -> dict[str, Any]:
    world = {"name": "hyperteacher-v1", "space": {"modules": 6, "at_most": 2}, "encoding": "identity"}
    support = {"name": name, "held_out": 0.25}
    trial = {"world": world, "support": support, "stages": [{"net": {"name": "mlp"}, "recipe": {}}], "seed": seed}
    return {"seed": 0, "at": {"split": f"{name} {seed}"}, "trial": trial}


def test_a_map_is_of_the_split_that_was_trained_on():
    support = Trial.from_json(spec()["trial"]).build_support()
    scores = [round(0.01 * i, 4) for i in range(support.space.size - 1)] + [None]
    facts = {"content": support.certificate().content, "each": {"metric": "r2_pooled", "scores": scores}}
    records = [
        Record(Cell("s", 1, spec()), [], facts, {}),
        Record(Cell("s", 1, spec(1)), [], facts, {}),  # another seed is another split
        Record(Cell("s", 1, spec(name="nonesuch")), [], facts, {}),
        Record(Cell("s", 1, spec()), [], {"impossible": "no such split"}, {}),
    ]
    found = support_maps(records, "split")
    assert [one.name for one in found] == ["random 0", "random 1", "nonesuch 0"]
    assert found[0].scores is not None and found[0].scores[3] == 0.03 and math.isnan(found[0].scores[-1])
    assert found[0].score_name == "R²"
    assert "another split" in found[1].missing and "cannot make it again" in found[2].missing


@pytest.mark.parametrize("kept", [None, 3, {"scores": [0.5]}, {"scores": "all"}, {}])
def test_scores_that_do_not_fit_are_not_read(kept: Any):
    assert read_scores({"each": kept}, 21) is None


# -- on the page ------------------------------------------------------------------------------------------------------


def test_many_groups_are_all_counted_and_the_smallest_are_gray():
    space = rc.Subsets(16, 2)
    pairs = [[2 * i, 2 * i + 1] for i in range(8)]
    support = rc.supports.from_combinations(space, np.array(pairs))
    words = graph_words(support)
    assert "8 groups" in words and "and 4 more" in words and "the others are gray" in words
    svg = graph_svg(support)
    assert {f"var(--series-{i})" for i in range(1, 7)} <= set(re.findall(r"var\(--series-\d\)", svg))
    assert svg.count("<circle") == 16 and len(re.findall(r'r="5.5" fill="var\(--muted\)"', svg)) == 4


def test_the_page_shows_maps_and_nothing_in_them_acts():
    source = render(dataclasses.replace(fruit_result(), study=Mapped()))
    page = Page(source)
    tags = [tag for tag, _ in page.elements]
    assert "img" not in tags and not [n for _, a in page.elements for n in a if n.startswith("on")]
    assert HOSTILE not in source
    island = page.islands["maps-data"]
    assert [one["space"] for one in island["maps"]] == [0, 1] and island["spaces"][0]["names"][0].endswith(HOSTILE)
    assert island["maps"][1]["scores"] is None and set(island["maps"][0]["sides"]) == {"t", "h"}
    assert len(island["spaces"][0]["parts"]) == len(island["spaces"][0]["places"]) == 24
    assert tags.count("select") == 2 and "Not shown: reason" in page.text
    assert sum(a.get("type") == "radio" for _, a in page.elements) == 3


def test_names_of_many_parts_do_not_lie_on_each_other():
    space = rc.Product(product=[f"a long name {i}" for i in range(30)], other=16)
    support = rc.supports.random(space, held_out=0.2, seed=0)
    svg = graph_svg(support)
    texts = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)" [^>]*>([^<]*)<', svg)
    assert svg.count("<circle") == 46 and 10 < len(texts) < 46  # every part is a point that says its name
    boxes = []
    for x, y, side, name in texts:
        left = float(x) - 6.0 * len(name) * {"start": 0.0, "middle": 0.5, "end": 1.0}[side]
        boxes.append((left, left + 6.0 * len(name), float(y), float(y) + 10))
    for i, (a, b, c, d) in enumerate(boxes):
        assert all(b <= e or a >= f or d <= g or c >= h for e, f, g, h in boxes[:i])
    few = graph_svg(rc.supports.random(rc.Subsets(12, 2), held_out=0.2, seed=0))
    assert few.count("<text") == 12
