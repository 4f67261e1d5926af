"""Curves on two logarithmic axes: what is needed against size, with slopes to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .chart_parts import by_series, data, layered, left_out, log_axis, log_ends, points, tooltip
from .lazy_altair import alt
from .tidy_rows import Rows, Table, finite, in_order, means, thinned, tidy

Span = tuple[int | float, int | float]

SLOPES = {1: "N", 2: "N²", 3: "N³"}  # powers to compare a fit with


def log_log(
    table: Table,
    fits: Sequence[Mapping[str, Any]] = (),
    *,
    x_title: str = "size",
    value: str = "value",
    order: Sequence[str] | None = None,
    slopes: Mapping[int, str] = SLOPES,
) -> alt.LayerChart:
    """What is needed against size on logarithmic axes: a point per seed, fitted powers, exponents in the legend.

    Args:
        table: rows with size, series, seed and value; a value that is None or not finite was never reached and is drawn
            as an arrow at the top.
        fits: series, scale and exponent of value = scale * size^exponent, and low and high of the exponent if it has an
            interval.
        x_title: the words of the axis of sizes.
        value: the words of the axis of values.
        order: of the series.
        slopes: dashed lines for whole powers, to compare slopes with.

    Example:
        >>> rows = [{"size": n, "series": "bumps", "seed": 0, "value": n**2} for n in (8, 16, 32)]
        >>> fits = [{"series": "bumps", "scale": 1.0, "exponent": 2.0}]
        >>> rc.charts.log_log(rows, fits, x_title="N", value="pictures needed").to_dict()["height"]
        340
    """
    rows = tidy(table)
    known = [str(name) for name in in_order(rows, "series", order)]
    label = {name: name for name in known} | {fit["series"]: _fitted(fit) for fit in fits}
    reached = [row["value"] for row in rows if finite(row["value"])]
    sizes = sorted({row["size"] for row in rows}) or [1, 2]
    lines = [
        {"size": size, "series": label[fit["series"]], "value": fit["scale"] * size ** fit["exponent"]}
        for fit in fits
        for size in _ends_of(rows, fit["series"])
    ]
    low, high = log_ends([*reached, *(point["value"] for point in lines)])
    left, right = sizes[0] / 1.08, sizes[-1] * 1.18  # room for the names of the slopes
    few = thinned(rows)
    drawn = [
        row
        | {
            "series": label[row["series"]],
            "reached": finite(row["value"]),
            "value": row["value"] if finite(row["value"]) else None,
            "at": row["value"] if finite(row["value"]) else high / 1.05,
        }
        for row in few
    ]
    ticks = alt.Axis(values=sizes, tickCount=len(sizes), format="d", labelOverlap="greedy", grid=False)
    axes: dict[str, Any] = {"x": alt.Scale(type="log", domain=[left, right], nice=False), "y": log_axis(low, high)}

    def places(y: str) -> dict[str, Any]:
        across = alt.X(field="size", type="quantitative", title=x_title, axis=ticks, scale=axes["x"])
        return {"x": across, "y": alt.Y(field=y, type="quantitative", title=value, **axes["y"])}

    looks = by_series([label[name] for name in known], columns=1, labelLimit=340)
    # the lower left corner, unless there are few enough fits to compare each with slopes of its own
    starts = [(line["size"], line["value"]) for line in lines[::2]] if 0 < len(fits) <= 2 else [(left, low)]
    tips = tooltip({"size": x_title, "series": "series", "seed": "seed"})
    beside = -2 if len(reached) == len(rows) else 15  # below the arrows at the top
    layers = [
        *_guides(_fan(slopes, starts, right / 1.1, high), places("value"), beside),
        *(
            [alt.Chart(data(lines)).mark_line(strokeWidth=2.5).encode(**places("value"), color=looks["color"])]
            if lines
            else []
        ),
        points(50, 0.7).transform_filter("datum.reached").encode(**places("at"), **looks, tooltip=tips),
    ]
    if len(reached) < len(rows):
        arrow = alt.Chart().mark_text(text="▲", fontSize=12, opacity=0.8).transform_filter("!datum.reached")
        layers.append(arrow.encode(**places("at"), color=looks["color"], tooltip=tips[:-1]))
    return layered(layers, drawn, 340, left_out(0, len(rows), len(few)))


def needed(table: Table) -> alt.LayerChart:
    """Needed against there are, on logarithmic axes, with the line where all are needed.

    Args:
        table: rows with size, series, seed, family and value.

    Example:
        >>> rows = [{"size": n, "series": "mlp", "seed": 0, "family": "M = 8", "value": n / 2} for n in (28, 120)]
        >>> rc.charts.needed(rows).to_dict()["height"]
        320
    """
    rows = tidy(table)
    sizes = [row["size"] for row in rows]
    names = in_order(rows, "series")
    ends = (min(row["value"] for row in rows) / 1.3, max(sizes) * 1.2)
    across = alt.X(
        field="size", type="quantitative", title="combinations there are", **log_axis(min(sizes) / 1.2, ends[1])
    )
    up = alt.Y(field="value", type="quantitative", title="combinations needed", **log_axis(*ends))
    looks = by_series(names)
    both = [{"size": size, "value": size} for size in (max(min(sizes) / 1.2, ends[0]), ends[1])]
    tips = [alt.Tooltip(field=name, type="nominal") for name in ("family", "series", "seed", "size")]
    tips.append(alt.Tooltip(field="value", type="quantitative", title="needed"))
    average = alt.Chart(data(means(rows, ["size", "series"]))).mark_line(strokeWidth=2.5)
    all_of_them = alt.Chart(data(both)).mark_line(style=["reference"], strokeDash=[4, 4], clip=True)
    few = thinned(rows)
    layers = [
        all_of_them.encode(x=across, y=up),
        average.encode(x=across, y=up, color=looks["color"]),
        points(50, 0.7).encode(x=across, y=up, **looks, tooltip=tips),
    ]
    return layered(layers, few, 320, left_out(0, len(rows), len(few)))


def _guides(fan: Rows, places: dict[str, Any], beside: int) -> list[Any]:
    """Dashed lines of whole powers, with their names at the ends."""
    line = alt.Chart(data(fan)).mark_line(style=["reference"], strokeWidth=1, strokeDash=[4, 4], clip=True)
    names = alt.Chart(data([point for point in fan if point["label"]]))
    names = names.mark_text(style=["reference-label"], align="left", dx=5, dy=beside)
    return [
        line.encode(**places, detail=alt.Detail(field="line", type="nominal")),
        names.encode(**places, text=alt.Text(field="label", type="nominal")),
    ]


def _fitted(fit: Mapping[str, Any]) -> str:
    """A series with the exponent that was fitted, and its interval if there is one."""
    text = f"{fit['series']}: N^{fit['exponent']:.2f}"
    return text + (f" ({fit['low']:.2f} to {fit['high']:.2f})" if "low" in fit and "high" in fit else "")


def _ends_of(rows: Rows, series: str) -> Span:
    """The smallest and largest size at which a series was measured."""
    sizes = [row["size"] for row in rows if row["series"] == series]
    return min(sizes), max(sizes)


def _fan(slopes: Mapping[int, str], starts: Sequence[Span], right: int | float, high: int | float) -> Rows:
    """Two points per start and slope: from there to where the line leaves the frame, with its name at the end."""
    found: Rows = []
    for number, (size, value) in enumerate(starts):
        for power, name in slopes.items():
            end = min(right, size * (0.93 * high / value) ** (1 / power))
            found += [
                {"line": f"{number} {name}", "size": size, "value": value, "label": ""},
                {"line": f"{number} {name}", "size": end, "value": value * (end / size) ** power, "label": name},
            ]
    return found
