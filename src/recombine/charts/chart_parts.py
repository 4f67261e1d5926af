"""Parts that charts share: axes, colors with shapes beside them, thresholds, and what was left out.

Categories lie on the vertical axis, so that long names stay readable on a narrow screen. Colors are left to the theme:
a mark names a style ("reference", "reference-label", "mean", "interval", "span", "edge"), and `theme` gives it a look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UserError
from ..labels import visible
from .lazy_altair import alt
from .tidy_rows import Rows

FLOOR, CEILING = -0.5, 1.5  # beyond these a point is drawn at the edge, so that one bad net does not flatten the rest
#: one shape per series, since color alone does not reach everyone
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")
TWO_LINES = 32  # pixels of a row that has room for two
LETTER = 7.5  # pixels: a wide font's, at the size of a legend
NARROW = "(containerSize()[0] || 999) < 420"  # a phone: long words are cut before the whole drawing is made smaller


def data(rows: Rows) -> Any:
    """Rows inside a chart."""
    return alt.InlineData(values=rows)


def layered(layers: Sequence[Any], rows: Rows, height: int, notes: Mapping[str, int] | None = None) -> alt.LayerChart:
    """Layers over one table; the first lies at the bottom."""
    return sized(alt.layer(*layers, data=data(rows)), height, notes)


def sized(chart: Any, height: int, notes: Mapping[str, int] | None = None) -> Any:
    """As wide as the page; laid out anew where a narrower page breaks the legend into more lines.

    notes: how many values are undefined and not drawn, and how many there are where only some are drawn (`figure`).
    """
    noted = {name: count for name, count in (notes or {}).items() if count}
    return chart.properties(
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding", resize=True),
        **({"usermeta": noted} if noted else {}),
    )


def fixed(layers: Sequence[Any], rows: Rows, width: Any, height: Any) -> Any:
    """Layers over one table in a size of their own: cells and pictures that do not stretch."""
    return alt.layer(*layers, data=data(rows)).properties(width=width, height=height)


def left_out(undefined: int, there: int, drawn: int) -> dict[str, int]:
    """What the caption has to tell."""
    return {"undefined": undefined, "drawn": drawn if drawn < there else 0, "there": there if drawn < there else 0}


# -- columns ----------------------------------------------------------------------------------------------------------
def field(name: str) -> str:
    """A column in a specification: a dot or a bracket in its name is part of the name, not a path."""
    if '"' in name:  # Vega-Lite does not escape it in what it tells of a mark
        raise UserError(f"a column called {visible(name)} cannot be drawn; rename it without quotation marks")
    for sign in "\\.[]'":
        name = name.replace(sign, f"\\{sign}")
    return name


def tooltip(fields: Mapping[str, str], value: str = "value", words: str = "value", rows: Rows = ()) -> list[Any]:  # type: ignore[assignment]
    """What the pointer is told: columns by their words, and the value last."""
    shown = [alt.Tooltip(field=field(name), type="nominal", title=said) for name, said in fields.items()]
    if any("said" in row for row in rows[:1]):
        return [*shown, alt.Tooltip(field="said", type="nominal", title=words)]
    return [*shown, alt.Tooltip(field=value, type="quantitative", format=".3f", title=words)]


def category(name: str, order: Sequence[str], step: int = 46, **axis: Any) -> alt.Y:
    """Categories down the left side; on a phone a long name takes two lines, where a row has room for them."""
    scale = alt.Scale(type="band", domain=list(order), paddingInner=0.1)
    options: dict[str, Any] = {"labelLimit": alt.ExprRef(expr=f"{NARROW} ? 130 : 220")}
    if step >= TWO_LINES:
        broken = "split(replace(datum.label, regexp('^(.{8,18}) '), '$1\\n'), '\\n')"
        options |= {"labelExpr": f"{NARROW} ? {broken} : datum.label", "labelLineHeight": 14}
    return alt.Y(field=field(name), type="nominal", scale=scale, title=None, axis=alt.Axis(**(options | axis)))


def legend(names: Sequence[str], beside: int = 60, **more: Any) -> alt.Legend | None:
    """A legend whose lines hold as many entries as fit; none of nothing: an empty one would be infinitely high.

    Args:
        names: what it lists.
        beside: pixels left of the plot, where it begins.
        more: options of its own.
    """
    if not names:
        return None
    widest = min(260, LETTER * max(map(len, names))) + 45
    room = f"(containerSize()[0] || width + {beside}) - {beside}"  # off the page there is no container
    columns = alt.ExprRef(expr=f"max(1, min(3, floor(({room}) / {widest:g})))")
    limit = alt.ExprRef(expr=f"{NARROW} ? 190 : 260")
    return alt.Legend(title=None, **({"columns": columns, "labelLimit": limit} | more))


def by_series(names: Sequence[str], name: str = "series", **of_legend: Any) -> dict[str, Any]:
    """Color and shape by series, in one legend."""
    shared: dict[str, Any] = {"field": field(name), "type": "nominal", "legend": legend(names, **of_legend)}
    return {
        "color": alt.Color(**shared, scale=alt.Scale(domain=list(names))),
        "shape": alt.Shape(**shared, scale=alt.Scale(domain=list(names), range=shapes(names))),
    }


def beside(names: Sequence[str]) -> int:
    """About how many pixels names of categories take left of a plot."""
    return round(min(220, LETTER * max((len(str(name)) for name in names), default=0))) + 20


def shapes(series: Sequence[str]) -> list[str]:
    """A shape for each series; they repeat after the last."""
    return [SHAPES[i % len(SHAPES)] for i in range(len(series))]


# -- marks ------------------------------------------------------------------------------------------------------------
def points(size: int, opacity: float) -> Any:
    return alt.Chart().mark_point(filled=True, size=size, opacity=opacity)


def thresholds(axis: str, at: Sequence[int | float]) -> list[Any]:
    """A dashed rule for each threshold, with its number outside the plot; the numbers of near ones lie apart."""
    if not at:
        return []  # a layer without data would complain
    values = sorted(dict.fromkeys(at))
    rows = [
        {"threshold": value, "label": f"{value:g}".removeprefix("0") or "0", **_apart(place, len(values))}
        for place, value in enumerate(values)
    ]
    base = alt.Chart(data(rows))
    label = alt.Text(field="label", type="nominal")
    lower = alt.ExprRef(expr="datum.lower")
    if axis == "x":
        where = alt.X(field="threshold", type="quantitative")
        words = base.mark_text(style=["reference-label"], align=alt.ExprRef(expr="datum.align"), dy=lower)
        return [
            base.mark_rule(style=["reference"]).encode(x=where),
            words.encode(x=where, y=alt.value(-8), text=label),
        ]
    up = alt.Y(field="threshold", type="quantitative")
    below = alt.ExprRef(expr="datum.align == 'right' ? 8 : -7")  # the lowest of several below its rule
    return [
        base.mark_rule(style=["reference"]).encode(y=up),
        base.mark_text(style=["reference-label"], align="right", dy=below).encode(
            y=up, x=alt.value("width"), text=label
        ),
    ]


def _apart(place: int, several: int) -> dict[str, Any]:
    """Where a threshold's number stands: the first ends at its rule, the last begins there, others lie in the plot."""
    if several == 1:
        return {"align": "center", "lower": 0}
    ends = {0: "right", several - 1: "left"}
    return {"align": ends.get(place, "center"), "lower": 0 if place in ends else 3 + 12 * place}


# -- axes -------------------------------------------------------------------------------------------------------------
def log_ends(values: Sequence[int | float]) -> tuple[float, float]:
    """The ends of a logarithmic axis that holds the positive ones of the values, with a little air."""
    positive = [value for value in values if 0 < value < 1e300]
    return (min(positive) / 1.25, max(positive) * 1.25) if positive else (0.1, 10.0)


def log_ticks(low: int | float, high: int | float) -> list[float]:
    """Ticks from low to high: at 1, 2 and 5 of each decade, or at decades where there are many."""
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
    return ticks


def log_axis(low: int | float, high: int | float) -> dict[str, Any]:
    """Scale and axis from low to high."""
    ticks = log_ticks(low, high)
    form = "~g" if math.log10(high / low) < 7 else "~e"
    return {
        "scale": alt.Scale(type="log", domain=[low, high], nice=False),
        "axis": alt.Axis(values=ticks, tickCount=len(ticks), format=form, labelOverlap="greedy"),
    }


def linear(low: int | float, high: int | float) -> alt.Scale:
    return alt.Scale(domain=[low, high], nice=False)
