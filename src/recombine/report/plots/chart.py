"""A chart of a study as a matplotlib figure: real axes, of the width that a paper has.

Charts are written once, as Vega-Lite. This draws the part of that language which our charts use, from the same data and
transforms, so that a figure in a paper shows what the page shows; what it does not know it refuses by name.
"""

from __future__ import annotations

import textwrap
from typing import Any

from ...charts.figure import Figure
from ...errors import unknown
from .legend import legend
from .marks import Layer, draw
from .places import LETTER, Axis
from .rows import aggregated, transformed
from .style import LOW, POINT, finished, paper_style

#: parts of a chart that are drawn (or say nothing about the drawing), and channels that are read
PARTS = frozenset({
    "data", "transform", "mark", "encoding", "layer", "width", "height", "autosize", "title", "$schema", "usermeta",
})  # fmt: skip
CHANNELS = frozenset({
    "x", "x2", "y", "y2", "xOffset", "yOffset", "color", "shape", "strokeDash", "detail", "size", "text", "tooltip",
})  # fmt: skip
HIGH = 300  # pixels, where a chart does not say
NAMES = 0.38  # of the width that names of categories may take
ROUNDS = 3  # of layout: the height of a legend depends on the width, and the room for the plot on both


def chart_figure(figure: Figure, inches: float, title: bool = False) -> Any:
    """The figure, `inches` wide; its height follows from the plot's and from what is written around it."""
    from matplotlib.figure import Figure as Canvas

    spec = figure.spec
    with paper_style():
        asked = spec.get("height")
        high = LOW * POINT * (asked if isinstance(asked, (int, float)) else HIGH) / 72
        canvas = Canvas(figsize=(inches, high + 0.6), layout="constrained")
        canvas.get_layout_engine().set(w_pad=0.02, h_pad=0.02)  # type: ignore[union-attr]
        axes = canvas.subplots()
        layers = _layers(spec)
        bar = None
        for layer in layers:
            bar = draw(axes, layer) or bar
        if layers:
            layers[0].y.apply(axes, inches * NAMES)
            layers[0].x.apply(axes, inches * (1 - NAMES / 2))
        if bar is not None:
            made = canvas.colorbar(bar, ax=axes, fraction=0.05, pad=0.02)
            made.outline.set_visible(False)
            made.set_label("\n".join(textwrap.wrap(_color_title(layers), max(8, int(high / LETTER)))))
        axes.set_ylabel("\n".join(textwrap.wrap(axes.get_ylabel(), max(8, int(high / LETTER)))))
        legend(canvas, layers, inches, figure.title if title else "")
        for _ in range(ROUNDS):
            canvas.draw_without_rendering()
            canvas.set_figheight(canvas.get_figheight() + high - axes.get_position().height * canvas.get_figheight())
        _thin_out(canvas, axes)
    return finished(canvas)


def _layers(spec: dict[str, Any]) -> list[Layer]:
    """Every layer with its rows; what stands around them counts for all."""
    read: list[tuple[list, dict, dict]] = []

    def walk(part: dict[str, Any], rows: list, encoding: dict) -> None:
        for name in part:
            if name not in PARTS:
                raise unknown("part of a chart", name, PARTS)
        rows = part["data"]["values"] if "data" in part else rows
        rows = transformed(rows, part.get("transform", ()))
        encoding = {**encoding, **part.get("encoding", {})}
        for channel in encoding:
            if channel not in CHANNELS:
                raise unknown("channel of a chart", channel, CHANNELS)
        if "mark" in part:
            mark = part["mark"] if isinstance(part["mark"], dict) else {"type": part["mark"]}
            read.append((*_summed(rows, encoding), mark))
        for inner in part.get("layer", ()):
            walk(inner, rows, encoding)

    walk(spec, [], {})
    everything = [row for rows, _, _ in read for row in rows]
    x, y = (Axis(name, [encoding[name] for _, encoding, _ in read if name in encoding], everything) for name in "xy")
    return [Layer(rows, mark, encoding, x, y) for rows, encoding, mark in read]


def _summed(rows: list, encoding: dict[str, Any]) -> tuple[list, dict[str, Any]]:
    """Where a channel asks for a summary: one row for each combination of the other channels."""
    wanted = {
        name: channel for name, channel in encoding.items() if isinstance(channel, dict) and "aggregate" in channel
    }
    if not wanted:
        return rows, encoding
    others = [c["field"] for name, c in encoding.items() if name not in wanted and name != "tooltip" and "field" in c]
    ops = [{"op": c["aggregate"], "field": c.get("field"), "as": c.get("field", "count")} for c in wanted.values()]
    return aggregated(rows, ops, list(dict.fromkeys(others))), encoding


def _color_title(layers: list[Layer]) -> str:
    colors = (layer.encoding.get("color", {}) for layer in layers)
    return next((color["title"] for color in colors if color.get("title")), "")


def _thin_out(canvas: Any, axes: Any) -> None:
    """Names along the horizontal axis that would run into each other: only those that leave room are kept."""
    canvas.draw_without_rendering()
    end = float("-inf")
    for label in axes.get_xticklabels():
        box = label.get_window_extent()
        if not label.get_text() or not label.get_visible():
            continue
        if box.x0 < end:
            label.set_visible(False)
        else:
            end = box.x1 + 2
