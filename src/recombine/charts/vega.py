"""Building blocks of charts: Vega-Lite specifications as plain data.

Categories lie on the vertical axis, so that long names stay readable on a narrow screen. Colors are left to whoever
draws: a specification names styles ("reference", "reference-label", "mean", "interval", "span", "edge"), the report
gives them looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Rows = list[dict[str, Any]]
Spec = dict[str, Any]

FLOOR, CEILING = -0.5, 1.5  # beyond these a point is drawn at the edge, so that one bad net does not flatten the rest
SCORES = {
    "r2": "R²",
    "episode_accuracy": "share of episodes right",
    "step_accuracy": "share of steps right",
}  # metrics in words, on axes
#: one shape a series, since color alone does not reach everyone
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")


def dots(
    rows: Rows,
    field: str,
    order: Sequence[str],
    series: Sequence[str],
    value_title: str,
    *,
    top: int | float,
    also: Sequence[int | float] = (),
    step: int = 46,
    lanes: bool = True,
    log: bool = False,
) -> Spec:
    """A row for each category: a point a seed, a tick for the mean, and arrows for points beyond the axis.

    The axis reaches from zero (or below) to `top` and includes the values and `also`; a logarithmic one reaches from
    the smallest positive of them to the largest.
    """
    rows, lost = defined(rows)
    values = [row["value"] for row in rows]
    x: Spec = {"field": "at", "type": "quantitative", "title": value_title}
    if log:
        low, high = log_ends([*values, *also, top])
        x |= log_axis(low, high)
    else:
        lowest = min(0.0, *values, *also)
        low = max(FLOOR, lowest - 0.03 if lowest < 0 else 0.0)  # a little air, so that no point touches the names
        high = min(CEILING, max(top, *values, *also))
        x["scale"] = {"domain": [low, high], "nice": False}
    base: Spec = {"x": x, "y": category(field, order)}
    named = {"field": "series", "type": "nominal"}
    if series:
        base["color"] = {**named, "scale": {"domain": list(series)}, "legend": legend()}
        if lanes:
            base["yOffset"] = {**named, "scale": {"domain": list(series), "paddingOuter": 0.3}}
    shape: Spec = {}
    if series:
        known = {"domain": list(series), "range": shapes(series)}
        shape = {"shape": {**named, "scale": known, "legend": legend()}}
    shown = tooltip({field: field, **({"series": "on"} if series else {}), "seed": "seed"})
    clamp = {"calculate": f"clamp(datum.value, {low}, {high})", "as": "at"}
    beyond = f"datum.value < {low} || datum.value > {high}"
    points = {
        "transform": [clamp, {"filter": f"!({beyond})"}],
        "mark": {"type": "point", "filled": True, "size": 58, "opacity": 0.7},
        "encoding": {**base, **shape, "tooltip": shown},
    }
    edge = {
        "transform": [clamp, {"filter": beyond}],
        "mark": {"type": "text", "style": ["edge"], "fontSize": 13, "dx": {"expr": f"datum.value < {low} ? 7 : -7"}},
        "encoding": {**base, "text": {"condition": {"test": f"datum.value < {low}", "value": "◂"}, "value": "▸"},
                     "tooltip": shown},
    }  # fmt: skip
    layers = [points, means(base, low, high, field, bool(series))]
    if any(not low <= value <= high for value in values):
        layers.append(edge)
    return sized({"data": {"values": rows}, "height": step * len(order), "layer": layers}, lost)


def arrows(spec: Spec) -> str:
    """A sentence for the caption if the chart has points beyond its axis."""
    beyond = any("edge" in layer["mark"].get("style", []) for layer in spec["layer"])
    return " An arrow marks a point beyond the axis." if beyond else ""


def defined(rows: Rows, fields: Sequence[str] = ("value",)) -> tuple[Rows, int]:
    """Rows whose values are numbers, and how many are not: drawn, an undefined value would lie at zero."""
    known = [row for row in rows if all(row[name] is not None and not math.isnan(row[name]) for name in fields)]
    return known, len(rows) - len(known)


def sized(spec: Spec, lost: int = 0) -> Spec:
    """As wide as the page; laid out anew where a narrower page breaks the legend into more lines.

    lost: undefined values that are not drawn, which the caption tells.
    """
    told = {"usermeta": {"undefined": lost}} if lost else {}
    return {"width": "container", "autosize": {"type": "fit-x", "contains": "padding", "resize": True}, **told, **spec}


def log_ends(values: Sequence[int | float]) -> tuple[float, float]:
    """The ends of a logarithmic axis that holds the positive ones of the values, with a little air."""
    positive = [value for value in values if 0 < value < 1e300]
    return (min(positive) / 1.25, max(positive) * 1.25) if positive else (0.1, 10.0)


def log_axis(low: int | float, high: int | float) -> Spec:
    """Scale and ticks from low to high: at 1, 2 and 5 of each decade, or at decades where there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = math.log10(high / low)
    if decades > 2.5:
        ticks = [10.0**power for power in range(first, last + 1, math.ceil(decades / 7))]
    else:
        ticks = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) < 2:  # a short axis: every digit, or its own ends
        ticks = [digit * 10.0**power for power in range(first - 1, last + 1) for digit in range(1, 10)]
        ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) < 2:
        ticks = [float(f"{low * (high / low) ** share:.2g}") for share in (0.1, 0.9)]
    axis: Spec = {"values": ticks, "tickCount": len(ticks), "format": "~g" if decades < 7 else "~e"}
    return {"scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": axis | {"labelOverlap": "greedy"}}


