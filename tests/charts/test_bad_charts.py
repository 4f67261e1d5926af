"""Every kind of chart draws whatever it is given: nothing, one value, infinities, a million rows, any label."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from drawn_charts import compiled, data_of, spec_of

import recombine as rc
from recombine.charts.figure import Figure
from recombine.charts.theme import LOOKS
from recombine.charts.tidy_rows import MOST, tidy
from recombine.errors import UserError

HOSTILE = """</script><script>alert(1)</script><!-- "'><img src=x onerror=alert(2)> & {{ 7 }} \\ ['x'] datum.value"""


def row(i: int, value: Any, name: str = "a") -> dict[str, Any]:
    """A row that any kind can draw."""
    number = i % 5 + 1
    return {
        "name": name,
        "series": name,
        "seed": i,
        "value": value,
        "x": number,
        "y": i // 5 % 5,
        "size": number,
        "layer": "input",
        "unit": name,
        "factor": "x",
        "place": number,
        "share": 0.2 * number,
        "step": i,
        "trained_on": number,
        "turn": i,
        "family": name,
        "trial": name,
    }


KINDS: dict[str, Callable[..., Any]] = {
    "dots": rc.charts.dots,
    "logarithmic dots": lambda rows: rc.charts.dots(rows, log=True, thresholds_at=(1, 5), intervals=True),
    "curves": rc.charts.curves,
    "by layer": rc.charts.by_layer,
    "search": lambda rows: rc.charts.search(rows, threshold=0.5),
    "history": rc.charts.history,
    "heat": lambda rows: rc.charts.heat(rows, domain=None),
    "scatter": rc.charts.scatter,
    "bars": rc.charts.bars,
    "log-log": rc.charts.log_log,
    "tuning": rc.charts.tuning,
    "counts": lambda rows: rc.charts.counts([row | {"value": 1} for row in tidy(rows)]),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_chart_of_nothing_is_empty_and_of_one_value_shows_it(name: str):
    for rows in ([], pd.DataFrame([row(0, 0.5)]).iloc[:0], [row(0, 0.5)], pd.DataFrame([row(0, 0.5)])):
        root = ElementTree.fromstring(compiled(KINDS[name](rows)))
        assert 0 < float(root.get("height", "nan")) < 1000  # not infinitely high, for a legend of nothing
    assert len(data_of(spec_of(KINDS[name]([row(0, 0.5)])))) == 1


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("counts", "log-log")])
def test_undefined_values_are_counted_and_infinite_ones_never_move_the_others(name: str):
    rows = [*(row(i, 0.5 + 0.01 * i) for i in range(5)), row(5, math.nan), row(6, None)]
    rows += [row(7, math.inf), row(8, -math.inf)]
    chart = KINDS[name](rows)
    text = json.dumps(spec_of(chart), allow_nan=False)
    assert "NaN" not in text
    caption = Figure("t", "Words.", chart).full_caption
    lost = int(caption.split(" undefined")[0].split()[-1])
    drawn = sum(abs(r["value"]) > 1e300 for r in data_of(spec_of(chart)))
    assert lost + drawn == 4 and lost >= 2  # what is not drawn at an end of the axis is counted
    ElementTree.fromstring(compiled(chart))


@pytest.mark.parametrize("name", [name for name in KINDS if name != "counts"])
def test_a_million_rows_are_thinned_and_said_to_be(name: str):
    many = 1_000_000 if name == "scatter" else 30_000
    rows = [row(i, (i % 1000) / 1000, f"n{i % 3}") for i in range(many)]
    if name == "heat":
        rows = [r | {"x": i % 300, "y": i // 300} for i, r in enumerate(rows)]
    if name in ("bars", "tuning"):
        rows = [r | {"name": f"n{i}", "unit": f"u{i}"} for i, r in enumerate(rows)]
    figure = Figure("t", "Words.", KINDS[name](rows))
    shown = len(data_of(figure.spec))
    assert 0 < shown <= (20_000 if name == "history" else MOST)
    said = figure.full_caption
    assert (f"Of {many:,} points {shown:,} are drawn" in said) or f"The first of {many:,} categories are drawn" in said
    if name == "curves":  # means are those of all rows, however few points are drawn
        line = next(layer for layer in figure.spec["layer"] if layer["mark"]["type"] == "line")
        for mean in data_of(line):
            own = [r["value"] for r in rows if (r["x"], r["series"]) == (mean["x"], mean["series"])]
            assert mean["value"] == pytest.approx(sum(own) / len(own))


def test_the_same_rows_are_thinned_alike():
    rows = [row(i, i / 10_000) for i in range(10_000)]
    assert spec_of(rc.charts.scatter(rows)) == spec_of(rc.charts.scatter(rows))


@pytest.mark.parametrize("label", [HOSTILE, "x" * 300, "a\x1b[31mb\x00‮", "", "a.b[c]"])
@pytest.mark.parametrize("name", KINDS)
def test_labels_are_text_and_no_chart_is_wider_for_them(name: str, label: str):
    chart = KINDS[name]([row(i, 0.1 * i, label) for i in range(4)])
    svg = compiled(chart, 6.0)
    root = ElementTree.fromstring(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "img", "image", "a", "foreignObject"}
    if name != "counts":
        assert float(root.get("width", "0")) == pytest.approx(6 * 96, abs=1)


@pytest.mark.parametrize("column", ["a.b", "a[0]", "it's", "back\\slash", "seed:Q"])
def test_a_column_may_be_called_anything(column: str):
    rows = [{column: name, "seed": i, "value": 0.2 * i} for i, name in enumerate("abc")]
    svg = compiled(rc.charts.dots(rows, y=column))
    assert all(f">{name}<" in svg for name in "abc") and svg.count('aria-roledescription="point"') == 3


def test_a_column_that_cannot_be_drawn_is_named():
    with pytest.raises(UserError, match='say "x" cannot be drawn; rename it'):
        rc.charts.dots([{'say "x"': "a", "value": 0.5}], y='say "x"')


@pytest.mark.parametrize("style", LOOKS)
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_every_look(name: str, style: str):
    svg = compiled(KINDS[name]([row(i, 0.1 * i + 0.1) for i in range(6)]), style=style)
    assert ("var(--" in svg) == (style == "page")


def test_series_differ_by_shape_as_well_as_by_color():
    rows = [row(i, 0.1 * i, f"series {i}") for i in range(4)]
    shape = spec_of(rc.charts.scatter(rows))["layer"][0]["encoding"]["shape"]["scale"]
    assert len(set(shape["range"])) == len(shape["domain"]) == 4
