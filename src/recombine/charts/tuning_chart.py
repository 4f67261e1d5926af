"""Tuning curves: what a unit does against each factor."""

from __future__ import annotations

from collections.abc import Sequence

from .chart_parts import data, layered, left_out, legend, tooltip
from .lazy_altair import alt
from .tidy_rows import Rows, Table, finite, in_order, tidy

Span = tuple[int | float, int | float]

DASHES = ([1, 0], [6, 3], [2, 2])
TUNED = {"x": "against x, mean over y", "y": "against y, mean over x"}
MOST_UNITS = 60


def tuning(
    table: Table, *, order: Sequence[str] | None = None, hole: Span | None = None, x_title: str = "place"
) -> alt.LayerChart:
    """Tuning curves, a line of small plots: what a unit does against each factor, on a height of its own.

    Both curves of a unit share a scale, so a unit tuned to one factor has one curve with a peak and one that is flat.

    Args:
        table: rows with unit, factor ("x" or "y"), place, and value, which is the mean over the other factor.
        order: of the units.
        hole: the held-out places, shaded.
        x_title: the words of the axis.

    Example:
        >>> rows = [{"unit": "unit 3", "factor": "x", "place": place, "value": place**2} for place in range(5)]
        >>> rc.charts.tuning(rows).to_dict()["height"]
        74
    """
    every = tidy(table)
    units = [str(name) for name in in_order(every, "unit", order)]
    cut, units = len(units), units[:MOST_UNITS]
    drawn = _on_lines(every, units)
    found = {row["series"] for row in drawn}
    series = [name for name in TUNED.values() if name in found] + sorted(found - set(TUNED.values()))
    places = [row["place"] for row in drawn] or [0, 1]
    scale = alt.Scale(domain=[min(places), max(places)], nice=False)
    axis = alt.Axis(grid=False, tickMinStep=1)
    across = alt.X(field="place", type="quantitative", title=x_title, axis=axis, scale=scale)
    grounds = [-line - 1 for line in range(len(units))]
    up = alt.Y(
        field="at",
        type="quantitative",
        title=None,
        scale=alt.Scale(domain=[-max(1, len(units)), 0], nice=False),
        axis=alt.Axis(values=grounds, tickCount=len(grounds), labels=False),
    )
    color = alt.Color(field="series", type="nominal", scale=alt.Scale(domain=series), legend=legend(series))
    dashes = alt.Scale(domain=series, range=[DASHES[i % len(DASHES)] for i in range(len(series))])
    dash = alt.StrokeDash(field="series", type="nominal", legend=legend(series), scale=dashes)
    tips = tooltip({"unit": "unit", "series": "curve", "place": x_title})
    names = alt.Chart(data([{"unit": unit, "at": -line} for line, unit in enumerate(units)]))
    layers = [
        alt.Chart()
        .mark_line(strokeWidth=2)
        .encode(x=across, y=up, color=color, strokeDash=dash, detail=alt.Detail(field="unit", type="nominal")),
        alt.Chart().mark_point(size=70, opacity=0, filled=True).encode(x=across, y=up, tooltip=tips),  # for the pointer
        # above the curves, so that they have all of a narrow screen
        names.mark_text(style=["reference-label"], align="left", baseline="top", dy=5).encode(
            x=alt.value(2), y=up, text=alt.Text(field="unit", type="nominal")
        ),
    ]
    if hole is not None:
        held_out = alt.Chart(data([{"place": hole[0], "to": hole[1]}])).mark_rect(style=["span"])
        layers.insert(0, held_out.encode(x=across, x2=alt.X2(field="to")))
    lost = sum(not finite(row["value"]) for row in every)
    notes = left_out(lost, 0, 0) | {"categories": cut if cut > MOST_UNITS else 0}
    return layered(layers, drawn, 74 * max(1, len(units)), notes)


def _on_lines(rows: Rows, units: Sequence[str]) -> Rows:
    """The rows of each unit, on a line of its own."""
    drawn: Rows = []
    for line, unit in enumerate(units):
        part = [row for row in rows if row["unit"] == unit and finite(row["value"])]
        values = [row["value"] for row in part] or [0.0]
        low, span = min(values), max(values) - min(values)
        flat = span <= 1e-6 * max(map(abs, values))  # rounding, and no tuning
        drawn += [
            row
            | {
                "series": TUNED.get(row["factor"], f"against {row['factor']}"),
                "at": -line - 1 + (0.0 if flat else round(0.68 * (row["value"] - low) / span, 4)),
            }
            for row in part
        ]
    return drawn
