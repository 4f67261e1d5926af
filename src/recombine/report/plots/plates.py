"""Plates of small pictures as matplotlib figures."""

from __future__ import annotations

import textwrap
from typing import Any

from ...charts.image_grid import Plate, Tile
from ...shades import unpack
from .. import images
from ..plates import ABREAST, Bar, bar_of, color_map, flows, shared_bars, spelled
from ..theme import LIGHT
from .legend import TITLE, in_lines
from .places import LETTER
from .style import finished, paper_style

HEAD, BAR, WORDS = 0.16, 0.34, 0.12  # inches: of a name above, of a color bar below, of a line of a note
SMALLEST, LARGEST = 0.5, 1.6  # inches of a picture: larger cells say nothing more
TALLEST = 7.5  # inches of all rows together, if pictures do not get too small: a page


def plate_figure(plate: Plate, inches: float, title: bool = False) -> Any:
    """Pictures in rows and columns, all frames of a slider one under another; color bars below."""
    from matplotlib.figure import Figure

    if flows(plate) and len(plate.columns) > ABREAST:
        plate = images.in_lines(plate)
    with paper_style():
        rows, columns = len(plate.rows), len(plate.columns)
        names = [_lines(name, 16) for name, _ in plate.rows]
        left = max((len(line) * LETTER + 0.1 for lines in names for line in lines), default=0.0)
        side = min(LARGEST, (inches - left) / columns, max(SMALLEST, TALLEST / rows))
        heads = [_lines(name, max(6, int(side / LETTER))) for name in plate.columns]
        shared = shared_bars(plate)
        below = [
            _below(tile, head, shared, side)
            for _, tiles in plate.rows for tile, head in zip(tiles, plate.columns, strict=True) if tile is not None
        ]  # fmt: skip
        notes = WORDS * max((words.count("\n") + 1 for words in below if words), default=0)
        shape = max(
            (t.shades["rows"] / t.shades["columns"] for _, tiles in plate.rows for t in tiles if t), default=1.0
        )
        named = in_lines(plate.title, inches) if title else ""
        top = HEAD * max(map(len, heads)) + (0.08 + HEAD * (named.count("\n") + 1) if title else 0.05)
        foot = (BAR + 0.1 if shared else 0.0) + (WORDS if plate.legend else 0.0)
        tall = side * min(shape, 1.5)
        steps = [max(tall + notes, WORDS * len(name)) + 0.04 for name in names]  # no name lies on the next one
        high = top + sum(steps) + foot
        figure = Figure(figsize=(inches, high))
        if title:
            figure.text(0.01, 1 - 0.04 / high, named, va="top", fontsize=TITLE, fontweight="bold")
        for i, (_, tiles) in enumerate(plate.rows):
            y = high - top - sum(steps[:i]) - 0.02 - tall
            figure.text(0.0, (y + tall / 2) / high, "\n".join(names[i]), va="center", fontsize=7)
            for j, tile in enumerate(tiles):
                x = left + j * side
                if i == 0:
                    middle = (x + side / 2) / inches
                    figure.text(middle, (high - top + 0.03) / high, "\n".join(heads[j]), ha="center", fontsize=7)
                if tile is not None:
                    where = ((x + 0.02) / inches, y / high, (side - 0.04) / inches, tall / high)
                    _tile(figure.add_axes(where), tile, _below(tile, plate.columns[j], shared, side))
        _bars(figure, shared, plate.legend, inches, high)
    return finished(figure)


def _tile(axes: Any, tile: Tile, words: str) -> None:
    from matplotlib.patches import Rectangle

    low, high = float(tile.shades["low"]), float(tile.shades["high"])
    axes.imshow(
        unpack(tile.shades), cmap=_colors(tile.colors, low, high), vmin=low, vmax=high if high > low else low + 1
    )
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.set_facecolor(LIGHT["line"])  # undefined cells
    axes.spines[:].set(visible=True, color=LIGHT["line"])
    for left, top, wide, tall in tile.outlines:
        look = "white" if tile.colors == "heat" else LIGHT["ink"]
        axes.add_patch(Rectangle((left - 0.5, top - 0.5), wide, tall, fill=False, edgecolor=look, linewidth=0.8))
    if words:
        axes.set_xlabel(words, fontsize=6, color=LIGHT["muted"], labelpad=1.5)


def _below(tile: Tile, head: str, shared: list[Bar], side: float) -> str:
    """What stands below a picture: its note where its column has no name, and its ends where its colors are its own."""
    bar = bar_of(tile)
    parts = [tile.note] if tile.note and not head else []
    if bar not in shared:
        parts.append(f"{spelled(bar.low, 2)} to {spelled(bar.high, 2)}")
    return "\n".join(line for part in parts for line in _lines(part, max(8, int(1.15 * side / LETTER))))


def _bars(figure: Any, bars: list[Bar], legend: str, inches: float, high: float) -> None:
    """Color bars beside each other at the foot, and what the colors mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    for i, bar in enumerate(bars):
        axes = figure.add_axes(((0.1 + i * 1.6) / inches, 0.2 / high, 1.3 / inches, 0.07 / high))
        mapped = ScalarMappable(Normalize(bar.low, bar.high), _colors(bar.colors, bar.low, bar.high))
        made = figure.colorbar(mapped, cax=axes, orientation="horizontal")
        made.set_ticks([bar.low, *([0.0] if bar.zero else []), bar.high])
        made.ax.set_xticklabels([spelled(tick) for tick in made.get_ticks()], fontsize=6)
        made.outline.set_visible(False)
    if legend:
        figure.text(0.1 / inches, (0.33 if bars else 0.03) / high, legend, fontsize=7, color=LIGHT["muted"])


def _colors(name: str, low: float, high: float) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(color_map(name, low, high) / 255, name=name)


def _lines(text: str, letters: int) -> list[str]:
    return textwrap.wrap(text, letters)
