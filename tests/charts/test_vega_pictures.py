"""Charts of the studies of pictures: they compile, and show where the numbers are."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from recombine.charts import vega, vega_pictures

QUOTED = """it's a "unit" </script> \\ ['x']"""


def compiled(spec: dict[str, Any]) -> str:
    """The chart drawn, as SVG; Vega runs every expression in it."""
    import vl_convert

    json.dumps(spec, allow_nan=False)
    return vl_convert.vegalite_to_svg(spec | {"width": 360})


def layer_rows() -> list[dict[str, Any]]:
    return [
        {"layer": layer, "series": f"depth {depth}", "seed": seed, "value": 1 - 0.02 * number * depth + 0.001 * seed}
        for depth in (2, 12)
        for number, layer in enumerate(["input", *(f"layer{i + 1}/post" for i in range(depth))])
        for seed in range(2)
    ]


def axis_of(spec: dict[str, Any], channel: str, layer: int = -1) -> dict[str, Any]:
    return spec["layer"][layer]["encoding"][channel]


def test_captions_speak_of_arrows_where_there_are_some():
    rows = [{"what": "a", "series": "s", "seed": 0, "value": value} for value in (0.2, 0.9)]
    inside = vega.dots(rows, "what", ["a"], ["s"], "error", top=1.0)
    beyond = vega.dots([*rows, rows[0] | {"value": 9.0}], "what", ["a"], ["s"], "error", top=1.0)
    assert vega.arrows(inside) == "" and "arrow" in vega.arrows(beyond)
    assert "▸" in compiled(beyond) and "▸" not in compiled(inside)


def test_a_search_is_drawn_against_what_was_asked():
    rows = [
        {"trained_on": n, "series": net, "seed": 0, "turn": turn, "value": 1 - 5 / n}
        for net in ("mlp", "transformer")
        for turn, n in enumerate((6, 20, 300), start=1)
    ]
    svg = compiled(vega.search(rows, 0.9, "R²"))
    assert svg.count('aria-roledescription="point"') == 6 and ">.9</text>" in svg


# -- by layer ---------------------------------------------------------------------------------------------------------
def test_layers_stand_in_their_order():
    spec = vega_pictures.by_layer(layer_rows(), "F", reference=(0.9,))
    order = axis_of(spec, "x")["scale"]["domain"]
    assert order == ["input", *(f"layer{i + 1}/post" for i in range(12))]
    drawn = compiled(spec)
    assert ">input<" in drawn and ">12<" in drawn and "layer12/post<" not in drawn  # short where it is narrow
    part = vega_pictures.by_layer(layer_rows(), "F", layers=["input", "layer2/post"])
    assert {row["layer"] for row in part["data"]["values"]} == {"input", "layer2/post"}
    assert ">layer2<" in compiled(part)


def test_what_lies_outside_the_axis_is_drawn_at_its_end():
    spec = vega_pictures.by_layer(layer_rows(), "F", domain=(0.75, 1))
    assert "clamp(datum.value, 0.75, 1)" in json.dumps(spec)
    assert axis_of(spec, "y")["scale"]["domain"] == [0.75, 1]
    rows = [row | {"value": 10.0 ** -(2 * i)} for i, row in enumerate(layer_rows())]
    assert axis_of(vega_pictures.by_layer(rows, "volume", log=True), "y")["scale"]["type"] == "log"
    compiled(spec)


# -- data needed ------------------------------------------------------------------------------------------------------
def needed_rows(exponent: float, scale: float, series: str) -> list[dict[str, Any]]:
    return [
        {"size": n, "series": series, "seed": s, "value": scale * n**exponent} for n in (24, 32, 48) for s in (0, 1)
    ]


def test_the_legend_tells_the_exponents():
    rows = needed_rows(2.5, 0.5, "bumps") + needed_rows(1.0, 4.0, "stripes") + needed_rows(0.5, 9.0, "neither")
    fits = [{"series": "bumps", "exponent": 2.5, "scale": 0.5, "low": 2.25, "high": 2.75},
            {"series": "stripes", "exponent": 1.0, "scale": 4.0}]  # fmt: skip
    spec = vega_pictures.log_log(rows, fits, "N", "images needed")
    drawn = compiled(spec)
    for text in ("bumps: N^2.50 (2.25 to 2.75)", "stripes: N^1.00", "neither", "N²", "N³"):
        assert f">{text}<" in drawn
    line = next(layer["data"]["values"] for layer in spec["layer"] if "color" in layer["encoding"] and "data" in layer)
    # a fitted line runs through the points, from the smallest size to the largest
    assert [(point["size"], point["value"]) for point in line[:2]] == [
        (n, pytest.approx(0.5 * n**2.5)) for n in (24, 48)
    ]


def test_slopes_are_slopes_and_stay_inside():
    rows = needed_rows(2.5, 0.5, "bumps")
    fits = [{"series": "bumps", "exponent": 2.5, "scale": 0.5}]
    for given in (fits, [], 3 * fits):
        spec = vega_pictures.log_log(rows, given, "N", "needed")
        fan = spec["layer"][0]["data"]["values"]
        low, high = axis_of(spec, "y")["scale"]["domain"]
        for start, end in zip(fan[::2], fan[1::2], strict=True):
            slope = math.log(end["value"] / start["value"]) / math.log(end["size"] / start["size"])
            assert {1: "N", 2: "N²", 3: "N³"}[round(slope)] == end["label"] and slope == pytest.approx(round(slope))
            assert low <= start["value"] <= end["value"] <= high
        assert len(fan) == 6
        assert (fan[0]["value"] == pytest.approx(0.5 * 24**2.5)) == (given is fits)


