"""counts: how often two levels were trained together; a cross where never."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..labels import visible
from .chart_parts import field, fixed
from .lazy_altair import alt
from .tidy_rows import Table, tidy

CELL = 18  # pixels
LETTERS = 16  # of a level on an axis


def counts(
    table: Table,
    *,
    x: str = "x",
    y: str = "y",
    x_title: str = "",
    y_title: str = "",
    value: str = "training rows",
    columns: Sequence[str] | None = None,
    lines: Sequence[str] | None = None,
) -> alt.LayerChart:
    """A cell for each pair of levels, the darker the more often it was seen; a cross where it never was.

    Args:
        table: rows with the columns `x`, `y` and value, a count.
        x: the column along.
        y: the column downward.
        x_title: what its levels are.
        y_title: what its levels are.
        value: what is counted.
        columns: levels from left to right.
        lines: levels from top to bottom.

    Example:
        >>> rows = [{"x": "red", "y": "box", "value": 7}, {"x": "red", "y": "ball", "value": 0}]
        >>> [layer["mark"]["type"] for layer in rc.charts.Figure("", "", rc.charts.counts(rows)).spec["layer"]]
        ['rect', 'rect', 'text']
    """
    rows = tidy(table)
    most = math.log1p(max((row["value"] for row in rows), default=0)) or 1.0
    rows = [row | {"shade": round(0.12 + 0.88 * math.log1p(row["value"]) / most, 3)} for row in rows]
    short = f"length(datum.label) > {LETTERS} ? slice(datum.label, 0, {LETTERS - 1}) + '…' : datum.label"

    def axis(name: str, title: str, order: Sequence[str] | None, **more: Any) -> dict[str, Any]:
        domain = list(order if order is not None else dict.fromkeys(row[name] for row in rows))
        scale = alt.Scale(type="band", domain=domain, padding=0.03)
        shown = alt.Axis(labelExpr=short, labelFontSize=11, labelPadding=5, grid=False, **more)
        return {
            "field": field(name),
            "type": "nominal",
            "title": visible(title or name, 40),
            "scale": scale,
            "axis": shown,
        }

    at: dict[str, Any] = {
        "x": alt.X(**axis(x, x_title, columns, orient="top", labelAngle=-90)),
        "y": alt.Y(**axis(y, y_title, lines)),
        "tooltip": [
            alt.Tooltip(field=field(x), type="nominal", title=x_title or x),
            alt.Tooltip(field=field(y), type="nominal", title=y_title or y),
            alt.Tooltip(field="value", type="quantitative", format=",d", title=value),
        ],
    }
    opacity = alt.Opacity(field="shade", type="quantitative", scale=None, legend=None)
    layers = [
        alt.Chart().mark_rect(style=["seen"]).transform_filter("datum.value > 0").encode(**at, opacity=opacity),
        alt.Chart().mark_rect(style=["ground"]).transform_filter("datum.value == 0").encode(**at),
        alt.Chart().mark_text(text="×", fontSize=15, style=["never"]).transform_filter("datum.value == 0").encode(**at),
    ]
    return fixed(layers, rows, alt.Step(CELL), alt.Step(CELL))
