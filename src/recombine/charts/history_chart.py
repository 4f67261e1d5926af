"""Curves over the course of training: a thin line per seed, a thick one for their mean."""

from __future__ import annotations

from collections.abc import Sequence

from .chart_parts import by_series, data, layered, left_out, thresholds, tooltip
from .lazy_altair import alt
from .tidy_rows import Table, defined, finite, in_order, means, tidy

MOST = 20_000  # points of lines: of more, every so many


def history(
    table: Table, *, value: str = "value", order: Sequence[str] | None = None, reference: Sequence[int | float] = ()
) -> alt.LayerChart:
    """Curves over the share of training: a thin line per seed, a thick one for their mean.

    Args:
        table: rows with share (of training, 0 to 1), step, series, seed and value.
        value: the words of the axis of values.
        order: of the series.
        reference: where dashed lines run.

    Example:
        >>> rows = [{"share": s / 4, "step": s, "series": "a", "seed": 0, "value": s} for s in range(5)]
        >>> rc.charts.history(rows, value="gap").to_dict()["height"]
        260
    """
    every = tidy(table)
    rows, lost = defined(every)
    lost += sum(not finite(row["value"]) for row in rows)
    rows = [row for row in rows if finite(row["value"])]
    few = rows[:: -(-len(rows) // MOST)] if rows else rows
    looks = by_series([str(name) for name in in_order(rows, "series", order)])
    across = alt.X(field="share", type="quantitative", title="share of training", axis=alt.Axis(format="%"))
    up = alt.Y(field="value", type="quantitative", title=value, axis=alt.Axis(tickCount=5))
    tips = tooltip({"series": "series", "seed": "seed", "step": "step"})
    point = alt.OverlayMarkDef(size=22, opacity=0.45)
    seeds = alt.Chart().mark_line(strokeWidth=1, opacity=0.45, point=point)
    average = alt.Chart(data(means(rows, ["share", "series"]))).mark_line(strokeWidth=3)
    layers = [
        *thresholds("y", reference),
        average.encode(x=across, y=up, color=looks["color"]),
        # on top: they answer to the pointer
        seeds.encode(
            x=across, y=up, color=looks["color"], detail=alt.Detail(field="seed", type="nominal"), tooltip=tips
        ),
    ]
    return layered(layers, few, 260, left_out(lost, len(rows), len(few)))
