"""bars: one number for each category, with an interval where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from .chart_parts import category, data, field, layered, left_out, linear, thresholds
from .lazy_altair import alt
from .tidy_rows import Table, defined, finite, in_order, tidy

MOST_ROWS = 200
INTERVAL = {"low": "95 % from", "high": "95 % to"}


def bars(
    table: Table,
    *,
    y: str = "name",
    value: str = "value",
    order: Sequence[str] | None = None,
    domain: tuple[int | float, int | float] | None = None,
    form: str = "~g",
    also: Sequence[str] = (),
    reference: Sequence[int | float] = (),
    step: int = 34,
) -> alt.LayerChart:
    """A bar from zero for each category; a line for its interval, where rows have low and high.

    Args:
        table: rows with the columns `y` and value; low and high where there is an interval.
        y: the column of categories.
        value: the words of the axis.
        order: categories from top to bottom.
        domain: the ends of the axis (default: zero and all that is drawn).
        form: how numbers on the axis are written (d3-format).
        also: further columns that the pointer is told.
        reference: where dashed lines run.
        step: the height of a row in pixels.

    Example:
        >>> rows = [{"name": "seen", "value": 0.9, "low": 0.8, "high": 0.95}, {"name": "unseen", "value": 0.4}]
        >>> rc.charts.bars(rows, value="share right", form=".0%").to_dict()["height"]
        68
    """
    there = tidy(table)
    rows, lost = defined(there)
    endless = [row for row in rows if not finite(row["value"])]
    rows = [row for row in rows if finite(row["value"])]
    lines = in_order(rows, y, order)
    cut, lines = len(lines), lines[:MOST_ROWS]
    rows = [row for row in rows if row[y] in set(lines)]
    held = [0.0, *reference, *(row[name] for row in rows for name in ("value", *INTERVAL) if finite(row.get(name)))]
    low, high = domain or (min(held), max(held) or 1.0)

    def across(name: str) -> alt.X:
        axis, scale = alt.Axis(format=form), linear(low, high)
        return alt.X(field=name, type="quantitative", title=value, scale=scale, axis=axis)

    up = category(y, lines, step)
    spans = [
        row | {name: min(max(row[name], low), high) for name in INTERVAL}
        for row in rows
        if all(finite(row.get(name)) for name in INTERVAL)
    ]
    tips = [alt.Tooltip(field=field(y), type="nominal")]
    numbers = {"value": value} | ({name: words for name, words in INTERVAL.items()} if spans else {})
    tips += [alt.Tooltip(field=n, type="quantitative", format=".3f", title=w) for n, w in numbers.items()]
    tips += [alt.Tooltip(field=field(name), type="quantitative") for name in also]
    bar = alt.Chart().mark_bar(height=alt.RelativeBandSize(band=0.42), opacity=0.45, style=["bar"])
    line = alt.Chart(data(spans)).mark_rule(strokeWidth=2.5, style=["interval-of-bar"])
    layers = [
        bar.encode(x=across("value"), y=up, tooltip=tips),
        *([line.encode(x=across("low"), x2=alt.X2(field="high"), y=up)] if spans else []),
        *thresholds("x", reference),
    ]
    notes = left_out(lost + len(endless), 0, 0) | {"categories": cut if cut > MOST_ROWS else 0}
    return layered(layers, rows, max(step, step * len(lines)), notes)