def means(base: Spec, low: float, high: float, field: str, series: bool) -> Spec:
    """A bar at the mean over seeds of each category and series."""
    by = [field, "series"] if series else [field]
    return {
        "transform": [
            {"aggregate": [{"op": "mean", "field": "value", "as": "mean"}], "groupby": by},
            {"calculate": f"clamp(datum.mean, {low}, {high})", "as": "at"},
            {"filter": f"datum.mean >= {low} && datum.mean <= {high}"},
        ],
        "mark": {"type": "tick", "orient": "vertical", "thickness": 2.5, "size": 15, "style": ["mean"]},
        "encoding": {**base, "tooltip": tooltip({name: name if name != "series" else "on" for name in by}, "mean")},
    }


def thresholds(axis: str, at: Sequence[int | float]) -> list[Spec]:
    """A dashed rule for each threshold, with its number outside the plot."""
    if not at:
        return []  # a layer without data would complain
    where = {axis: {"field": "threshold", "type": "quantitative"}}
    beside = {"y": {"value": -8}} if axis == "x" else {"x": {"value": "width"}}
    text: Spec = {"type": "text", "style": ["reference-label"]}
    if axis == "y":
        text |= {"align": "right", "dy": -7}
    data = {"values": [{"threshold": value, "label": f"{value:g}".removeprefix("0")} for value in at]}
    label = {"text": {"field": "label", "type": "nominal"}}
    return [
        {"data": data, "mark": {"type": "rule", "style": ["reference"]}, "encoding": where},
        {"data": data, "mark": text, "encoding": {**where, **beside, **label}},
    ]


def category(field: str, order: Sequence[str]) -> Spec:
    scale = {"type": "band", "domain": list(order), "paddingInner": 0.1}
    return {"field": field, "type": "nominal", "scale": scale, "axis": {"title": None, "labelLimit": 220}}


def legend() -> Spec:
    # one entry a line on a narrow screen; off the page there is no container, and the width is what was asked
    return {"title": None, "columns": {"expr": "(containerSize()[0] || width) < 560 ? 1 : 3"}}


def tooltip(fields: dict[str, str], value: str = "value") -> list[Spec]:
    shown: list[Spec] = [{"field": name, "type": "nominal", "title": title} for name, title in fields.items()]
    title = "mean over seeds" if value == "mean" else "value"
    return [*shown, {"field": value, "type": "quantitative", "format": ".3f", "title": title}]


def title(words: str) -> str:
    """The first letter large, the others as they are."""
    return words[:1].upper() + words[1:]


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def curves(
    rows: Rows, x: str, x_title: str, y_title: str, order: Sequence[Any] = (), *, log: bool = False,
    reference: Sequence[int | float] = (), low: int | float = FLOOR, x_format: str = "d",
) -> Spec:  # fmt: skip
    """A line a series through the means over seeds, a point a seed. Rows: x, series, seed, value.

    What lies below `low` is drawn there, so that one bad net does not flatten the rest.
    """
    series = [str(name) for name in (order or dict.fromkeys(row["series"] for row in rows))]
    places = sorted({row[x] for row in rows})
    rows, lost = defined(rows)
    scale: Spec = {"type": "log", "base": 2} if log else {"zero": False, "nice": False}
    # room at both ends, so that no point lies on the frame
    ends = (places[0] / 1.15, places[-1] * 1.15) if log else (places[0], places[-1])
    ticks: Spec = {"values": places, "format": x_format, "labelOverlap": True, "grid": False}
    across = {
        "field": x,
        "type": "quantitative",
        "title": x_title,
        "scale": scale | {"domain": list(ends)},
        "axis": ticks,
    }
    color = {"field": "series", "type": "nominal", "scale": {"domain": series}, "legend": legend()}
    shape = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": series, "range": shapes(series)},
        "legend": legend(),
    }
    up: Spec = {"field": "at", "type": "quantitative", "title": y_title, "axis": {"tickCount": 5}}
    clamp = {"calculate": f"max(datum.value, {low})", "as": "at"}
    means = {
        "transform": [
            {"aggregate": [{"op": "mean", "field": "value", "as": "value"}], "groupby": [x, "series"]}, clamp,
        ],
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {"x": across, "y": up, "color": color},
    }  # fmt: skip
    points = {
        "transform": [clamp],
        "mark": {"type": "point", "filled": True, "size": 42, "opacity": 0.65},
        "encoding": {"x": across, "y": up, "color": color, "shape": shape,
                     "tooltip": tooltip({x: x_title, "series": "series", "seed": "seed"})},
    }  # fmt: skip
    layers = [*thresholds("y", reference), means, points]
    return sized({"data": {"values": rows}, "height": 280, "layer": layers}, lost)


