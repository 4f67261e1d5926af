"""Charts of the studies of pictures: readings by layer, data needed against size, maps of a grid, tuning curves.

As in `vega`, rows are plain data and colors are left to whoever draws.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import vega
from .layer_order import layers_in_order
from .vega import Rows, Spec

Span = tuple[int | float, int | float]

SLOPES = {1: "N", 2: "N²", 3: "N³"}  # powers to compare a fit with
DASHES = ([1, 0], [6, 3], [2, 2])
TUNED = {"x": "against x, mean over y", "y": "against y, mean over x"}


def by_layer(
    rows: Rows, y_title: str, order: Sequence[str] = (), *, layers: Sequence[str] = (),
    reference: Sequence[int | float] = (), domain: Span | None = None, log: bool = False,
) -> Spec:  # fmt: skip
    """A line a series through the means over seeds of each layer, a point a seed. Rows: layer, series, seed, value.

    order: of the series; layers: those to show, first to last (default: all that occur, the input first). What lies
    outside `domain` is drawn at its ends.
    """
    series = [str(name) for name in (order or dict.fromkeys(row["series"] for row in rows))]
    shown = list(layers) or layers_in_order(row["layer"] for row in rows)
    rows, lost = vega.defined([row for row in rows if row["layer"] in shown])
    names = {"labelAngle": 0, "labelOverlap": True, "grid": False, "labelExpr": _short_names(shown)}
    across = {"field": "layer", "type": "ordinal", "title": "layer", "sort": shown, "axis": names,
              "scale": {"type": "point", "domain": shown, "padding": 0.25}}  # fmt: skip
    up: Spec = {"field": "at", "type": "quantitative", "title": y_title}
    if log:
        domain = domain or vega.log_ends([*(row["value"] for row in rows), *reference])
        up |= vega.log_axis(*domain)
    else:
        up |= {
            "axis": {"tickCount": 5},
            "scale": {"domain": list(domain), "nice": False} if domain else {"zero": False},
        }
    at = {"calculate": f"clamp(datum.value, {domain[0]}, {domain[1]})" if domain else "datum.value", "as": "at"}
    color, shape = _series(series)
    means = {
        "transform": [
            {"aggregate": [{"op": "mean", "field": "value", "as": "value"}], "groupby": ["layer", "series"]}, at,
        ],
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {"x": across, "y": up, "color": color},
    }  # fmt: skip
    points = {
        "transform": [at],
        "mark": {"type": "point", "filled": True, "size": 42, "opacity": 0.65},
        "encoding": {"x": across, "y": up, "color": color, "shape": shape,
                     "tooltip": vega.tooltip({"layer": "layer", "series": "series", "seed": "seed"})},
    }  # fmt: skip
    layered = [*vega.thresholds("y", reference), means, points] if reference else [means, points]
    return vega.sized({"data": {"values": rows}, "height": 280, "layer": layered}, lost)


def log_log(
    rows: Rows, fits: Sequence[Mapping[str, Any]], x_title: str, y_title: str, order: Sequence[str] = (), *,
    slopes: Mapping[int, str] = SLOPES,
) -> Spec:  # fmt: skip
    """What is needed against size on logarithmic axes: a point a seed, fitted powers with their exponent in the legend.

    rows: size, series, seed, value; a value that is None or not finite was never reached and is drawn as an arrow at
    the top. fits: series, scale and exponent of value = scale * size^exponent, and low and high of the exponent if it
    has an interval. Dashed lines show whole powers, to compare slopes with.
    """
    series = [str(name) for name in (order or dict.fromkeys(row["series"] for row in rows))]
    label = {name: name for name in series} | {fit["series"]: _fitted(fit) for fit in fits}
    reached = [row["value"] for row in rows if _finite(row["value"])]
    sizes = sorted({row["size"] for row in rows})
    lines = [
        {"size": size, "series": label[fit["series"]], "value": fit["scale"] * size ** fit["exponent"]}
        for fit in fits for size in _ends_of(rows, fit["series"])
    ]  # fmt: skip
    low, high = vega.log_ends([*reached, *(point["value"] for point in lines)])
    left, right = sizes[0] / 1.08, sizes[-1] * 1.18  # room for the names of the slopes
    drawn = [
        row | {"series": label[row["series"]], "reached": _finite(row["value"]),
               "value": row["value"] if _finite(row["value"]) else None,
               "at": row["value"] if _finite(row["value"]) else high / 1.05}
        for row in rows
    ]  # fmt: skip
    ticks = {"values": sizes, "tickCount": len(sizes), "format": "d", "labelOverlap": "greedy", "grid": False}
    across = {"field": "size", "type": "quantitative", "title": x_title, "axis": ticks,
              "scale": {"type": "log", "domain": [left, right], "nice": False}}  # fmt: skip
    up: Spec = {"field": "at", "type": "quantitative", "title": y_title} | vega.log_axis(low, high)
    color, shape = _series([label[name] for name in series], columns=1)
    # the lower left corner, unless there are few enough fits to compare each with slopes of its own
    starts = [(line["size"], line["value"]) for line in lines[::2]] if 0 < len(fits) <= 2 else [(left, low)]
    fan = _fan(slopes, starts, right / 1.1, high)
    shown = vega.tooltip({"size": x_title, "series": "series", "seed": "seed"})
    guide = {"x": {**across, "field": "size"}, "y": {**up, "field": "value"}}
    layers: list[Spec] = [
        {"data": {"values": fan}, "mark": {"type": "line", "style": ["reference"], "strokeWidth": 1,
                                           "strokeDash": [4, 4], "clip": True},
         "encoding": {**guide, "detail": {"field": "line", "type": "nominal"}}},
        {"data": {"values": [point for point in fan if point["label"]]},
         "mark": {"type": "text", "style": ["reference-label"], "align": "left", "dx": 5,
                  "dy": -2 if len(reached) == len(rows) else 15},  # below the arrows at the top
         "encoding": {**guide, "text": {"field": "label", "type": "nominal"}}},
        {"data": {"values": lines}, "mark": {"type": "line", "strokeWidth": 2.5},
         "encoding": {**guide, "color": color}},
        {"transform": [{"filter": "datum.reached"}],
         "mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.7},
         "encoding": {"x": across, "y": up, "color": color, "shape": shape, "tooltip": shown}},
    ]  # fmt: skip
    if len(reached) < len(rows):
        layers.append(
            {"transform": [{"filter": "!datum.reached"}],
             "mark": {"type": "text", "text": "▲", "fontSize": 12, "opacity": 0.8},
             "encoding": {"x": across, "y": up, "color": color, "tooltip": shown[:-1]}}
        )  # fmt: skip
    return vega.sized({"data": {"values": drawn}, "height": 340, "layer": layers})


def grid_heat(
    rows: Rows, x: str, y: str, x_title: str, y_title: str, value_title: str, *, begins: int | float | None = None,
    domain: Span | None = None, log: bool = False, digits: str | None = None,
) -> Spec:  # fmt: skip
    """`vega.heat` with colors that reach over the values there are, or over `domain`; log: colors by ratio.

    Cells without a value are left empty.
    """
    rows = [row for row in rows if _finite(row["value"])]
    values = [row["value"] for row in rows]
    if log:
        values = [value for value in values if value > 0] or [1.0]
    low, high = domain or (min(values, default=0.0), max(values, default=1.0))
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    fixed = not log and 0.1 <= max(abs(low), abs(high)) < 10
    return vega.heat(
        rows, x, y, x_title, y_title, value_title, begins=begins, domain=(low, high), log=log,
        digits=digits or (".2f" if fixed else ".2~g"),
    )  # fmt: skip


def tuning(rows: Rows, order: Sequence[str] = (), *, hole: Span | None = None, title: str = "place") -> Spec:
    """Tuning curves, a line of small plots: what a unit does against each factor, on a height of its own.

    Rows: unit, factor ("x" or "y"), place, value (its mean over the other factor). Both curves of a unit share a scale,
    so a unit tuned to one factor has one curve with a peak and one that is flat. hole: the held-out places, shaded.
    """
    units = [str(name) for name in (order or dict.fromkeys(row["unit"] for row in rows))]
    drawn: Rows = []
    for line, unit in enumerate(units):
        part = [row for row in rows if row["unit"] == unit and _finite(row["value"])]
        values = [row["value"] for row in part] or [0.0]
        low, span = min(values), max(values) - min(values)
        flat = span <= 1e-6 * max(map(abs, values))  # rounding, and no tuning
        drawn += [
            row | {"series": TUNED.get(row["factor"], f"against {row['factor']}"),
                   "at": -line - 1 + (0.0 if flat else round(0.68 * (row["value"] - low) / span, 4))}
            for row in part
        ]  # fmt: skip
    found = {row["series"] for row in drawn}
    series = [name for name in TUNED.values() if name in found] + sorted(found - set(TUNED.values()))
    places = [row["place"] for row in drawn] or [0, 1]
    across = {"field": "place", "type": "quantitative", "title": title, "axis": {"grid": False, "tickMinStep": 1},
              "scale": {"domain": [min(places), max(places)], "nice": False}}  # fmt: skip
    grounds = [-line - 1 for line in range(len(units))]
    up: Spec = {"field": "at", "type": "quantitative", "title": None,
                "scale": {"domain": [-len(units), 0], "nice": False},
                "axis": {"values": grounds, "tickCount": len(grounds), "labels": False}}  # fmt: skip
    color = {"field": "series", "type": "nominal", "scale": {"domain": series}, "legend": vega.legend()}
    dash = {"field": "series", "type": "nominal", "legend": vega.legend(),
            "scale": {"domain": series, "range": [DASHES[i % len(DASHES)] for i in range(len(series))]}}  # fmt: skip
    shown = vega.tooltip({"unit": "unit", "series": "curve", "place": title})
    names = [{"unit": unit, "at": -line} for line, unit in enumerate(units)]
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 2},
         "encoding": {"x": across, "y": up, "color": color, "strokeDash": dash,
                      "detail": {"field": "unit", "type": "nominal"}}},
        {"mark": {"type": "point", "size": 70, "opacity": 0, "filled": True},  # what the pointer meets
         "encoding": {"x": across, "y": up, "tooltip": shown}},
        {"data": {"values": names},  # above the curves, so that they have all of a narrow screen
         "mark": {"type": "text", "style": ["reference-label"], "align": "left", "baseline": "top", "dy": 5},
         "encoding": {"x": {"value": 2}, "y": up, "text": {"field": "unit", "type": "nominal"}}},
    ]  # fmt: skip
    if hole is not None:
        span_of = {"data": {"values": [{"from": hole[0], "to": hole[1]}]}, "mark": {"type": "rect", "style": ["span"]}}
        layers.insert(0, span_of | {"encoding": {"x": {**across, "field": "from"}, "x2": {"field": "to"}}})
    return vega.sized({"data": {"values": drawn}, "height": 74 * len(units), "layer": layers})


def ratio_dots(
    rows: Rows, field: str, order: Sequence[str], series: Sequence[str], *, threshold: int | float = 5,
    value_title: str = "held-out error by in-distribution error", step: int = 58,
) -> Spec:  # fmt: skip
    """A row a net, a point a seed, colored by encoding: how many times larger the held-out error is, on a log axis.

    An infinite ratio is an arrow at the right; one that is undefined (NaN) has no place and is left out.
    """
    rows = [
        row | {"value": min(row["value"], sys.float_info.max)} for row in rows if not math.isnan(row["value"])
    ]  # fmt: skip
    spec = vega.dots(rows, field, order, series, value_title, top=threshold, also=[1.0], step=step, log=True)
    spec["layer"] = [*vega.thresholds("x", (1, threshold)), *spec["layer"]]
    return spec


# -- parts ------------------------------------------------------------------------------------------------------------
def _series(names: Sequence[str], columns: int | None = None) -> tuple[Spec, Spec]:
    """Color and shape by series, in one legend."""
    legend = vega.legend() | ({} if columns is None else {"columns": columns, "labelLimit": 340})
    named = {"field": "series", "type": "nominal", "legend": legend}
    return (
        {**named, "scale": {"domain": list(names)}},
        {**named, "scale": {"domain": list(names), "range": vega.shapes(names)}},
    )


def _short_names(layers: Sequence[str]) -> str:
    """Names of layers on an axis: without "/post" if no layer has another end, and numbers only where it is narrow."""
    ends = {name.partition("/")[2] for name in layers if "/" in name}
    name = f"replace(datum.label, {_text(f'/{ends.pop()}')}, '')" if len(ends) == 1 else "datum.label"
    return f"width < 80 * {len(layers)} ? replace({name}, 'layer', '') : {name}"


def _fitted(fit: Mapping[str, Any]) -> str:
    """A series with the exponent that was fitted, and its interval if there is one."""
    text = f"{fit['series']}: N^{fit['exponent']:.2f}"
    return text + (f" ({fit['low']:.2f} to {fit['high']:.2f})" if "low" in fit and "high" in fit else "")


def _ends_of(rows: Rows, series: str) -> Span:
    """The smallest and largest size at which a series was measured."""
    sizes = [row["size"] for row in rows if row["series"] == series]
    return min(sizes), max(sizes)


def _fan(slopes: Mapping[int, str], starts: Sequence[Span], right: int | float, high: int | float) -> Rows:
    """Two points a start and slope: from there to where the line leaves the frame, with its name at the end."""
    points: Rows = []
    for number, (size, value) in enumerate(starts):
        for power, name in slopes.items():
            end = min(right, size * (0.93 * high / value) ** (1 / power))
            points += [
                {"line": f"{number} {name}", "size": size, "value": value, "label": ""},
                {"line": f"{number} {name}", "size": end, "value": value * (end / size) ** power, "label": name},
            ]
    return points  # fmt: skip


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _text(words: str | Sequence[str]) -> str:
    """Words in a Vega expression: quoted, so that no name is more than a name."""
    return json.dumps(words)
