"""What is needed against size: points, fitted powers, slopes to compare, and what was never reached."""

from __future__ import annotations

import math
from typing import Any

import pytest
from drawn_charts import axis_of, compiled, data_of, spec_of

import recombine as rc

FIT = {"series": "bumps", "exponent": 2.5, "scale": 0.5}


def needed_rows(exponent: float, scale: float, series: str) -> list[dict[str, Any]]:
    return [
        {"size": n, "series": series, "seed": s, "value": scale * n**exponent} for n in (24, 32, 48) for s in (0, 1)
    ]


def test_the_legend_tells_the_exponents():
    rows = needed_rows(2.5, 0.5, "bumps") + needed_rows(1.0, 4.0, "stripes") + needed_rows(0.5, 9.0, "neither")
    fits = [FIT | {"low": 2.25, "high": 2.75}, {"series": "stripes", "exponent": 1.0, "scale": 4.0}]
    chart = rc.charts.log_log(rows, fits, x_title="N", value="images needed")
    drawn = compiled(chart)
    for text in ("bumps: N^2.50 (2.25 to 2.75)", "stripes: N^1.00", "neither", "N²", "N³"):
        assert f">{text}<" in drawn
    lines = [layer for layer in spec_of(chart)["layer"] if "color" in layer["encoding"] and "data" in layer]
    # a fitted line runs through the points, from the smallest size to the largest
    assert [(point["size"], point["value"]) for point in data_of(lines[0])[:2]] == [
        (n, pytest.approx(0.5 * n**2.5)) for n in (24, 48)
    ]


def test_slopes_are_slopes_and_stay_inside():
    rows = needed_rows(2.5, 0.5, "bumps")
    for given in ([FIT], [], 3 * [FIT]):
        spec = spec_of(rc.charts.log_log(rows, given, x_title="N", value="needed"))
        fan = data_of(spec["layer"][0])
        low, high = axis_of(spec, "y")["scale"]["domain"]
        for start, end in zip(fan[::2], fan[1::2], strict=True):
            slope = math.log(end["value"] / start["value"]) / math.log(end["size"] / start["size"])
            assert {1: "N", 2: "N²", 3: "N³"}[round(slope)] == end["label"] and slope == pytest.approx(round(slope))
            assert low <= start["value"] <= end["value"] <= high
        assert len(fan) == 6
        assert (fan[0]["value"] == pytest.approx(0.5 * 24**2.5)) == (len(given) == 1)


@pytest.mark.parametrize("lost", [None, math.nan, math.inf])
def test_what_was_never_reached_is_an_arrow(lost: float | None):
    rows = needed_rows(2.5, 0.5, "bumps")
    assert "▲" not in compiled(rc.charts.log_log(rows))
    rows[-1]["value"] = lost
    chart = rc.charts.log_log(rows)
    at = [row["at"] for row in data_of(spec_of(chart)) if not row["reached"]]
    assert len(at) == 1 and at[0] > max(row["value"] for row in rows[:-1]) and "▲" in compiled(chart)


def test_needed_is_drawn_beside_the_line_of_all():
    rows = [{"size": n, "series": "mlp", "seed": 0, "family": "f", "value": n / 4} for n in (28, 120)]
    spec = spec_of(rc.charts.needed(rows))
    assert all(row["size"] == row["value"] for row in data_of(spec["layer"][0]))
    assert compiled(rc.charts.needed(rows)).count('aria-roledescription="point"') == 2
