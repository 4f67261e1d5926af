"""heat: a map of means over seeds, cells with their number."""

from __future__ import annotations

import math
from typing import Any

from .chart_parts import data, field, sized
from .lazy_altair import alt
from .tidy_rows import Rows, Table, defined, finite, tidy

Span = tuple[int | float, int | float]

MOST_CELLS = 2_500  # of more, rows and columns are left out evenly
MOST_NUMBERS = 400  # cells of more than so many carry no number
TITLES = {"low": "95 % from", "high": "95 % to", "seeds": "seeds"}


def heat(
    table: Table,
    *,
    x: str = "x",
    y: str = "y",
    x_title: str = "",
    y_title: str = "",
    value: str = "value",
    begins: int | float | None = None,
    domain: Span | None = (0, 1),
    log: bool = False,
    digits: str | None = None,
) -> alt.LayerChart:
    """A map of means over seeds: cells with their number, and a line along the edges where `begins` is reached.

    Args:
        table: rows with the columns `x`, `y` and value, in the order in which x is shown, y rising upward; low, high
            and seeds where there is an interval.
        x: the column along.
        y: the column upward.
        x_title: the words of the axis along (default: its column).
        y_title: the words of the axis upward (default: its column).
        value: the words of the colors.
        begins: a line runs where it is reached.
        domain: colors reach over it, beyond it they are those of its ends; None for all values there are.
        log: colors by ratio.
        digits: how numbers are written (d3-format).

    Example:
        >>> rows = [{"x": x, "y": y, "value": 0.1 * x * y} for x in (1, 2, 3) for y in (1, 2)]
        >>> rc.charts.heat(rows, x_title="width", y_title="depth", begins=0.5).to_dict()["height"]
        92
    """
    there = tidy(table)
    rows, lost = defined(there)
    lost += sum(not finite(row["value"]) for row in rows)
    rows = [row for row in rows if finite(row["value"])]
    every = len(rows)
    rows, columns, lines = _evenly(rows, x, y)
    low, high = _ends(rows, domain, log)
    digits = digits or (".2f" if not log and domain is not None else _digits(low, high, log))
    across = alt.X(
        field=field(x), type="ordinal", title=x_title or x, sort=columns, axis=alt.Axis(labelAngle=0, labelOverlap=True)
    )
    up = alt.Y(field=field(y), type="ordinal", title=y_title or y, sort=lines)
    scale = alt.Scale(scheme="viridis", domain=[low, high], clamp=True, type="log" if log else alt.Undefined)
    shade = alt.Color(field="value", type="quantitative", title=value, scale=scale)
    tips = [alt.Tooltip(field=field(n), type="nominal", title=w) for n, w in ((x, x_title or x), (y, y_title or y))]
    tips.append(alt.Tooltip(field="value", type="quantitative", format=".3f", title=value))
    for name, words in TITLES.items():
        if any(name in row for row in rows):
            form = "d" if name == "seeds" else ".3f"
            tips.append(alt.Tooltip(field=name, type="quantitative", format=form, title=words))
    layers = [alt.Chart().mark_rect().encode(x=across, y=up, color=shade, tooltip=tips)]
    if len(rows) <= MOST_NUMBERS:
        bright = low * (high / low) ** 0.55 if log else low + 0.55 * (high - low)  # where dark letters read better
        ink: Any = alt.condition(f"datum.value > {bright}", alt.value("#111"), alt.value("#fff"))
        text = alt.Text(field="value", type="quantitative", format=digits)
        layers.append(alt.Chart().mark_text(fontSize=11).encode(x=across, y=up, text=text, color=ink))
    if begins is not None:
        edges = _frontier(rows, x, y, columns, lines, begins)
        layers += _along(edges, (x, y), (columns, lines), (x_title or x, y_title or y))
    notes = {"undefined": lost} | ({"drawn": len(rows), "there": every} if len(rows) < every else {})
    chart = alt.layer(*layers, data=data(rows))
    return sized(chart, min(46 * max(1, len(lines)), max(460, 12 * len(lines))), notes)


def _evenly(rows: Rows, x: str, y: str) -> tuple[Rows, list[Any], list[Any]]:
    """Rows of no more columns and lines than can be drawn; columns, and lines from top to bottom."""
    columns = list(dict.fromkeys(row[x] for row in rows))
    lines = sorted({row[y] for row in rows}, reverse=True)
    if len(columns) * len(lines) > MOST_CELLS:
        most = math.isqrt(MOST_CELLS)
        columns, lines = (side[:: math.ceil(len(side) / most)] for side in (columns, lines))
        kept = set(columns), set(lines)
        rows = [row for row in rows if row[x] in kept[0] and row[y] in kept[1]]
    return rows, columns, lines


def _ends(rows: Rows, domain: Span | None, log: bool) -> Span:
    """The ends of the colors."""
    values = [row["value"] for row in rows]
    if log:
        values = [value for value in values if value > 0] or [1.0]
    low, high = domain or (min(values, default=0.0), max(values, default=1.0))
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    return low, high


def _digits(low: int | float, high: int | float, log: bool) -> str:
    return ".2f" if not log and 0.1 <= max(abs(low), abs(high)) < 10 else ".2~g"


def _along(
    frontier: tuple[Rows, Rows], names: tuple[str, str], order: tuple[list, list], titles: tuple[str, str]
) -> list[Any]:
    """A rule along the edges of cells; one that there are no edges for would complain."""
    level, beside = frontier
    rule = {"strokeWidth": 4, "style": ["frontier"]}
    x, y = (field(name) for name in names)
    of_x: dict[str, Any] = {"field": x, "type": "ordinal", "title": titles[0], "sort": order[0]}
    of_y: dict[str, Any] = {"field": y, "type": "ordinal", "title": titles[1], "sort": order[1]}
    axis = alt.Axis(labelAngle=0, labelOverlap=True)
    layers = []
    if level:  # along the lower edge of the cell that reaches it
        layers.append(
            alt.Chart(data(level))
            .mark_rule(**rule)
            .encode(
                x=alt.X(**of_x, axis=axis, bandPosition=0),
                x2=alt.X2(field=x, bandPosition=1),
                y=alt.Y(**of_y, bandPosition=1),
            )
        )
    if beside:  # along its left edge
        layers.append(
            alt.Chart(data(beside))
            .mark_rule(**rule)
            .encode(
                x=alt.X(**of_x, axis=axis, bandPosition=0),
                y=alt.Y(**of_y, bandPosition=0),
                y2=alt.Y2(field=y, bandPosition=1),
            )
        )
    return layers


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
