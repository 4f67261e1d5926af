"""graph: which parts were trained together."""

from __future__ import annotations

import math
from typing import Any

from ..errors import UserError
from ..labels import visible
from .chart_parts import SHAPES, data, fixed
from .lazy_altair import alt

MARGIN = 96  # pixels for names on each side


def graph(support: Any) -> alt.LayerChart:
    """A line where two parts occur in one trained combination, the stronger the more often; a color per component.

    Args:
        support: a split.

    Example:
        >>> support = rc.supports.disconnected(rc.Subsets(modules=6, at_most=2), seed=0)
        >>> spec = rc.charts.Figure("Parts", "Lines join them.", rc.charts.graph(support)).spec
        >>> sorted({row["component"] for row in spec["data"]["values"]})
        ['1', '2']
    """
    from .part_graph import MOST, SERIES, SIZE, faint, graph_of

    found = graph_of(support)
    if found is None:
        raise UserError(f"more than {MOST} parts are too many to tell apart on a circle")
    known = [str(i + 1) for i in range(min(SERIES, max(found.components, default=0) + 1))]
    color = alt.Color(field="component", type="nominal", legend=None, scale=alt.Scale(domain=known))
    shape = alt.Shape(
        field="component",
        type="nominal",
        legend=None,
        scale=alt.Scale(domain=known, range=[SHAPES[i % len(SHAPES)] for i in range(len(known))]),
    )
    rows = [
        {"x": x, "y": y, "part": visible(name, 60), "component": _component(at, SERIES), "trained_with": used}
        for name, (x, y), at, used in zip(found.names, found.places, found.components, found.usage, strict=True)
    ]
    ends = [
        {"x": x, "y": y, "line": number, "component": _component(found.components[a], SERIES), "share": faint(share)}
        for number, (a, b, share) in enumerate(found.edges)
        for x, y in (found.places[a], found.places[b])
    ]
    size = SIZE + 2 * MARGIN
    across = alt.Scale(domain=[-MARGIN, SIZE + MARGIN], nice=False)
    at: dict[str, Any] = {
        "x": alt.X(field="x", type="quantitative", axis=None, scale=across),
        "y": alt.Y(field="y", type="quantitative", axis=None, scale=alt.Scale(domain=[SIZE, 0], nice=False)),
    }
    tips = [
        alt.Tooltip(field="part", type="nominal"),
        alt.Tooltip(field="trained_with", type="quantitative", title="trained combinations with it"),
    ]
    opacity = alt.Opacity(field="share", type="quantitative", scale=None, legend=None)
    line = (
        alt.Chart(data(ends))
        .mark_line(strokeWidth=1)
        .encode(**at, detail=alt.Detail(field="line", type="nominal"), color=color, opacity=opacity)
    )
    point = alt.Chart().mark_point(filled=True, size=95, opacity=1)
    layers = [
        *([line] if ends else []),
        point.transform_filter("datum.component != ''").encode(**at, color=color, shape=shape, tooltip=tips),
        alt.Chart()
        .mark_point(filled=True, size=95, opacity=1, style=["untrained"])
        .transform_filter("datum.component == ''")
        .encode(**at, tooltip=tips),
        *_names(found, at),
    ]
    return fixed(layers, rows, size, SIZE)


def _component(number: int, most: int) -> str:
    return "" if number < 0 else str(min(number, most - 1) + 1)


def _names(found: Any, at: dict[str, Any]) -> list[Any]:
    """Names beside their points, written away from the circle."""
    from .part_graph import LABEL, SHOWN, anchor, written

    layers = []
    for side in ("left", "center", "right"):
        rows = [
            {"x": x + LABEL * math.cos(turn), "y": y + LABEL * math.sin(turn), "part": visible(name, SHOWN)}
            for name, (x, y), turn, shown in zip(found.names, found.places, found.turns, written(found), strict=True)
            if shown and anchor(turn) == side
        ]
        if rows:
            text = alt.Chart(data(rows)).mark_text(style=["words"], align=side, fontSize=10)
            layers.append(text.encode(**at, text=alt.Text(field="part", type="nominal")))
    return layers
