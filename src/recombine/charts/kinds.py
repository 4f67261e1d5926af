"""Kinds of charts: what a chart of a study shows, as data, over rows that follow from its table.

    dots("Error by net", "A point per seed.", rows, y="net", value="error")

`rows` makes tidy rows (seed, value, series and what the axes are called) from the table of a study; a chart of no rows
is not drawn. With `split` there is one chart for each value of that column, and "{split}" in its words stands for it.
"{metric}" stands for the metric that the study's scores are about, in its own words ("{Metric}" begins a sentence).
`claims` names claims of the study (ids, or patterns such as "*-composes") whose thresholds are drawn.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import unknown
from . import curve_chart, dot_chart, heat_chart, power_law_chart, scatter_chart, tuning_chart
from .figure import Figure
from .tidy_rows import Rows as Rows
from .tidy_rows import in_order as in_order
from .words import metric_words
from .words import title as title_of

RowsOf = Callable[[Any], Rows]  # a StudyTable -> rows
Words = str | Callable[[Rows], str]
ARROWS = " An arrow marks a point beyond the axis."


@dataclass(frozen=True)
class Chart:
    """A chart of a study, as data.

    draw: rows (and the options below) -> an Altair chart.
    value: the words of the axis of values, given to `draw` as an option if there are any.
    claims: ids of the claims whose thresholds are drawn, given to `draw` as the option called `threshold_option`.
    """

    title: str
    caption: Words
    rows: RowsOf
    draw: Callable[..., Any]
    split: str = ""
    value: str = ""
    claims: Sequence[str] = ()
    threshold_option: str = "reference"
    options: Mapping[str, Any] = field(default_factory=dict)

    def figures(self, table: Any, thresholds: Mapping[str, float] | None = None, metric: str = "") -> list[Figure]:
        """The chart of a table, one for each value of `split`; none where there is nothing to draw.

        thresholds: those of all claims of the study, by id. metric: what its scores are about, in words.
        """
        rows = self.rows(table)
        options = dict(self.options) | self._thresholds(thresholds or {})
        if not self.split:
            return [self._figure(rows, _names(metric), options)] if rows else []
        values = list(dict.fromkeys(row[self.split] for row in rows))
        return [
            self._figure([row for row in rows if row[self.split] == value], _names(metric, value), options)
            for value in values
        ]

    @property
    def names_its_metric(self) -> bool:
        """Whether its words have a place for the metric's."""
        words = (self.title, self.value, self.caption if isinstance(self.caption, str) else "")
        return any("{metric}" in one.lower() for one in words)

    def _thresholds(self, known: Mapping[str, float]) -> dict[str, Any]:
        if not self.claims:
            return {}
        found: dict[str, float] = {}
        for pattern in self.claims:
            named = {id: known[id] for id in known if fnmatch.fnmatchcase(id, pattern)}
            if not named:
                raise unknown(f"claim for the chart {self.title!r}", pattern, known)
            found |= named
        also = self.options.get(self.threshold_option, ())
        return {self.threshold_option: tuple(dict.fromkeys((*also, *found.values())))}

    def _figure(self, rows: Rows, names: Mapping[str, str], options: dict[str, Any]) -> Figure:
        words = self.caption(rows) if callable(self.caption) else self.caption
        if self.value:
            options = options | {"value": _filled(self.value, names)}
        chart = self.draw(rows, **options)
        return Figure(_filled(self.title, names), _filled(words, names) + arrows(chart), chart)


def _names(metric: str, split: Any = "") -> dict[str, str]:
    return {"{metric}": metric, "{Metric}": title_of(metric), "{split}": str(split)}


def _filled(words: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        words = words.replace(name, value)
    return words


def figures_of(
    charts: Sequence[Chart | Callable[[Any], list[Figure]]], table: Any, thresholds: Mapping[str, float]
) -> list[Figure]:
    """Charts of the table of a study that there is something to draw for, in their order."""
    if not len(table):
        return []
    named = any(isinstance(one, Chart) and one.names_its_metric for one in charts)
    words = metric_words(table.metric) if named else ""
    drawn = [one.figures(table, thresholds, words) if isinstance(one, Chart) else one(table) for one in charts]
    return [figure for some in drawn for figure in some]


def arrows(chart: Any) -> str:
    """A sentence for the caption if a chart has points beyond its axis."""
    layers = getattr(chart, "layer", ())
    marks = [getattr(layer, "mark", None) for layer in layers if layer is not None]
    styles = [getattr(mark, "style", None) for mark in marks if not isinstance(mark, str)]
    return ARROWS if ["edge"] in styles else ""


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
    claims: Sequence[str] = (),
    **look: Any,
) -> Chart:
    """Categories along y, one point per seed, a tick for the mean; colored by series, where rows have one."""
    options = {"y": y, "order": order, "series": series, "top": top, **look}
    return Chart(title, caption, rows, dot_chart.dots, split, value, claims, "thresholds_at", options)


def ratios(title: str, caption: Words, rows: RowsOf, *, y: str, value: str, at: Sequence[float] = (1, 5)) -> Chart:
    """Dots on a logarithmic axis, for one number by another; dashed lines at some ratios.

    An infinite ratio is an arrow at the right; one that is undefined (NaN) has no place and is left out.
    """
    look = {"y": y, "top": max(at), "also": [1.0], "step": 58, "log": True, "thresholds_at": tuple(at)}
    return Chart(title, caption, rows, dot_chart.dots, value=value, threshold_option="thresholds_at", options=look)


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
    claims: Sequence[str] = (),
    **look: Any,
) -> Chart:
    """One line per series through the means over seeds, one point per seed."""
    options = {"x": x, "x_title": x_title, "order": order, **look}
    return Chart(title, caption, rows, curve_chart.curves, split, value, claims, options=options)


def by_layer(
    title: str, caption: Words, rows: RowsOf, *, value: str, split: str = "", claims: Sequence[str] = (), **look: Any
) -> Chart:
    """Curves over the layers of nets. Rows: layer, series, seed, value."""
    return Chart(title, caption, rows, curve_chart.by_layer, split, value, claims, options=look)


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
    options = {"x": x, "y": y, "x_title": x_title, "y_title": y_title, **({"domain": None} if fitted else {}), **look}
    return Chart(title, caption, rows, heat_chart.heat, split, value, options=options)


def scatter(
    title: str,
    caption: Words,
    rows: RowsOf,
    *,
    x_title: str,
    value: str,
    order: Sequence[str] | None = None,
    split: str = "",
    claims: Sequence[str] = (),
    **look: Any,
) -> Chart:
    """One point per trial: x against value, colored by series."""
    options = {"x_title": x_title, "order": order, **look}
    return Chart(title, caption, rows, scatter_chart.scatter, split, value, claims, options=options)


def tuning(title: str, caption: Words, rows: RowsOf, *, split: str = "", **look: Any) -> Chart:
    """What units do against each factor, a line of small plots. Rows: unit, factor, place, value."""
    return Chart(title, caption, rows, tuning_chart.tuning, split, options=look)


def log_log(
    title: str, caption: Words, rows: RowsOf, *, x_title: str, value: str, fits: Callable[[Rows], Sequence[Any]]
) -> Chart:
    """What is needed against size on two logarithmic axes, with fitted powers. Rows: size, series, seed, value."""

    def draw(rows: Rows, value: str) -> Any:
        return power_law_chart.log_log(rows, fits(rows), x_title=x_title, value=value)

    return Chart(title, caption, rows, draw, value=value)
