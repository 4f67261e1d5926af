"""The legend above a figure: one entry a series, with its color, shape and dashes."""

from __future__ import annotations

import textwrap
from typing import Any

from .marks import Layer, dashes
from .places import LETTER
from .style import MARKERS

HANDLE = 0.35  # inches of what stands before a name, and between two
CHANNELS = ("color", "shape", "strokeDash")
TITLE, BOLD = 9, 1.4  # points of a title, and how much wider its letters are than others


def legend(canvas: Any, layers: list[Layer], inches: float, title: str = "") -> None:
    """The title, and entries of all series that channels name, in as many columns as there is room for."""
    title = in_lines(title, inches)
    entries: dict[str, Any] = {}
    for field, domain in _named(layers).items():
        for name in domain:
            entries[str(name)] = _handle(layers, field, name)
    if len(entries) < 2:
        if title:
            canvas.suptitle(title, x=0.01, ha="left", fontsize=TITLE, fontweight="bold")
        return
    wrapped = ["\n".join(textwrap.wrap(name, max(10, int((inches - HANDLE) / LETTER)))) for name in entries]
    longest = max(len(line) for name in wrapped for line in name.split("\n"))
    columns = max(1, min(len(entries), int(inches / (longest * LETTER + HANDLE))))
    # two things at the top of a figure would lie on each other: the title belongs to the legend
    canvas.legend(
        list(entries.values()), wrapped, loc="outside upper left", ncols=columns, title=title or None, alignment="left",
        title_fontproperties={"weight": "bold", "size": TITLE},
    )  # fmt: skip


def in_lines(title: str, inches: float) -> str:
    """A title in lines that fit."""
    return "\n".join(textwrap.wrap(title, max(12, int(inches / (BOLD * LETTER)))))


def _named(layers: list[Layer]) -> dict[str, list[Any]]:
    """Fields that have a legend, with their series in order."""
    found: dict[str, list[Any]] = {}
    for layer in layers:
        for name in CHANNELS:
            channel = layer.encoding.get(name, {})
            if channel.get("type") == "nominal" and channel.get("legend", {}) is not None and "field" in channel:
                domain = channel.get("scale", {}).get("domain") or [row.get(channel["field"]) for row in layer.rows]
                found[channel["field"]] = list(dict.fromkeys([*found.get(channel["field"], []), *domain]))
    return found


def _handle(layers: list[Layer], field: str, name: Any) -> Any:
    """What a series looks like: the marks of all layers that tell it apart."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {
        "color": "#444444", "linestyle": "none", "markersize": 4, "linewidth": 1.3, "markeredgewidth": 0,
    }  # fmt: skip
    row = {field: name}
    for layer in layers:
        fields = {part: layer.encoding.get(part, {}).get("field") for part in CHANNELS}
        if field not in fields.values():
            continue
        if fields["color"] == field:
            look["color"] = layer.color(row)
        kind = layer.mark["type"]
        if kind == "line":
            look["linestyle"] = dashes(layer.ranged("strokeDash", row, None), 1.3)
        if kind == "point" and layer.look("opacity", 1):
            look["marker"] = MARKERS.get(layer.ranged("shape", row, "circle"), "o")
        if kind in ("tick", "bar", "rect") and "marker" not in look and look["linestyle"] == "none":
            look["marker"] = "s"
    return Line2D([], [], **look)
