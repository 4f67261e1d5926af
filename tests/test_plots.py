"""Figures for papers by matplotlib: they show what Vega shows, at the size that was asked."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_vega_pictures import layer_rows, needed_rows

import recombine as rc
from recombine.charts import vega, vega_pictures
from recombine.charts.figure import Figure
from recombine.errors import UserError
from recombine.report.plots import chart_figure
from recombine.report.plots.expressions import evaluate
from recombine.report.plots.numbers import written
from recombine.report.plots.rows import transformed
from test_formats import Everything, media_box
from test_report import fruit_result

NUMBERS = st.floats(-1e3, 1e3)


# -- expressions ------------------------------------------------------------------------------------------------------
@given(NUMBERS, NUMBERS, NUMBERS)
def test_expressions_compute_what_they_say(value: float, low: float, high: float):
    names = {"datum": {"value": value}, "width": 200}
    assert evaluate(f"clamp(datum.value, {low}, {high})", names) == min(max(value, low), high)
    assert evaluate(f"datum.value < {low} || datum.value > {high}", names) == (value < low or value > high)
    assert evaluate(f"!(datum.value <= {low}) && {high} >= 0", names) == (not value <= low and high >= 0)
    assert evaluate(f"1 + 2 * datum.value - {low} / 4", names) == pytest.approx(1 + 2 * value - low / 4)
    assert evaluate(f"datum.value < 0 ? -1 : datum.value > {high} ? 2 : 1", names) == (
        -1 if value < 0 else 2 if value > high else 1
    )


def test_expressions_on_words():
    names = {"datum": {"label": "missing › 1 active", "series": "a"}, "width": 100}
    assert evaluate("split(datum.label, ' › ')[1]", names) == "1 active"
    assert evaluate("indexof(datum.label, ' › ') < 0 ? datum.label : 'nested'", names) == "nested"
    assert evaluate("width < 80 * 3 ? replace(datum.label, 'missing', '-') : datum.label", names) == "- › 1 active"
    assert evaluate('datum.series != "b" && "it\\"s" == "it\\"s"', names) is True
    assert evaluate("(containerSize()[0] || width) < 560 ? 1 : 3", names) == 1


@pytest.mark.parametrize("text", [
    "__import__('os')", "datum.value;1", "open('x')", "datum.", "1 +", "(1", "datum.value = 3", "a ? b",
    "format(1, 'd')", "[1]", "'open", "self", "min(1 2)",
])  # fmt: skip
def test_what_is_not_known_is_refused_and_never_run(text: str):
    with pytest.raises(UserError, match="cannot compute|do not know"):
        evaluate(text, {"datum": {"value": 1}})


def test_transforms_by_hand():
    rows = [{"s": "a", "v": 1.0}, {"s": "b", "v": 5.0}, {"s": "a", "v": 3.0}]
    steps = [{"calculate": "datum.v * 2", "as": "w"}, {"filter": "datum.w != 10"},
             {"aggregate": [{"op": "mean", "field": "w", "as": "m"}, {"op": "count", "as": "n"}],
              "groupby": ["s"]}]  # fmt: skip
    assert transformed(rows, steps) == [{"s": "a", "m": 4.0, "n": 2}]
    with pytest.raises(UserError, match="bin"):
        transformed(rows, [{"bin": True}])
    with pytest.raises(UserError, match="stdev"):
        transformed(rows, [{"aggregate": [{"op": "stdev", "field": "v", "as": "s"}]}])


@pytest.mark.parametrize(("value", "form", "text"), [
    (0.5, "~g", "0.5"), (100, "~g", "100"), (1e6, "~g", "1e+6"), (3, "d", "3"), (0.25, "%", "25%"),
    (0.255, ".0%", "26%"), (1e-7, "~e", "1e−7"), (0.123456, ".2~g", "0.12"), (10, ".2~g", "10"), (-0.5, ".2f", "−0.50"),
    (12, "", "12"), (0.125, ".3~p", "12.5%"), (0.5, ".3~p", "50%"),
])  # fmt: skip
def test_numbers_are_written_as_on_the_page(value: float, form: str, text: str):
    assert written(value, form) == text
    with pytest.raises(UserError, match=r"\$,d"):
        written(value, "$,d")


# -- the same as Vega's -----------------------------------------------------------------------------------------------
def seeds(names: list[str], series: list[str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "series": one, "seed": seed, "value": 0.9 - 0.21 * i - 0.1 * j * i + 0.02 * seed}
        for i, name in enumerate(names) for j, one in enumerate(series) for seed in range(3)
    ]  # fmt: skip


def xy(log: bool = False) -> list[dict[str, Any]]:
    return [
        {"width": 16 * 2**i, "series": s, "seed": seed, "value": (i + 1) ** 0.5 / 3 + 0.03 * seed - 0.1 * j}
        for i in range(4) for j, s in enumerate(("one", "two", "three")) for seed in range(2)
    ]  # fmt: skip


def tuned() -> list[dict[str, Any]]:
    return [
        {"unit": f"unit {u}", "factor": f, "place": p, "value": math.exp(-((p - u - 2) ** 2)) if f == "x" else 0.1 * u}
        for u in range(3) for f in "xy" for p in range(8)
    ]  # fmt: skip


SERIES = ["trained", "held out"]
FITS = [{"series": "bumps", "exponent": 2.5, "scale": 0.5}]
SPECS: dict[str, dict[str, Any]] = {
    "dots": vega.dots(seeds(["a", "b", "c", "d"], SERIES), "name", list("abcd"), SERIES, "R²", top=1.0),
    "dots beyond the axis": vega.dots(
        [*seeds(["a"], SERIES), {"name": "a", "series": "trained", "seed": 9, "value": -7.0}], "name", ["a"], SERIES,
        "R²", top=1.0,
    ),
    "dots without series": vega.dots(seeds(["a", "b"], [""]), "name", ["b", "a"], [], "gap", top=0.5, step=30),
    "ratios": vega_pictures.ratio_dots(
        [row | {"value": 10 ** (4 * row["value"])} for row in seeds(["a", "b"], SERIES)], "name", ["a", "b"], SERIES
    ),
    "curves": vega.curves(xy(), "width", "units", "R²", log=True, reference=(0.5,)),
    "curves by number": vega.curves(xy(), "width", "units", "R²"),
    "scatter": vega.scatter(
        [row | {"x": row["width"] / 128, "trial": "t"} for row in xy()], "probe", "score", ["one", "two", "three"]
    ),
    "needed": vega.needed([row | {"size": row["width"], "value": 1 + row["value"], "family": "f"} for row in xy()]),
    "by layer": vega_pictures.by_layer(layer_rows(), "F", reference=(0.9,)),
    "log-log": vega_pictures.log_log(
        needed_rows(2.5, 0.5, "bumps") + [{"size": 24, "series": "none", "seed": 0, "value": None}], FITS, "N", "images"
    ),
    "tuning": vega_pictures.tuning(tuned(), hole=(3, 5)),
}  # fmt: skip


def scene(spec: dict[str, Any], kind: str) -> list[list[tuple[str, float, float]]]:
    """What Vega draws: color and place of each item of the marks of a kind, in pixels from the upper left."""
    import vl_convert

    from recombine.report.theme import LIGHT, chart_config

    sized = spec | ({"width": 400} if spec.get("width") == "container" else {})
    found: list[list[tuple[str, float, float]]] = []

    def walk(item: Any) -> None:
        if isinstance(item, dict):
            if item.get("marktype") == kind and item.get("role") == "mark":
                found.append([
                    (str(one.get("fill") or one.get("stroke")), one.get("x", 0.0), one.get("y", 0.0))
                    for one in item["items"] if one.get("opacity", 1) > 0
                ])  # fmt: skip
            for value in item.values():
                walk(value)
        elif isinstance(item, list):
            for value in item:
                walk(value)

    walk(vl_convert.vegalite_to_scenegraph(sized, config=chart_config(LIGHT)))
    return [items for items in found if items]


def same_up_to_scale(ours: list[Any], theirs: list[Any], tolerance: float = 0.004) -> None:
    """Places that agree once both are stretched: of the range, along each axis."""
    for i in (0, 1):
        a, b = (np.array([place[i] for place in places], float) for places in (ours, theirs))
        if np.ptp(b) < 1:  # all on one line
            assert np.ptp(a) < 1
            continue
        fit = np.polyfit(b, a, 1)
        assert np.abs(np.polyval(fit, b) - a).max() <= tolerance * np.ptp(a)
        assert fit[0] * (1, -1)[i] > 0  # up is up: pixels of Vega go down


@pytest.mark.parametrize("name", SPECS)
def test_points_lie_where_vega_puts_them(name: str):
    from matplotlib.colors import to_hex

    axes = chart_figure(Figure("title", "", SPECS[name]), 3.25).axes[0]
    ours = [
        (to_hex(part.get_facecolor()[0]), *place)
        for part in axes.collections
        for place in axes.transData.transform(part.get_offsets())
    ]
    theirs = [item for items in scene(SPECS[name], "symbol") for item in items]
    if name == "tuning":
        assert not theirs and not ours  # points are there for the pointer only
        (hole,) = axes.patches
        assert (hole.get_x(), hole.get_width()) == (3, 2)
        return
    assert len(ours) == len(theirs) >= 4
    by_color = lambda items: sorted(items, key=lambda item: item[0])  # noqa: E731  (stable: else in order of rows)
    assert [item[0] for item in by_color(ours)] == [item[0] for item in by_color(theirs)]
    same_up_to_scale([item[1:] for item in by_color(ours)], [item[1:] for item in by_color(theirs)])


@pytest.mark.parametrize("name", ["curves", "needed", "by layer", "log-log", "tuning"])
def test_lines_run_where_vega_draws_them(name: str):
    from matplotlib.colors import to_hex

    axes = chart_figure(Figure("title", "", SPECS[name]), 3.25).axes[0]
    drawn = [line for line in axes.lines if len(line.get_xdata()) > 1 and line.get_transform() == axes.transData]
    ours = [[(to_hex(line.get_color()), *at) for at in axes.transData.transform(line.get_xydata())] for line in drawn]
    theirs = scene(SPECS[name], "line")
    assert sorted(map(len, ours)) == sorted(map(len, theirs))
    key = lambda items: (items[0][0], round(items[0][1]), len(items))  # noqa: E731
    flat = [[at[1:] for items in sorted(lines, key=key) for at in items] for lines in (ours, theirs)]
    if name == "log-log":  # the fan starts at one place: lines of one color cannot be told apart by it
        assert len(flat[0]) == len(flat[1])
        return
    if name == "tuning":  # three lines a color, from the same left end
        flat = [sorted(places, key=lambda at: (round(at[0]), way * at[1])) for places, way in zip(flat, (1, -1))]
    same_up_to_scale(*flat)


def test_a_map_has_its_numbers_colors_and_frontier():
    rows = [
        {"c": c, "w": w, "value": 0.1 * (i + 1) * (j + 1)} for i, c in enumerate("pqr") for j, w in enumerate((16, 32))
    ]
    spec = vega.heat(rows, "c", "w", "share", "units", "R²", begins=0.35)
    figure = chart_figure(Figure("title", "", spec), 3.25)
    axes = figure.axes[0]
    grid = np.asarray(axes.images[0].get_array())
    assert grid == pytest.approx(np.array([[0.2, 0.4, 0.6], [0.1, 0.2, 0.3]]))  # the larger width on top
    assert sorted(text.get_text() for text in axes.texts) == ["0.10", "0.20", "0.20", "0.30", "0.40", "0.60"]
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places["0.60"] == (2, 0) and places["0.10"] == (0, 1)
    edges = sorted(tuple(map(tuple, np.round(line.get_xydata(), 3).tolist())) for line in axes.lines)
    assert edges == [((0.5, -0.5), (0.5, 0.5)), ((0.5, 0.5), (1.5, 0.5)), ((1.5, 0.5), (2.5, 0.5))]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["p", "q", "r"]
    assert figure.axes[1].get_ylabel() == "R²"


def test_axes_and_legend_carry_the_words_of_the_page():
    figure = chart_figure(Figure("title", "", SPECS["curves"]), 6.75, title=True)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "units" and axes.get_ylabel() == "R²" and axes.get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two", "three"]
    assert {tick.get_text() for tick in axes.get_xticklabels()} == {"16", "32", "64", "128"}
    assert ".5" in [text.get_text() for text in axes.texts] and not figure.get_suptitle()
    assert figure.legends[0].get_title().get_text() == "title"  # not a second thing at the top


def test_a_logarithmic_axis_is_written_in_plain_numbers():
    axes = chart_figure(Figure("title", "", SPECS["needed"]), 3.25).axes[0]
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    assert {"20", "50", "100"} <= set(names) and not [name for name in names if "$" in name]
    assert not axes.get_xticklabels(minor=True)


def test_names_on_a_narrow_axis_do_not_run_into_each_other():
    rows = [{"width": 100000 + 9 * i, "series": "s", "seed": 0, "value": i / 20} for i in range(20)]
    figure = chart_figure(Figure("t", "", vega.curves(rows, "width", "units", "R²")), 2.0)
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels() if label.get_visible()]
    assert 1 <= len(boxes) < 20 and all(a.x1 < b.x0 for a, b in zip(boxes, boxes[1:]))


@pytest.mark.parametrize(("change", "named"), [
    ({"facet": {"field": "x"}}, "facet"), ({"mark": {"type": "geoshape"}}, "geoshape"),
    ({"transform": [{"fold": ["a"]}]}, "fold"), ({"encoding": {"theta": {"field": "x"}}}, "theta"),
])  # fmt: skip
def test_a_chart_beyond_what_is_drawn_is_refused_by_name(change: dict[str, Any], named: str):
    point = {"data": {"values": [{"x": 1, "y": 2}]}, "mark": {"type": "point"},
             "encoding": {c: {"field": c, "type": "quantitative"} for c in "xy"}}  # fmt: skip
    chart_figure(Figure("t", "", point), 3.0)
    with pytest.raises(UserError, match=named):
        chart_figure(Figure("t", "", point | change), 3.0)


# -- on paper ---------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def result() -> Any:
    return dataclasses.replace(fruit_result(), study=Everything())


@pytest.mark.parametrize("width", ["column", "text", 5.0])
def test_a_figure_is_as_wide_as_asked_on_paper(result: Any, tmp_path: Path, width: Any):
    inches = {"column": 3.25, "text": 6.75}.get(width, width)
    for number in (0, 2, 3):  # a chart, a plate, a map
        figure = rc.figures(result, width=width)[number]
        pdf = figure.save(tmp_path / "chart.pdf").read_bytes()
        assert pdf.startswith(b"%PDF") and media_box(pdf)[0] == pytest.approx(72 * inches, abs=0.01)
        assert media_box(pdf)[1] < 72 * 9.5
    png = figure.save(tmp_path / "chart.png").read_bytes()
    assert int.from_bytes(png[16:20], "big") == pytest.approx(300 * inches, abs=1)


def test_fonts_stay_fonts_and_the_same_result_gives_the_same_bytes(result: Any):
    first, second = (rc.figures(result)[0] for _ in range(2))
    for format in ("pdf", "svg", "png"):
        assert first.bytes(format) == second.bytes(format)
    pdf = first.bytes("pdf")
    assert b"/Type3" not in pdf and b"/FontFile2" in pdf
    assert b"<text" in first.bytes("svg")


def test_what_the_user_has_set_stays_and_nothing_opens_a_window(result: Any):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure = rc.figures(result)[0]
    axes = figure.figure.axes[0]
    axes.set_xlabel("mine")
    assert figure.figure is figure.figure and figure._repr_png_().startswith(b"\x89PNG")
    assert b">mine<" in figure.bytes("svg")
    assert dict(matplotlib.rcParams) == before
    assert figure.figure.canvas.manager is None


def test_labels_with_signs_of_formulas_are_labels(result: Any):
    rows = [
        {"name": r"$x^{ \frac", "series": "", "seed": 0, "value": 0.5},
        {"name": "b", "series": "", "seed": 0, "value": 1},
    ]
    spec = vega.dots(rows, "name", [r"$x^{ \frac", "b"], [], "$y_", top=1.0)
    figure = chart_figure(Figure("$", "", spec), 3.0)
    assert r"$x^{ \frac" in [label.get_text() for label in figure.axes[0].get_yticklabels()]
    figure.draw_without_rendering()


def test_an_audit_becomes_figures():
    rng = np.random.default_rng(0)
    table = {name: rng.integers(4, size=900) for name in ("a", "b")}
    table["split"] = np.where((table["a"] * 4 + table["b"]) % 3 == 0, "test", "train")
    table["right"] = table["a"] != 2
    found = rc.figures(rc.audit(table, split="split", outcome="right"))
    assert found[0].title == "How often the model is right" and re.fullmatch(r"audit-01-how-often.*", found[0].name)
    assert found[0].bytes("pdf").startswith(b"%PDF")


def test_without_matplotlib_one_sentence(result: Any, monkeypatch: pytest.MonkeyPatch):
    import builtins

    real = builtins.__import__

    def missing(name: str, *args: Any, **more: Any) -> Any:
        if name == "matplotlib":
            raise ModuleNotFoundError("no", name="matplotlib")
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UserError, match=r"pip install 'recombine\[figures\]'"):
        rc.figures(result)