def heat(
    rows: Rows, x: str, y: str, x_title: str, y_title: str, value_title: str, *, begins: int | float | None = None,
    domain: tuple[int | float, int | float] = (0, 1), log: bool = False, digits: str = ".2f",
) -> Spec:  # fmt: skip
    """A map of means over seeds: cells with their number, and a line along the edges where `begins` is reached.

    Rows: x, y, value, and low, high and seeds if there is an interval, in the order in which x is to be shown; y rises
    upward.
    Colors reach over `domain`; beyond it they are those of its ends.
    """
    rows, lost = defined(rows)
    columns = list(dict.fromkeys(row[x] for row in rows))
    lines = sorted({row[y] for row in rows}, reverse=True)  # from top to bottom
    across = {"field": x, "type": "ordinal", "title": x_title, "sort": columns, "axis": {"labelAngle": 0}}
    up = {"field": y, "type": "ordinal", "title": y_title, "sort": lines}
    scale: Spec = {"scheme": "viridis", "domain": list(domain), "clamp": True} | ({"type": "log"} if log else {})
    shade = {"field": "value", "type": "quantitative", "title": value_title, "scale": scale}
    titles = {"value": value_title, "low": "95 % from", "high": "95 % to", "seeds": "seeds"}
    numbers = [name for name in titles if any(name in row for row in rows)]
    shown = [
        {"field": x, "type": "nominal", "title": x_title}, {"field": y, "type": "nominal", "title": y_title},
        *({"field": name, "type": "quantitative", "format": "d" if name == "seeds" else ".3f", "title": titles[name]}
          for name in numbers),
    ]  # fmt: skip
    low, high = domain
    bright = low * (high / low) ** 0.55 if log else low + 0.55 * (high - low)  # where dark letters read better
    layers: list[Spec] = [
        {"mark": {"type": "rect"}, "encoding": {"x": across, "y": up, "color": shade, "tooltip": shown}},
        {"mark": {"type": "text", "fontSize": 11},
         "encoding": {"x": across, "y": up, "text": {"field": "value", "type": "quantitative", "format": digits},
                      "color": {"condition": {"test": f"datum.value > {bright}", "value": "#111"}, "value": "#fff"}}},
    ]  # fmt: skip
    if begins is not None:
        level, beside = _frontier(rows, x, y, columns, lines, begins)
        rule = {"type": "rule", "strokeWidth": 4, "style": ["frontier"]}
        layers += [
            {"data": {"values": level}, "mark": rule,  # along the lower edge of the cell that reaches it
             "encoding": {"x": {**across, "bandPosition": 0}, "x2": {"field": x, "bandPosition": 1},
                          "y": {**up, "bandPosition": 1}}},
            {"data": {"values": beside}, "mark": rule,  # along its left edge
             "encoding": {"x": {**across, "bandPosition": 0}, "y": {**up, "bandPosition": 0},
                          "y2": {"field": y, "bandPosition": 1}}},
        ]  # fmt: skip
    return sized({"data": {"values": rows}, "height": 46 * len(lines), "layer": layers}, lost)


def _frontier(rows: Rows, x: str, y: str, columns: list, lines: list, begins: float) -> tuple[Rows, Rows]:
    """Cells that reach `begins` while the one below (and the one to the left) does not."""
    at = {(row[x], row[y]): row["value"] >= begins for row in rows}
    level, beside = [], []
    for i, column in enumerate(columns):
        for j, line in enumerate(lines):
            if not at.get((column, line)):
                continue
            below = at.get((column, lines[j + 1])) if j + 1 < len(lines) else True
            left = at.get((columns[i - 1], line)) if i else True
            level += [{x: column, y: line}] if below is False else []
            beside += [{x: column, y: line}] if left is False else []
    return level, beside


