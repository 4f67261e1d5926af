"""Curves: by a number, by layer, along a search, over training."""

from __future__ import annotations

import json
from typing import Any

import pytest
from drawn_charts import axis_of, compiled, data_of, spec_of

import recombine as rc


def layer_rows() -> list[dict[str, Any]]:
    return [
        {"layer": layer, "series": f"depth {depth}", "seed": seed, "value": 1 - 0.02 * number * depth + 0.001 * seed}
        for depth in (2, 12)
        for number, layer in enumerate(["input", *(f"layer{i + 1}/post" for i in range(depth))])
        for seed in range(2)
    ]


def test_lines_run_through_the_means_of_all_seeds():
    rows = [{"n": n, "series": s, "seed": k, "value": n + k} for n in (2, 4) for s in "ab" for k in range(3)]
    chart = rc.charts.curves(rows, x="n", value="R²", low=-9)
    (line,) = [layer for layer in spec_of(chart)["layer"] if layer["mark"]["type"] == "line"]
    assert [(row["n"], row["series"], row["value"]) for row in data_of(line)] == [
        (n, s, pytest.approx(n + 1)) for n in (2, 4) for s in "ab"
    ]
    assert compiled(chart).count('aria-roledescription="point"') == 12


def test_a_threshold_is_a_dashed_line_with_its_number():
    chart = rc.charts.curves([{"n": 1, "series": "a", "value": 0.3}], x="n", reference=(0.8, 0))
    drawn = compiled(chart)
    assert ">.8</text>" in drawn and ">0</text>" in drawn and "stroke-dasharray" in drawn


def test_a_search_is_drawn_against_what_was_asked():
    rows = [
        {"trained_on": n, "series": net, "seed": 0, "turn": turn, "value": 1 - 5 / n}
        for net in ("mlp", "transformer")
        for turn, n in enumerate((6, 20, 300), start=1)
    ]
    svg = compiled(rc.charts.search(rows, threshold=0.9, value="R²"))
    assert svg.count('aria-roledescription="point"') == 6 and ">.9</text>" in svg


def test_over_training_each_seed_has_a_line():
    rows = [{"share": s / 4, "step": s, "series": "a", "seed": k, "value": s * k} for s in range(5) for k in (1, 3)]
    spec = spec_of(rc.charts.history(rows, value="gap", reference=(0.05,)))
    assert [row["value"] for row in data_of(spec["layer"][2])] == [0, 2, 4, 6, 8]
    assert spec["layer"][3]["encoding"]["detail"]["field"] == "seed"


def test_layers_stand_in_their_order():
    chart = rc.charts.by_layer(layer_rows(), value="F", reference=(0.9,))
    order = axis_of(spec_of(chart), "x")["scale"]["domain"]
    assert order == ["input", *(f"layer{i + 1}/post" for i in range(12))]
    drawn = compiled(chart)
    assert ">input<" in drawn and ">12<" in drawn and "layer12/post<" not in drawn  # short where it is narrow
    part = rc.charts.by_layer(layer_rows(), value="F", layers=["input", "layer2/post"])
    assert {row["layer"] for row in data_of(spec_of(part))} == {"input", "layer2/post"}
    assert ">layer2<" in compiled(part)


def test_what_lies_outside_the_axis_is_drawn_at_its_end():
    spec = spec_of(rc.charts.by_layer(layer_rows(), value="F", domain=(0.75, 1)))
    assert "clamp(datum.value, 0.75, 1)" in json.dumps(spec)
    assert axis_of(spec, "y")["scale"]["domain"] == [0.75, 1]
    rows = [row | {"value": 10.0 ** -(2 * i)} for i, row in enumerate(layer_rows())]
    assert axis_of(spec_of(rc.charts.by_layer(rows, value="volume", log=True)), "y")["scale"]["type"] == "log"


def test_both_tuning_curves_of_a_unit_share_a_scale():
    quoted = """it's a "unit" </script> \\ ['x']"""
    rows = []
    for place in range(5):
        rows += [
            {"unit": quoted, "factor": "x", "place": place, "value": 2.0 + (place == 3)},
            {"unit": quoted, "factor": "y", "place": place, "value": 2.5},
            {"unit": "flat", "factor": "x", "place": place, "value": 7.0 + 1e-9 * place},
        ]
    chart = rc.charts.tuning(rows, hole=(1, 3))
    spec = spec_of(chart)
    at = {(row["unit"], row["factor"], row["place"]): row["at"] for row in data_of(spec)}
    ground, top = at[quoted, "x", 0], at[quoted, "x", 3]
    assert ground == -1 and -1 < top < 0 and at[quoted, "y", 1] == pytest.approx((ground + top) / 2)
    assert {value for (unit, _, _), value in at.items() if unit == "flat"} == {-2.0}  # rounding is no tuning
    drawn = compiled(chart).replace("&#x27;", "'").replace("&apos;", "'")
    assert "against x, mean over y" in drawn and "it's a &quot;unit&quot; &lt;/script&gt;" in drawn
    assert spec_of(rc.charts.tuning(rows, order=["flat"]))["height"] * 2 == spec["height"]
