"""Kinds of charts: what a chart of a study shows, as data, over rows that follow from its table.

    dots("Error by net", "A point per seed.", rows, y="net", value="error")

`rows` makes tidy rows (seed, value, series and what the axes are called) from the table of a study; a chart of no rows
is not drawn. With `split` there is one chart for each value of that column, and "{split}" in its words stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import vega, vega_pictures
from .figure import Figure
from .vega import Rows, Spec

RowsOf = Callable[[Any], Rows]  # a StudyTable -> rows
Words = str | Callable[[Rows], str]


@dataclass(frozen=True)
class Chart:
    """A chart of a study, as data."""

    title: str
    caption: Words
    rows: RowsOf
    draw: Callable[[Rows], Spec]
    split: str = ""

    def figures(self, table: Any) -> list[Figure]:
        """The chart of a table, one for each value of `split`; none where there is nothing to draw."""
        rows = self.rows(table)
        if not self.split:
            return [self._figure(rows, "")] if rows else []
        values = list(dict.fromkeys(row[self.split] for row in rows))
        return [self._figure([row for row in rows if row[self.split] == value], value) for value in values]

    def _figure(self, rows: Rows, value: Any) -> Figure:
        words = self.caption(rows) if callable(self.caption) else self.caption
        spec = self.draw(rows)
        said = vega.arrows(spec) if "layer" in spec else ""
        return Figure(_filled(self.title, value), _filled(words, value) + said, spec)


def _filled(words: str, value: Any) -> str:
    return words.replace("{split}", str(value))


def in_order(rows: Rows, column: str, order: Sequence[Any] | None = None) -> list[Any]:
    """The values of a column: those of `order` that are there, or all as they come."""
    there = list(dict.fromkeys(row[column] for row in rows))
    return there if order is None else [value for value in order if value in there]


def dots(
    title: str,
    caption: Words,
    rows: RowsOf,
    *,
    y: str,
    value: str,
    order: Sequence[str] | None = None,
    series: Sequence[str] | None = None,
    top: float = 1.0,
    split: str = "",
    **look: Any,
) -> Chart:
    """Categories along y, one point per seed, a tick for the mean; colored by series, where rows have one."""

    def draw(rows: Rows) -> Spec:
        shown = in_order(rows, "series", series) if "series" in rows[0] else []
        return vega.dots(rows, y, in_order(rows, y, order), shown, value, top=top, **look)

    return Chart(title, caption, rows, draw, split)


def curves(
    title: str,
    caption: Words,
    rows: RowsOf,
    *,
    x: str,
    x_title: str,
    value: str,
    order: Sequence[Any] | None = None,
    split: str = "",
    **look: Any,
) -> Chart:
    """One line per series through the means over seeds, one point per seed."""

    def draw(rows: Rows) -> Spec:
        return vega.curves(rows, x, x_title, value, in_order(rows, "series", order), **look)

    return Chart(title, caption, rows, draw, split)


def heat(
    title: str,
    caption: Words,
    rows: RowsOf,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    value: str,
    fitted: bool = False,
    split: str = "",
    **look: Any,
) -> Chart:
    """A map of means over seeds; fitted: colors reach over the values there are."""
    drawn = vega_pictures.grid_heat if fitted else vega.heat
    return Chart(title, caption, rows, lambda rows: drawn(rows, x, y, x_title, y_title, value, **look), split)


def scatter(
    title: str,
    caption: Words,
    rows: RowsOf,
    *,
    x_title: str,
    value: str,
    order: Sequence[str] | None = None,
    split: str = "",
    **look: Any,
) -> Chart:
    """One point per trial: x against value, colored by series."""
    return Chart(
        title,
        caption,
        rows,
        lambda rows: vega.scatter(rows, x_title, value, in_order(rows, "series", order), **look),
        split,
    )
