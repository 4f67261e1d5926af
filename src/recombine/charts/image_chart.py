"""images: small pictures in rows and columns."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass, field
from typing import Any

from .chart_parts import data, fixed
from .image_grid import ImageGrid
from .image_pixels import (
    ABREAST,
    BAR,
    Bar,
    bar_of,
    encode,
    enlarged,
    flows,
    image_png,
    in_text,
    shared_bars,
    side,
    spelled,
    words,
)
from .lazy_altair import alt
from .tidy_rows import Rows

GAP, LINE, LETTER = 12, 15, 6.2  # pixels between pictures, from line to line, and of a letter
LEFT = 20  # letters of the name of a row, on a line
MOST_ROWS = 40


@dataclass
class _Placed:
    """What is drawn where, in pixels from the upper left."""

    pictures: Rows = field(default_factory=list)
    outlines: Rows = field(default_factory=list)
    heads: Rows = field(default_factory=list)
    words: Rows = field(default_factory=list)
    bars: Rows = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def write(self, kind: Rows, x: float, y: float, lines: list[str]) -> float:
        kind += [{"x": x, "y": y + LINE * i, "text": line} for i, line in enumerate(lines)]
        return y + LINE * len(lines)

    def bar(self, bar: Bar, x: float, y: float, width: float, digits: int = 3) -> None:
        low, high = spelled(bar.low, digits), spelled(bar.high, digits)
        first = len(low) * LETTER + 3
        ramp = max(6.0, width - (len(low) + len(high)) * LETTER - 8)
        self.write(self.words, x, y + 5, [low])
        self.write(self.words, x + first + ramp + 4, y + 5, [high])
        picture = in_text(encode(BAR.repeat(2, 0), bar.colors, bar.low, bar.high))
        self.bars.append({"x": x + first, "y": y, "x2": x + first + ramp, "y2": y + 9, "url": picture})


def images(grid: ImageGrid) -> alt.LayerChart:
    """Small pictures in rows and columns, with outlines, and a bar that says what colors mean.

    Args:
        grid: the pictures.

    Example:
        >>> from recombine.charts.image_grid import ImageGrid, Image
        >>> from recombine.packed_images import pack
        >>> image = Image(pack(np.eye(8)), "a diagonal")
        >>> grid = ImageGrid("Seen", "A net drew these.", ("one",), (("mlp", (image,)),))
        >>> rc.charts.images(grid).to_dict()["width"] > 200
        True
    """
    if flows(grid) and len(grid.columns) > ABREAST:
        return images(in_lines(grid))
    placed = _place(grid)
    at = _axes(placed)
    corners = at | {"x2": alt.X2(field="x2"), "y2": alt.Y2(field="y2")}
    ground = alt.Chart().mark_rect(style=["ground"])
    shown = alt.Tooltip(field="said", type="nominal", title="picture")
    layers = [
        ground.transform_filter("datum.holes").encode(**corners),
        _pictures(placed.pictures, at).encode(tooltip=[shown]),
        alt.Chart().mark_rect(style=["edge-of-picture"]).encode(**corners),
    ]
    for style in ("halo", "outline") if placed.outlines else ():
        layers.append(alt.Chart(data(placed.outlines)).mark_rect(style=[style]).encode(**corners))
    if placed.bars:
        layers.append(_pictures(placed.bars, at))
    for rows, style in ((placed.heads, "names"), (placed.words, "words")):
        if rows:
            text = alt.Chart(data(rows)).mark_text(style=[style], align="left", baseline="middle")
            layers.append(text.encode(**at, text=alt.Text(field="text", type="nominal")))
    return fixed(layers, placed.pictures, round(placed.width), round(placed.height))


def _pictures(rows: Rows, at: dict[str, Any]) -> Any:
    """Pictures of each size: the size of an image is one number of its mark."""
    sizes = list(dict.fromkeys((row["x2"] - row["x"], row["y2"] - row["y"]) for row in rows))
    marks = []
    for width, height in sizes:
        of_size = [row for row in rows if (row["x2"] - row["x"], row["y2"] - row["y"]) == (width, height)]
        mark = alt.Chart(data(of_size)).mark_image(
            width=width, height=height, align="left", baseline="top", aspect=False
        )
        marks.append(mark.encode(**at, url=alt.Url(field="url", type="nominal")))
    return marks[0] if len(marks) == 1 else alt.layer(*marks)


def _axes(placed: _Placed) -> dict[str, Any]:
    across, down = alt.Scale(domain=[0, placed.width], nice=False), alt.Scale(domain=[placed.height, 0], nice=False)
    return {
        "x": alt.X(field="x", type="quantitative", axis=None, scale=across),
        "y": alt.Y(field="y", type="quantitative", axis=None, scale=down),
    }


def _place(grid: ImageGrid) -> _Placed:
    """Where everything lies: heads above columns, names left of rows, bars below."""
    placed, shared = _Placed(), shared_bars(grid)
    rows = grid.rows[:MOST_ROWS]
    longest = side("large", len(grid.columns), len(rows))
    step = longest + GAP
    names = [textwrap.wrap(name, LEFT) for name, _ in rows]
    left = max((len(line) * LETTER * 1.1 + GAP for lines in names for line in lines), default=0)
    heads = [textwrap.wrap(name, max(8, int(longest / LETTER))) for name in grid.columns]
    y = 8.0 + LINE * max(map(len, heads))
    for i, lines in enumerate(heads):
        placed.write(placed.words, left + i * step, y - 2 - LINE * (len(lines) - 0.5), lines)
    for lines, (_, row) in zip(names, rows, strict=True):
        below = placed.write(placed.heads, 0, y + 8, lines)
        for i, image in enumerate(row):
            if image is not None:
                note = "" if grid.columns[i] else image.note
                own = bar_of(image) if bar_of(image) not in shared else None
                below = max(below, _image(placed, image, (left + i * step, y), longest, note, own))
        y = below + GAP
    end = left + step * len(grid.columns)
    if grid.legend or shared:
        end = max(end, _below(placed, grid.legend, shared, y))
        y += 24
    placed.width, placed.height = max(end, 220.0), y
    return placed


def _below(placed: _Placed, legend: str, shared: list[Bar], y: float) -> float:
    """What the colors mean; how far to the right it reaches."""
    placed.write(placed.words, 0, y + 8, [legend] if legend else [])
    x = len(legend) * LETTER + 2 * GAP if legend else 0.0
    for bar in shared:
        placed.bar(bar, x, y + 3, 230)
        x += 250
    return x


def _image(placed: _Placed, image: Any, at: tuple[float, float], longest: int, note: str, bar: Bar | None) -> float:
    """A picture with its outlines, note and bar; where it ends."""
    (x, y), cells = at, (image.packed["rows"], image.packed["columns"])
    height, width = enlarged(cells, longest)
    by = width / cells[1]
    said = words(image)
    placed.pictures.append(
        {
            "x": x,
            "y": y,
            "x2": x + width,
            "y2": y + height,
            "said": said,
            "holes": "undefined" in said,
            "url": in_text(image_png(image, enlarge=max(1, width // cells[1]))),
        }
    )
    placed.outlines += [
        {"x": x + a * by, "y": y + b * by, "x2": x + (a + wide) * by, "y2": y + (b + high) * by}
        for a, b, wide, high in image.outlines
    ]
    end = y + height
    if lines := textwrap.wrap(note, max(8, int(width / LETTER * 1.1))):
        end = placed.write(placed.words, x, end + 9, lines) - 4
    if bar is not None:
        placed.bar(bar, x, end + 5, width, digits=2)
        end += LINE + 2
    return end


def in_lines(grid: ImageGrid) -> ImageGrid:
    """A list of pictures as rows of so many; what named a column becomes the note of its picture."""
    row = grid.rows[0][1]
    named = [
        None if image is None else dataclasses.replace(image, note=head or image.note)
        for head, image in zip(grid.columns, row, strict=True)
    ]
    named += [None] * (-len(named) % ABREAST)
    rows = tuple(("", tuple(named[at : at + ABREAST])) for at in range(0, len(named), ABREAST))
    return dataclasses.replace(grid, columns=("",) * ABREAST, rows=rows)