def scatter(
    rows: Rows, x_title: str, y_title: str, order: Sequence[str], *, low: float = FLOOR, high: float = 1.05
) -> Spec:
    """A point a trial: x against value, colored by series; what lies beyond `low` and `high` is drawn there."""
    rows, lost = defined(rows, ("x", "value"))
    color = {"field": "series", "type": "nominal", "scale": {"domain": list(order)}, "legend": legend()}
    shape = {"field": "series", "type": "nominal", "scale": {"domain": list(order), "range": shapes(order)},
             "legend": legend()}  # fmt: skip
    spec = {
        "transform": [
            {"calculate": f"clamp(datum.x, {low}, {high})", "as": "across"},
            {"calculate": f"clamp(datum.value, {low}, {high})", "as": "at"},
        ],
        "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.6},
        "encoding": {
            "x": {"field": "across", "type": "quantitative", "title": x_title, "scale": {"zero": False, "nice": False}},
            "y": {"field": "at", "type": "quantitative", "title": y_title, "scale": {"zero": False}},
            "color": color, "shape": shape,
            "tooltip": [{"field": "trial", "type": "nominal"}, {"field": "series", "type": "nominal"},
                        {"field": "seed", "type": "nominal"},
                        {"field": "x", "type": "quantitative", "format": ".3f", "title": x_title},
                        {"field": "value", "type": "quantitative", "format": ".3f", "title": y_title}],
        },
    }  # fmt: skip
    return sized({"data": {"values": rows}, "height": 320, **spec}, lost)


def needed(rows: Rows) -> Spec:
    """Needed against there are, on logarithmic axes, with the line where all are needed."""
    sizes = [row["size"] for row in rows]
    names = list(dict.fromkeys(row["series"] for row in rows))
    ends = [min(row["value"] for row in rows) / 1.3, max(sizes) * 1.2]
    across = {"field": "size", "type": "quantitative", "title": "combinations there are",
              **log_axis(min(sizes) / 1.2, max(sizes) * 1.2)}  # fmt: skip
    up = {"field": "value", "type": "quantitative", "title": "combinations needed", **log_axis(*ends)}
    color = {"field": "series", "type": "nominal", "scale": {"domain": names}, "legend": legend()}
    shape = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": shapes(names)},
        "legend": legend(),
    }
    both = [{"size": size, "value": size} for size in (max(min(sizes) / 1.2, ends[0]), max(sizes) * 1.2)]
    shown = [{"field": name, "type": "nominal"} for name in ("family", "series", "seed", "size")]
    layers = [
        {"data": {"values": both}, "mark": {"type": "line", "style": ["reference"], "strokeDash": [4, 4], "clip": True},
         "encoding": {"x": across, "y": up}},
        {"transform": [{"aggregate": [{"op": "mean", "field": "value", "as": "value"}], "groupby": ["size", "series"]}],
         "mark": {"type": "line", "strokeWidth": 2.5}, "encoding": {"x": across, "y": up, "color": color}},
        {"mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.7},
         "encoding": {"x": across, "y": up, "color": color, "shape": shape,
                      "tooltip": [*shown, {"field": "value", "type": "quantitative", "title": "needed"}]}},
    ]  # fmt: skip
    return sized({"data": {"values": rows}, "height": 320, "layer": layers})


def search(rows: Rows, threshold: int | float, value_title: str) -> Spec:
    """What a search tried: score against the number trained on, a line a series and seed, and the score asked for.

    Rows: trained_on, series, seed, turn (when it was tried, from 1), value. Lower scores than FLOOR are drawn there.
    """
    names = list(dict.fromkeys(row["series"] for row in rows))
    rows, lost = defined(rows)
    across = {"field": "trained_on", "type": "quantitative", "title": "combinations trained on",
              **log_axis(*log_ends([row["trained_on"] for row in rows]))}  # fmt: skip
    up = {"field": "at", "type": "quantitative", "title": value_title, "axis": {"tickCount": 5}}
    named = {"field": "series", "type": "nominal"}
    color = {**named, "scale": {"domain": names}, "legend": legend()}
    shape = {**named, "scale": {"domain": names, "range": shapes(names)}, "legend": legend()}
    clamp = {"calculate": f"max(datum.value, {FLOOR})", "as": "at"}
    told = {"series": "net", "seed": "seed", "turn": "tried as number", "trained_on": "combinations trained on"}
    layers = [
        *thresholds("y", [threshold]),
        {"transform": [clamp], "mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.6},
         "encoding": {"x": across, "y": up, "color": color, "detail": {"field": "seed", "type": "nominal"}}},
        {"transform": [clamp], "mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.8},
         "encoding": {"x": across, "y": up, "color": color, "shape": shape, "tooltip": tooltip(told)}},
    ]  # fmt: skip
    return sized({"data": {"values": rows}, "height": 300, "layer": layers}, lost)


def shapes(series: Sequence[str]) -> list[str]:
    """A shape for each series; they repeat after the last."""
    return [SHAPES[i % len(SHAPES)] for i in range(len(series))]
