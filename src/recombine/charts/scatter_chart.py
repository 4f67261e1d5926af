"""scatter: a point per trial, one number against another."""

from __future__ import annotations

from collections.abc import Sequence

from .chart_parts import FLOOR, by_series, data, layered, left_out, points, thresholds
from .lazy_altair import alt
from .tidy_rows import Table, bounded, defined, in_order, thinned, tidy


def scatter(
    table: Table,
    *,
    x_title: str = "x",
    value: str = "value",
    order: Sequence[str] | None = None,
    low: float = FLOOR,
    high: float = 1.05,
    reference: Sequence[int | float] = (),
    diagonal: bool = False,
    size: str = "",
) -> alt.LayerChart:
    """A point per trial, colored by series; what lies beyond `low` and `high` is drawn there.

    Args:
        table: rows with x and value; series, seed and trial where there are any.
        x_title: the words of the axis along.
        value: the words of the axis of values.
        order: of the series.
        low: the low end of both axes.
        high: their high end.
        reference: where dashed lines run.
        diagonal: a dashed line where both are the same, on axes from 0 to 1.
        size: a column; larger points stand for more of it.

    Example:
        >>> rows = [{"x": 0.1 * i, "value": 0.2 * i, "series": "mlp", "seed": i} for i in range(4)]
        >>> rc.charts.scatter(rows, x_title="decodability", value="held-out R²").to_dict()["height"]
        320
    """
    rows, lost = defined(tidy(table), ("x", "value"))
    known = [str(name) for name in in_order(rows, "series", order)] if rows and "series" in rows[0] else []
    few = bounded(thinned(rows), ("x", "value"))
    scale = alt.Scale(domain=[0, 1]) if diagonal else alt.Scale(zero=False, nice=False)
    across = alt.X(field="across", type="quantitative", title=x_title, scale=scale)
    up = alt.Y(field="at", type="quantitative", title=value, scale=scale if diagonal else alt.Scale(zero=False))
    there = [name for name in ("trial", "series", "seed", size) if name and any(name in row for row in few)]
    tips = [alt.Tooltip(field=name, type="nominal") for name in there] + [
        alt.Tooltip(field=name, type="quantitative", format=".3f", title=words)
        for name, words in (("x", x_title), ("value", value))
    ]
    dots = points(34, 0.6 if not size else 0.9).transform_calculate(
        across=f"clamp(datum.x, {low}, {high})", at=f"clamp(datum.value, {low}, {high})"
    )
    more = by_series(known) if known else {}
    if size:
        more["size"] = alt.Size(field=size, type="quantitative", legend=None, scale=alt.Scale(range=[50, 500]))
    same = alt.Chart(data([{"across": 0, "at": 0}, {"across": 1, "at": 1}])).mark_line(style=["reference"])
    layers = [
        *thresholds("y", reference),
        *([same.encode(x=across, y=up)] if diagonal else []),
        dots.encode(x=across, y=up, **more, tooltip=tips),
    ]
    return layered(layers, few, 300 if diagonal else 320, left_out(lost, len(rows), len(few)))
