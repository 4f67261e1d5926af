"""dots: a row for each category, a point per seed, a tick for the mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..statistics.intervals import over_seeds
from .chart_parts import (
    CEILING,
    FLOOR,
    beside,
    by_series,
    category,
    data,
    field,
    layered,
    left_out,
    linear,
    log_axis,
    log_ends,
    points,
    thresholds,
    tooltip,
)
from .lazy_altair import alt
from .tidy_rows import Rows, Table, bounded, defined, finite, in_order, means, thinned, tidy

MOST_ROWS = 200  # categories: a chart of more is a table
NESTED = " › "  # between a category and its part, in the name of a category


def dots(
    table: Table,
    *,
    y: str = "name",
    value: str = "value",
    order: Sequence[str] | None = None,
    series: Sequence[str] | None = None,
    top: int | float = 1.0,
    also: Sequence[int | float] = (),
    thresholds_at: Sequence[int | float] = (),
    intervals: bool = False,
    span: tuple[str, str] | None = None,
    points_of: Sequence[str] | None = None,
    step: int = 46,
    lanes: bool = True,
    log: bool = False,
    ticks: bool = True,
) -> alt.LayerChart:
    """A row for each category: a point per seed, a tick for the mean, and arrows for points beyond the axis.

    Args:
        table: rows with the columns `y` and value, and series and seed where there are any.
        y: the column of categories.
        value: the words of the axis.
        order: categories from top to bottom; those that are not there are left out.
        series: the order of series; none, where rows have no such column.
        top: the axis reaches from zero (or below) to here, and holds all values within reason.
        also: what the axis has to hold, too.
        thresholds_at: where dashed lines run.
        intervals: draw the 95 % interval over seeds of each category.
        span: two series; the span between their means is shaded.
        points_of: series whose points are drawn; of the others, only the mean.
        step: the height of a row in pixels.
        lanes: series beside each other, not on one line.
        log: a logarithmic axis, from the smallest positive value to the largest.
        ticks: draw means.

    Example:
        >>> rows = [{"name": "mlp", "seed": seed, "value": 0.8 + 0.01 * seed} for seed in range(3)]
        >>> rc.charts.dots(rows, value="held-out R²").to_dict()["height"]
        46
    """
    rows = tidy(table)
    there = "series" in rows[0] if rows else False
    known = [str(name) for name in in_order(rows, "series", series)] if there else []
    lines = in_order(rows, y, order)
    cut, lines = len(lines), lines[:MOST_ROWS]
    rows, lost = defined([row for row in rows if row[y] in set(lines)])
    bounds = _bounds(rows, y, lines) if intervals else []
    reach = [*also, *thresholds_at, *(row[end] for row in bounds for end in ("low", "high"))]
    low, high = _ends(rows, max(top, *thresholds_at) if thresholds_at else top, reach, log)
    axis: dict[str, Any] = log_axis(low, high) if log else {"scale": linear(low, high)}
    across = alt.X(field="at", type="quantitative", title=value, **axis)
    up = category(y, lines, step, **(_nested() if any(NESTED in str(name) for name in lines) else {}))
    base: dict[str, Any] = {"x": across, "y": up}
    shape = {}
    if known:
        looks = by_series(known, beside=beside(lines))
        shape = {"shape": looks["shape"]}
        base["color"] = looks["color"]
        if lanes:
            base["yOffset"] = alt.YOffset(
                field="series", type="nominal", scale=alt.Scale(domain=known, paddingOuter=0.3)
            )
    few = thinned(rows)
    layers = [
        *thresholds("x", thresholds_at),
        *([_span(rows, y, lines, span, (low, high), base)] if span else []),
        *([_intervals(bounds, y, (low, high), base)] if bounds else []),
        *_points(bounded(few), base, shape, y, (low, high), points_of),
        *([_means(rows, base, y, (low, high), bool(known))] if ticks else []),
    ]
    notes = left_out(lost, len(rows), len(few)) | {"categories": cut if cut > MOST_ROWS else 0}
    return layered(layers, bounded(few), max(step, step * len(lines)), notes)


def _ends(rows: Rows, top: int | float, also: Sequence[int | float], log: bool) -> tuple[float, float]:
    values = [row["value"] for row in rows if finite(row["value"])]
    if log:
        return log_ends([*values, *also, top])
    lowest = min([0.0, *values, *also])
    low = max(FLOOR, lowest - 0.03 if lowest < 0 else 0.0)  # a little air, so that no point touches the names
    return low, min(max(CEILING, top), max([top, *values, *also]))


def _nested() -> dict[str, Any]:
    """Of "category › part" the axis shows the part; a category stands out."""
    return {
        "labelExpr": f"indexof(datum.label, '{NESTED}') < 0 ? datum.label : split(datum.label, '{NESTED}')[1]",
        "labelFontWeight": {"condition": {"test": f"indexof(datum.value, '{NESTED}') < 0", "value": 600}, "value": 400},
    }


def _points(
    rows: Rows,
    base: dict[str, Any],
    shape: dict[str, Any],
    y: str,
    ends: tuple[float, float],
    of: Sequence[str] | None,
) -> list[Any]:
    """A point per row; what lies beyond the axis is an arrow at its end."""
    low, high = ends
    shown = [name for name in (y, "series", "seed") if any(name in row for row in rows)]
    tips = tooltip({name: "on" if name == "series" else name for name in shown}, rows=rows)
    clamp, beyond = f"clamp(datum.value, {low}, {high})", f"datum.value < {low} || datum.value > {high}"
    start = points(58, 0.7).transform_calculate(at=clamp).transform_filter(f"!({beyond})")
    if of is not None:
        start = start.transform_filter(alt.FieldOneOfPredicate(field="series", oneOf=list(of)))
    layers = [start.encode(**base, **shape, tooltip=tips)]
    if any(not low <= row["value"] <= high for row in rows if of is None or row["series"] in of):
        arrow = alt.Text(condition={"test": f"datum.value < {low}", "value": "◂"}, value="▸")
        where = alt.ExprRef(expr=f"datum.value < {low} ? 7 : -7")
        edge = alt.Chart().mark_text(style=["edge"], fontSize=13, dx=where)
        edge = edge.transform_calculate(at=clamp).transform_filter(beyond)
        layers.append(edge.encode(**base, text=arrow, tooltip=tips))
    return layers


def _means(rows: Rows, base: dict[str, Any], y: str, ends: tuple[float, float], series: bool) -> Any:
    """A bar at the mean over seeds of each category and series."""
    by = [y, "series"] if series else [y]
    low, high = ends
    found = [row | {"at": row["value"]} for row in means(rows, by) if low <= row["value"] <= high]
    tips = tooltip({name: "on" if name == "series" else name for name in by}, words="mean over seeds")
    mark = alt.Chart(data(found)).mark_tick(orient="vertical", thickness=2.5, size=15, style=["mean"])
    return mark.encode(**base, tooltip=tips)


def _bounds(rows: Rows, y: str, lines: Sequence[str]) -> Rows:
    """The 95 % interval over seeds of each category that has one."""
    values = {line: [row["value"] for row in rows if row[y] == line and finite(row["value"])] for line in lines}
    overs = {line: over_seeds(found) for line, found in values.items()}
    return [{y: line, "low": over.low, "high": over.high} for line, over in overs.items() if over.seeds >= 2]


def _intervals(bounds: Rows, y: str, ends: tuple[float, float], base: dict) -> Any:
    """Intervals as lines, cut where the axis ends."""
    low, high = ends
    found = [row | {"at": min(max(row["low"], low), high), "to": min(max(row["high"], low), high)} for row in bounds]
    tips = [alt.Tooltip(field=field(y), type="nominal")] + [
        alt.Tooltip(field=name, type="quantitative", format=".3f", title=words)
        for name, words in (("low", "95 % from"), ("high", "95 % to"))
    ]
    mark = alt.Chart(data(found)).mark_rule(style=["interval"], strokeWidth=2)
    return mark.encode(x=base["x"], x2=alt.X2(field="to"), y=base["y"], tooltip=tips)


def _span(rows: Rows, y: str, lines: Sequence[str], span: tuple[str, str], ends: tuple, base: dict) -> Any:
    """A pale bar from the mean of one series to that of the other: the gap, to be seen."""
    low, high = ends
    mean = {(row[y], row["series"]): min(max(row["value"], low), high) for row in means(rows, [y, "series"])}
    found = [
        {y: line, "at": mean[line, span[0]], "to": mean[line, span[1]]}
        for line in lines
        if (line, span[0]) in mean and (line, span[1]) in mean
    ]
    return alt.Chart(data(found)).mark_bar(style=["span"]).encode(x=base["x"], x2=alt.X2(field="to"), y=base["y"])
