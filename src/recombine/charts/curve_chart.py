"""curves: a line per series through the means over seeds; by a number, by layer, or along a search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .chart_parts import (
    FLOOR,
    by_series,
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
from .layer_order import layers_in_order
from .lazy_altair import alt
from .tidy_rows import Rows, Table, bounded, defined, finite, in_order, means, thinned, tidy

Span = tuple[int | float, int | float]


def curves(
    table: Table,
    *,
    x: str = "x",
    x_title: str = "",
    value: str = "value",
    order: Sequence[Any] | None = None,
    log: bool = False,
    reference: Sequence[int | float] = (),
    low: int | float = FLOOR,
    x_format: str = "d",
) -> alt.LayerChart:
    """A line per series through the means over seeds, a point per seed.

    Args:
        table: rows with the columns `x`, series and value, and seed where there is one.
        x: the column of numbers along the axis.
        x_title: the words of that axis (default: its column).
        value: the words of the axis of values.
        order: of the series.
        log: powers of two along x are equally far apart.
        reference: where dashed lines run.
        low: what lies below is drawn here, so that one bad net does not flatten the rest.
        x_format: how numbers along x are written (d3-format).

    Example:
        >>> rows = [{"n": n, "series": "mlp", "seed": 0, "value": 1 - 1 / n} for n in (2, 4, 8)]
        >>> rc.charts.curves(rows, x="n", value="held-out R²", log=True).to_dict()["height"]
        280
    """
    rows = tidy(table)
    known = [str(name) for name in in_order(rows, "series", order)] if rows else []
    rows, lost = defined(rows, ("value", x))
    rows = [row | {"series": str(row["series"])} for row in rows if finite(row[x])]
    places: list[Any] = sorted({row[x] for row in rows}) or [1, 2]
    log = log and places[0] > 0
    # room at both ends, so that no point lies on the frame
    ends = [places[0] / 1.15, places[-1] * 1.15] if log else [places[0], places[-1]]
    scale = alt.Scale(type="log", base=2, domain=ends) if log else alt.Scale(zero=False, nice=False, domain=ends)
    ticks = places if len(places) <= 60 else alt.Undefined
    axis = alt.Axis(values=ticks, format=x_format, labelOverlap=True, grid=False)
    across = alt.X(field=field(x), type="quantitative", title=x_title or x, scale=scale, axis=axis)
    top = max((row["value"] for row in rows if finite(row["value"])), default=1.0)
    few = thinned(rows)
    clamp = f"clamp(datum.value, {low}, {max(top, low)})"
    names = {x: x_title or x, "series": "series", "seed": "seed"}
    return _lines(few, rows, across, value, known, x, clamp, names, lost, reference, {})


def by_layer(
    table: Table,
    *,
    value: str = "value",
    order: Sequence[str] | None = None,
    layers: Sequence[str] = (),
    reference: Sequence[int | float] = (),
    domain: Span | None = None,
    log: bool = False,
) -> alt.LayerChart:
    """Curves over the layers of nets, the input first. Rows: layer, series, seed, value.

    Args:
        table: the rows.
        value: the words of the axis of values.
        order: of the series.
        layers: those to show, first to last (default: all that occur).
        reference: where dashed lines run.
        domain: the ends of the axis; what lies outside is drawn at them.
        log: a logarithmic axis.

    Example:
        >>> rows = [{"layer": name, "series": "mlp", "seed": 0, "value": 0.9} for name in ("input", "layer1/post")]
        >>> rc.charts.by_layer(rows, value="F").to_dict()["height"]
        280
    """
    rows = tidy(table)
    known = [str(name) for name in in_order(rows, "series", order)] if rows else []
    shown = list(layers) or layers_in_order(row["layer"] for row in rows)
    rows, lost = defined([row for row in rows if row["layer"] in set(shown)])
    axis = alt.Axis(labelAngle=0, labelOverlap=True, grid=False, labelExpr=_short_names(shown))
    scale = alt.Scale(type="point", domain=shown, padding=0.25)
    across = alt.X(field="layer", type="ordinal", title="layer", sort=shown, axis=axis, scale=scale)
    if log:
        domain = domain or log_ends([*(row["value"] for row in rows), *reference])
    clamp = f"clamp(datum.value, {domain[0]}, {domain[1]})" if domain else "datum.value"
    scaled = log_axis(*domain) if log and domain else {"scale": linear(*domain) if domain else alt.Scale(zero=False)}
    names = {"layer": "layer", "series": "series", "seed": "seed"}
    if not domain:  # the axis reaches over all values
        lost += sum(not finite(row["value"]) for row in rows)
        rows = [row for row in rows if finite(row["value"])]
    few = thinned(rows)
    return _lines(few, rows, across, value, known, "layer", clamp, names, lost, reference, scaled)


def search(table: Table, *, threshold: int | float, value: str = "value") -> alt.LayerChart:
    """What a search tried: score against the number trained on, a line per series and seed, and the score asked for.

    Args:
        table: rows with trained_on, series, seed, turn (when it was tried, from 1) and value.
        threshold: the score asked for.
        value: the words of the axis of values.

    Example:
        >>> rows = [{"trained_on": n, "series": "mlp", "seed": 0, "turn": n, "value": 0.1 * n} for n in (4, 8)]
        >>> rc.charts.search(rows, threshold=0.7, value="R²").to_dict()["height"]
        300
    """
    rows, lost = defined(tidy(table))
    names = in_order(rows, "series")
    ends = log_axis(*log_ends([row["trained_on"] for row in rows]))
    across = alt.X(field="trained_on", type="quantitative", title="combinations trained on", **ends)
    up = alt.Y(field="at", type="quantitative", title=value, axis=alt.Axis(tickCount=5))
    looks = by_series(names)
    columns = {"series": "net", "seed": "seed", "turn": "tried as number", "trained_on": "combinations trained on"}
    few = thinned(bounded(rows))
    top = max((row["value"] for row in rows if finite(row["value"])), default=1.0)
    at = {"at": f"clamp(datum.value, {FLOOR}, {max(top, FLOOR)})"}
    line = alt.Chart().mark_line(strokeWidth=1.5, opacity=0.6).transform_calculate(**at)
    detail = alt.Detail(field="seed", type="nominal")
    dots = points(50, 0.8).transform_calculate(**at)
    layers = [
        *thresholds("y", [threshold]),
        line.encode(x=across, y=up, color=looks["color"], detail=detail),
        dots.encode(x=across, y=up, **looks, tooltip=tooltip(columns, rows=few)),
    ]
    return layered(layers, few, 300, left_out(lost, len(rows), len(few)))


def _lines(
    few: Rows,
    rows: Rows,
    across: alt.X,
    value: str,
    known: Sequence[str],
    x: str,
    clamp: str,
    names: dict[str, str],
    lost: int,
    reference: Sequence[int | float],
    scaled: dict[str, Any],
) -> alt.LayerChart:
    """Means joined by lines, and points."""
    options: dict[str, Any] = {"axis": alt.Axis(tickCount=5)} | scaled
    up = alt.Y(field="at", type="quantitative", title=value, **options)
    looks = by_series(known)
    drawn = bounded(few)
    there = {name: words for name, words in names.items() if any(name in row for row in drawn)}
    line = alt.Chart(data(means(rows, [x, "series"]))).mark_line(strokeWidth=2.5).transform_calculate(at=clamp)
    dots = points(42, 0.65).transform_calculate(at=clamp)
    layers = [
        *thresholds("y", reference),
        line.encode(x=across, y=up, color=looks["color"]),
        dots.encode(x=across, y=up, **looks, tooltip=tooltip(there, rows=drawn)),
    ]
    return layered(layers, drawn, 280, left_out(lost, len(rows), len(few)))


def _short_names(layers: Sequence[str]) -> str:
    """Names of layers on an axis: without "/post" if no layer has another end, and numbers only where it is narrow."""
    ends = {name.partition("/")[2] for name in layers if "/" in name}
    # quoted as JSON, so that no name is more than a name
    name = f"replace(datum.label, {json.dumps('/' + ends.pop())}, '')" if len(ends) == 1 else "datum.label"
    return f"width < 80 * {len(layers)} ? replace({name}, 'layer', '') : {name}"