@pytest.mark.parametrize("lost", [None, math.nan, math.inf])
def test_what_was_never_reached_is_an_arrow(lost: float | None):
    rows = needed_rows(2.5, 0.5, "bumps")
    assert "▲" not in compiled(vega_pictures.log_log(rows, [], "N", "needed"))
    rows[-1]["value"] = lost
    spec = vega_pictures.log_log(rows, [], "N", "needed")
    at = [row["at"] for row in spec["data"]["values"] if not row["reached"]]
    assert len(at) == 1 and at[0] > max(row["value"] for row in rows[:-1]) and "▲" in compiled(spec)


# -- maps of a grid ---------------------------------------------------------------------------------------------------
def grid(values: list[float]) -> list[dict[str, Any]]:
    return [{"stripes": i, "bumps": 10 * i, "value": value} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "log", "domain", "text"),
    [
        ([0.25, 4.0], False, [0.25, 4.0], "4.00"),
        ([0.001, 0.02], False, [0.001, 0.02], "0.02"),
        ([1.0, 1000.0], True, [1.0, 1000.0], "1e+3"),
        ([3.0, 3.0], False, [2.5, 3.5], "3.00"),
        ([0.0, 3.0], True, [1.5, 6.0], "3"),
    ],
)
def test_colors_reach_over_the_values(values: list[float], log: bool, domain: list[float], text: str):
    spec = vega_pictures.grid_heat(grid(values), "stripes", "bumps", "stripes", "bumps", "error", log=log)
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == domain
    assert [shown["field"] for shown in spec["layer"][0]["encoding"]["tooltip"]] == ["stripes", "bumps", "value"]
    assert f">{text}<" in compiled(spec)


def test_the_map_of_scores_is_as_it_was():
    rows = [row | {"low": 0.0, "high": 1.0} for row in grid([0.1, 0.9])]
    spec = vega.heat(rows, "stripes", "bumps", "a", "b", "R²", begins=0.5)
    assert spec["layer"][0]["encoding"]["color"]["scale"] == {"scheme": "viridis", "domain": [0, 1], "clamp": True}
    assert [shown["field"] for shown in spec["layer"][0]["encoding"]["tooltip"]][2:] == ["value", "low", "high"]
    assert "datum.value > 0.55" in json.dumps(spec) and len(spec["layer"]) == 4


# -- tuning curves ----------------------------------------------------------------------------------------------------
def test_both_curves_of_a_unit_share_a_scale():
    rows = []
    for place in range(5):
        rows += [{"unit": QUOTED, "factor": "x", "place": place, "value": 2.0 + (place == 3)},
                 {"unit": QUOTED, "factor": "y", "place": place, "value": 2.5},
                 {"unit": "flat", "factor": "x", "place": place, "value": 7.0 + 1e-9 * place}]  # fmt: skip
    spec = vega_pictures.tuning(rows, hole=(1, 3))
    at = {(row["unit"], row["factor"], row["place"]): row["at"] for row in spec["data"]["values"]}
    ground, top = at[QUOTED, "x", 0], at[QUOTED, "x", 3]
    assert ground == -1 and -1 < top < 0 and at[QUOTED, "y", 1] == pytest.approx((ground + top) / 2)
    assert {value for (unit, _, _), value in at.items() if unit == "flat"} == {-2.0}  # rounding is no tuning
    drawn = compiled(spec)
    assert "against x, mean over y" in drawn and "it's a &quot;unit&quot; &lt;/script&gt;" in drawn.replace(
        "&#x27;", "'"
    )
    assert vega_pictures.tuning(rows, order=["flat"])["height"] * 2 == spec["height"]


# -- ratios -----------------------------------------------------------------------------------------------------------
def test_ratios_lie_on_a_logarithmic_axis():
    rows = [
        {"net": net, "series": code, "seed": seed, "value": value * (1 + 0.1 * seed)}
        for net, value in (("cnn", 80.0), ("spatial", 0.7)) for code in ("bump", "ramp") for seed in range(3)
    ]  # fmt: skip
    spec = vega_pictures.ratio_dots(rows, "net", ["cnn", "spatial"], ["bump", "ramp"])
    scale = axis_of(spec, "x")["scale"]
    assert scale["type"] == "log" and scale["domain"][0] < 0.7 and scale["domain"][1] > 96
    assert [row["threshold"] for row in spec["layer"][0]["data"]["values"]] == [1, 5]
    drawn = compiled(spec)
    assert all(f">{tick}<" in drawn for tick in (1, 5, 10, 50, 100)) and "▸" not in drawn
    rows[0]["value"], rows[1]["value"] = math.inf, math.nan
    spec = vega_pictures.ratio_dots(rows, "net", ["cnn", "spatial"], ["bump", "ramp"])
    assert len(spec["data"]["values"]) == len(rows) - 1 and "▸" in compiled(spec)
    assert axis_of(spec, "x")["scale"]["domain"] == scale["domain"]


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0.8, 120), [1, 2, 5, 10, 20, 50, 100]),
        ((0.03, 0.4), [0.05, 0.1, 0.2]),
        ((1e-9, 1e9), [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6]),
    ],
)
def test_ticks_of_a_logarithmic_axis(ends: tuple[float, float], ticks: list[float]):
    assert vega.log_axis(*ends)["axis"]["values"][: len(ticks)] == pytest.approx(ticks)


def test_a_linear_axis_is_as_it_was():
    rows = [{"net": "cnn", "series": "bump", "seed": 0, "value": 7.0}]
    assert axis_of(vega.dots(rows, "net", ["cnn"], [], "R²", top=1.0), "x")["scale"] == {
        "domain": [0.0, 1.5], "nice": False,
    }  # fmt: skip
