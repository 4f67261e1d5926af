"""Marks of a chart as matplotlib draws them: one function a kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import UserError, unknown
from ..theme import COLOR_MAPS, LIGHT, chart_config
from .expressions import evaluate
from .numbers import written
from .places import INNER, Axis, Channel, valued
from .rows import Row
from .style import MARKERS, SERIES, area, points

STYLES: dict[str, dict[str, Any]] = {
    **chart_config(LIGHT)["style"], "mean": {"color": LIGHT["ink"]}, "frontier": {"color": LIGHT["ink"]},
}  # fmt: skip
LETTERS = 10.5  # pixels, where a mark does not say


@dataclass(frozen=True)
class Layer:
    """One layer: rows that are drawn as one kind of mark, by what its channels say."""

    rows: list[Row]
    mark: dict[str, Any]
    encoding: dict[str, Channel]
    x: Axis
    y: Axis

    def look(self, name: str, default: Any = None) -> Any:
        """A property of the mark, or of the first of its styles that has it."""
        styles = [STYLES.get(style, {}) for style in self.mark.get("style", ())]
        return next((part[name] for part in (self.mark, *styles) if name in part), default)

    def place(self, row: Row, second: str = "") -> tuple[float, float]:
        """Across and up; second: "x" or "y" takes the other end there."""
        found = []
        for axis in (self.x, self.y):
            channel = self.encoding.get(axis.name + ("2" if second == axis.name else ""), {})
            at = axis.at(channel, row) if "field" in channel or "datum" in channel else math.nan
            if lane := self.encoding.get(f"{axis.name}Offset"):
                at += axis.lane(lane, row)
            found.append(at)
        return found[0], found[1]

    def color(self, row: Row) -> Any:
        channel = self.encoding.get("color")
        if not channel:
            return self.look("color", SERIES[0])
        if "field" not in channel:
            return valued(channel, row) or self.look("color", LIGHT["ink"])
        domain = channel.get("scale", {}).get("domain") or list(
            dict.fromkeys(r.get(channel["field"]) for r in self.rows)
        )
        value = row.get(channel["field"])
        return SERIES[domain.index(value) % len(SERIES)] if value in domain else LIGHT["muted"]

    def ranged(self, name: str, row: Row, default: Any) -> Any:
        """What a scale with a range (of shapes, of dashes) gives a row."""
        channel = self.encoding.get(name)
        if not channel or "field" not in channel:
            return default
        domain, range_ = (channel.get("scale", {}).get(part) or [] for part in ("domain", "range"))
        value = row.get(channel["field"])
        return range_[domain.index(value) % len(range_)] if range_ and value in domain else default

    def groups(self, *channels: str) -> list[list[Row]]:
        """Rows that agree in the fields of these channels."""
        fields = [self.encoding[name]["field"] for name in channels if "field" in self.encoding.get(name, {})]
        found: dict[tuple, list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row.get(field) for field in fields), []).append(row)
        return list(found.values())


def draw(axes: Any, layer: Layer) -> Any:
    """Draws a layer; returns what a color bar needs, where there is one to draw."""
    kind = layer.mark["type"]
    if kind not in KINDS:
        raise unknown("mark of a chart", kind, KINDS)
    return KINDS[kind](axes, layer) if layer.rows else None


# -- kinds ------------------------------------------------------------------------------------------------------------
def _point(axes: Any, layer: Layer) -> None:
    opacity = layer.look("opacity", 0.7)
    if not opacity:
        return  # there for the pointer only
    for rows in layer.groups("color", "shape"):
        places = [layer.place(row) for row in rows]
        sizes = [area(_size(layer, row)) for row in rows]
        shape = MARKERS.get(layer.ranged("shape", rows[0], "circle"), "o")
        axes.scatter(
            *zip(*places, strict=True), s=sizes, color=layer.color(rows[0]), marker=shape, alpha=opacity, linewidths=0,
            clip_on=False, zorder=3,
        )  # fmt: skip


def _size(layer: Layer, row: Row) -> float:
    channel = layer.encoding.get("size")
    if not channel:
        return layer.look("size", 40)
    low, high = channel.get("scale", {}).get("range", (20, 300))
    most = max(float(other[channel["field"]]) for other in layer.rows) or 1.0
    return low + (high - low) * float(row[channel["field"]]) / most


def _line(axes: Any, layer: Layer) -> None:
    width, opacity = points(layer.look("strokeWidth", 2)), layer.look("opacity", 1)
    for rows in layer.groups("color", "strokeDash", "detail"):
        places = sorted(layer.place(row) for row in rows)
        dash = layer.ranged("strokeDash", rows[0], layer.look("strokeDash"))
        color = layer.color(rows[0])
        axes.plot(
            *zip(*places, strict=True), color=color, linewidth=width, alpha=opacity, linestyle=dashes(dash, width)
        )
        if dots := layer.mark.get("point"):
            size, faint = (dots.get("size", 30), dots.get("opacity", 1)) if isinstance(dots, dict) else (30, 1)
            axes.scatter(
                *zip(*places, strict=True),
                s=area(size),
                color=color,
                alpha=faint,
                linewidths=0,
                clip_on=False,
                zorder=3,
            )


def dashes(dash: Any, width: float) -> Any:
    """Lengths on the screen as multiples of the width of the line; matplotlib scales them with it."""
    if not dash or len(dash) < 2 or not dash[1]:
        return "-"
    return (0, tuple(points(length) / max(width, 0.5) for length in dash))


def _rule(axes: Any, layer: Layer) -> None:
    width = points(layer.look("strokeWidth", 1))
    look = {"linewidth": width, "linestyle": dashes(layer.look("strokeDash"), width), "alpha": layer.look("opacity", 1)}
    for row in layer.rows:
        x, y = layer.place(row)
        color = layer.color(row)
        if "x2" in layer.encoding:
            axes.plot([x, layer.place(row, "x")[0]], [y, y], color=color, **look, solid_capstyle="butt")
        elif "y2" in layer.encoding:
            axes.plot([x, x], [y, layer.place(row, "y")[1]], color=color, **look, solid_capstyle="butt")
        elif math.isnan(y):
            axes.axvline(x, color=color, zorder=1, **look)
        else:
            axes.axhline(y, color=color, zorder=1, **look)


def _tick(axes: Any, layer: Layer) -> None:
    upright = layer.look("orient", "vertical") == "vertical"
    for rows in layer.groups("color"):
        axes.plot(
            *zip(*(layer.place(row) for row in rows), strict=True), linestyle="none", marker="|" if upright else "_",
            markersize=points(layer.look("size", 15)), markeredgewidth=points(layer.look("thickness", 2)),
            color=layer.color(rows[0]), clip_on=False, zorder=4,
        )  # fmt: skip


def _rect(axes: Any, layer: Layer) -> Any:
    color = layer.encoding.get("color", {})
    if color.get("type") == "quantitative" and layer.x.categories and layer.y.categories:
        return _heat(axes, layer, color)
    look = {"alpha": layer.look("opacity", 1), "linewidth": 0, "zorder": 0.5}
    for row in layer.rows:
        (x, y), shade = layer.place(row), layer.color(row)
        end = layer.place(row, "x")[0] if "x2" in layer.encoding else 0.0
        if math.isnan(y):
            axes.axvspan(x, end, color=shade, **look)
        else:
            axes.barh(y, end - x, left=x, height=1 - INNER, color=shade, **look)
    return None


def _heat(axes: Any, layer: Layer, color: Channel) -> Any:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    assert layer.x.categories is not None and layer.y.categories is not None
    scale = color.get("scale", {})
    known = [row for row in layer.rows if row.get(color["field"]) is not None]  # what is missing stays a hole
    values = [float(row[color["field"]]) for row in known]
    low, high = scale.get("domain") or (min(values), max(values))
    norm = LogNorm(low, high) if scale.get("type") == "log" else Normalize(low, high)
    grid = [[math.nan] * len(layer.x.categories) for _ in layer.y.categories]
    for row, value in zip(known, values, strict=True):
        x, y = layer.place(row)
        grid[int(y)][int(x)] = value
    mapped = LinearSegmentedColormap.from_list("heat", COLOR_MAPS["heat"])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return axes.imshow(grid, cmap=mapped, norm=norm, aspect="auto", origin="upper")


def _text(axes: Any, layer: Layer) -> None:
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    size = points(layer.look("fontSize", LETTERS))
    across = {"left": "left", "right": "right"}.get(layer.look("align"), "center")
    upright = {"top": "top", "bottom": "bottom"}.get(layer.look("baseline"), "center")
    for row in layer.rows:
        x, y = layer.place(row)
        dx, dy = (_shift(layer.look(name, 0), row) for name in ("dx", "dy"))
        x_by, y_by = axes.transData, axes.transData
        if math.isnan(x):
            x_by, (x, more) = axes.transAxes, _edge(layer.encoding.get("x", {}), "width")
            dx += more
        if math.isnan(y):
            y_by, (y, more) = axes.transAxes, _edge(layer.encoding.get("y", {}), "height")
            y, dy = 1 - y, dy + more  # on the screen, down is up
        shift = ScaledTranslation(points(dx) / 72, -points(dy) / 72, axes.figure.dpi_scale_trans)
        axes.text(
            x, y, _words(layer, row), fontsize=size, color=layer.color(row), ha=across, va=upright, zorder=5,
            transform=blended_transform_factory(x_by, y_by) + shift, alpha=layer.look("opacity", 1),
            fontweight=layer.look("fontWeight", "normal"),
        )  # fmt: skip


def _shift(value: Any, row: Row) -> float:
    return float(evaluate(value["expr"], {"datum": row}) if isinstance(value, dict) else value)


def _edge(channel: Channel, whole: str) -> tuple[float, float]:
    """A place given by pixels: which share of the axes it begins at, and pixels from there."""
    value = channel.get("value", 0)
    return (1.0, 0.0) if value == whole else (0.0, float(value))


def _words(layer: Layer, row: Row) -> str:
    channel = layer.encoding.get("text", {})
    if "field" in channel:
        value = row.get(channel["field"])
        return written(float(value), channel["format"]) if "format" in channel and value is not None else str(value)
    found = valued(channel, row) if channel else layer.mark.get("text")
    if found is None:
        raise UserError("a mark of kind text says nothing: it takes a channel text, or a text of its own")
    return str(found)


KINDS: dict[str, Callable[[Any, Layer], Any]] = {
    "point": _point, "line": _line, "rule": _rule, "tick": _tick, "bar": _rect, "rect": _rect, "text": _text,
}  # fmt: skip
