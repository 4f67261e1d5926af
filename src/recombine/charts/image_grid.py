"""Image grids: small pictures in rows and columns, and what to see in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import UserError, unknown

COLORS = ("ink", "heat", "signed")  # of small pictures
Rectangle = tuple[int | float, int | float, int | float, int | float]


@dataclass(frozen=True)
class Image:
    """A small picture, row 0 on top, and a few words on it for the pointer and the ear.

    Args:
        packed: what `packed_images.pack` made.
        note: a few words; they are shown below the picture where its column has no name.
        colors: ink (how much: white at the low end, black at the high one), heat (a map of values), signed (orange
            above zero, blue below).
        outlines: rectangles (x, y, width, height) in pixels, cell i from i to i + 1: a hole over 6 to 22 is
            (6, 6, 17, 17).

    Example:
        >>> from recombine.charts.image_grid import Image
        >>> from recombine.packed_images import pack
        >>> Image(pack(np.eye(8)), "a diagonal", "heat").packed["rows"]
        8
    """

    packed: dict[str, Any]
    note: str = ""
    colors: str = "ink"
    outlines: tuple[Rectangle, ...] = ()

    def __post_init__(self):
        if self.colors not in COLORS:
            raise unknown("colors of an image", self.colors, COLORS)
        for outline in self.outlines:
            if len(outline) != 4 or not all(map(math.isfinite, outline)):
                raise UserError(f"an outline is (x, y, width, height) in pixels, got {outline!r}")


@dataclass(frozen=True)
class ImageGrid:
    """Small pictures of the report in rows and columns, and what to see in them; None leaves a place empty.

    One row without a name is a list: it continues on the next line. Pictures of the same ends share a color bar.

    Args:
        title: of the grid.
        caption: what to see in it.
        columns: their names; a picture shows its note below it where its column has none.
        rows: (name, pictures), as many pictures as columns.
        slider: its label; then each row is a frame, of which the reader sees one at a time.
        legend: what the colors of the pictures mean.

    Example:
        >>> from recombine.charts.image_grid import Image, ImageGrid
        >>> from recombine.packed_images import pack
        >>> ImageGrid("Seen", "A net drew these.", ("one",), (("mlp", (Image(pack(np.eye(8))),)),)).columns
        ('one',)
    """

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Image | None, ...]], ...]
    slider: str | None = None
    legend: str = ""

    def __post_init__(self):
        if not self.columns or not self.rows:
            raise UserError(f"image grid {self.title!r} has no pictures; it takes at least one row and one column")
        for name, images in self.rows:
            if len(images) != len(self.columns):
                raise UserError(
                    f"row {name!r} of {self.title!r} has {len(images)} images for {len(self.columns)} columns; "
                    "put None where there is none"
                )
