"""Maps of a grid: colors over the values there are, numbers, and the line where something begins."""

from __future__ import annotations

import json
from typing import Any

import pytest
from drawn_charts import compiled, data_of, spec_of

import recombine as rc


def grid(values: list[float]) -> list[dict[str, Any]]:
    return [{"x": i, "y": 10 * i, "value": value} for i, value in enumerate(values)]


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
    chart = rc.charts.heat(grid(values), domain=None, log=log)
    spec = spec_of(chart)
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == domain
    assert [shown["field"] for shown in spec["layer"][0]["encoding"]["tooltip"]] == ["x", "y", "value"]
    assert f">{text}<" in compiled(chart)


def test_a_line_runs_where_it_begins():
    rows = [row | {"low": 0.0, "high": 1.0} for row in grid([0.1, 0.9])]
    spec = spec_of(rc.charts.heat(rows, begins=0.5))
    assert spec["layer"][0]["encoding"]["color"]["scale"] == {"scheme": "viridis", "domain": [0, 1], "clamp": True}
    assert [shown["field"] for shown in spec["layer"][0]["encoding"]["tooltip"]][2:] == ["value", "low", "high"]
    assert "datum.value > 0.55" in json.dumps(spec)
    full = [{"x": x, "y": y, "value": 0.4 * x * y} for x in (1, 2) for y in (1, 2)]
    spec = spec_of(rc.charts.heat(full, begins=0.5))
    level, beside = (data_of(layer) for layer in spec["layer"][2:])
    assert level == [{"x": 1, "y": 2}] and beside == [{"x": 2, "y": 1}]


def test_pairs_never_seen_are_crossed():
    rows = [{"x": x, "y": y, "value": (x == y) * 5} for x in "ab" for y in "ab"]
    drawn = compiled(rc.charts.counts(rows, x_title="color", y_title="shape"))
    assert drawn.count(">×<") == 2 and ">color<" in drawn and ">shape<" in drawn
