"""Dots: a row per category, a point per seed, arrows beyond the axis, ratios on a logarithmic one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from drawn_charts import axis_of, compiled, data_of, spec_of

import recombine as rc
from recombine.charts.chart_parts import log_axis
from recombine.charts.kinds import arrows


def rows(*values: float, name: str = "a") -> list[dict[str, Any]]:
    return [{"name": name, "series": "s", "seed": i, "value": value} for i, value in enumerate(values)]


def test_captions_speak_of_arrows_where_there_are_some():
    inside, beyond = rc.charts.dots(rows(0.2, 0.9)), rc.charts.dots(rows(0.2, 0.9, 9.0, -math.inf))
    assert arrows(inside) == "" and "arrow" in arrows(beyond)
    assert "▸" in compiled(beyond) and "◂" in compiled(beyond) and "▸" not in compiled(inside)


def test_a_linear_axis_reaches_from_zero_and_stays_within_reason():
    assert axis_of(spec_of(rc.charts.dots(rows(7.0))), "x")["scale"] == {"domain": [0.0, 1.5], "nice": False}
    assert axis_of(spec_of(rc.charts.dots(rows(0.5), top=0.2)), "x")["scale"]["domain"] == [0.0, 0.5]


def test_intervals_and_spans_lie_where_the_numbers_are():
    both = [
        row | {"series": side, "value": row["value"] - shift}
        for side, shift in (("in", 0), ("out", 0.5))
        for row in rows(0.8, 0.9, 1.0)
    ]
    spec = spec_of(rc.charts.dots(both, span=("out", "in")))
    assert data_of(spec["layer"][0]) == [{"name": "a", "at": pytest.approx(0.4), "to": pytest.approx(0.9)}]
    spec = spec_of(rc.charts.dots(rows(0.8, 0.9, 1.0), intervals=True, thresholds_at=(0.5,)))
    (interval,) = data_of(spec["layer"][2])
    over = rc.over_seeds([0.8, 0.9, 1.0])
    assert (interval["low"], interval["high"]) == (pytest.approx(over.low), pytest.approx(over.high))
    assert data_of(spec["layer"][0])[0]["threshold"] == 0.5


def test_a_series_without_points_keeps_its_mean():
    both = [*rows(0.2, 0.4), *(row | {"series": "t"} for row in rows(0.6, 0.8))]
    drawn = compiled(rc.charts.dots(both, points_of=["t"]))
    assert drawn.count('aria-roledescription="point"') == 2 and drawn.count('aria-roledescription="tick"') == 2


def test_ratios_lie_on_a_logarithmic_axis():
    found = [
        {"net": net, "series": code, "seed": seed, "value": value * (1 + 0.1 * seed)}
        for net, value in (("cnn", 80.0), ("spatial", 0.7))
        for code in ("bump", "ramp")
        for seed in range(3)
    ]
    look: dict[str, Any] = {"y": "net", "log": True, "top": 5, "also": [1.0], "thresholds_at": (1, 5)}
    chart = rc.charts.dots(found, **look)
    scale = axis_of(spec_of(chart), "x")["scale"]
    assert scale["type"] == "log" and scale["domain"][0] < 0.7 and scale["domain"][1] > 96
    drawn = compiled(chart, 4.5)
    assert all(f">{tick}<" in drawn for tick in (1, 5, 10, 50, 100)) and "▸" not in drawn
    found[0]["value"], found[1]["value"] = math.inf, math.nan
    chart = rc.charts.dots(found, **look)
    assert len(data_of(spec_of(chart))) == len(found) - 1 and "▸" in compiled(chart)
    assert axis_of(spec_of(chart), "x")["scale"]["domain"] == scale["domain"]


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0.8, 120), [1, 2, 5, 10, 20, 50, 100]),
        ((0.03, 0.4), [0.05, 0.1, 0.2]),
        ((1e-9, 1e9), [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6]),
    ],
)
def test_ticks_of_a_logarithmic_axis(ends: tuple[float, float], ticks: list[float]):
    assert log_axis(*ends)["axis"].to_dict()["values"][: len(ticks)] == pytest.approx(ticks)
