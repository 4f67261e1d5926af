"""Small pictures as bytes and in words: a PNG of a byte per cell, its color bar, its size.

A picture keeps the cells it has and is enlarged by whole numbers where it is shown, so that all cells are of one size.
A bar says what colors mean: one for all pictures of a color map that share their ends, else one each.
"""

from __future__ import annotations

import base64
import functools
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from ..packed_images import STEPS, UNDEFINED, gray_levels
from .image_grid import COLORS, Image, ImageGrid
from .theme import COLOR_MAPS

#: of a page of each width: room for pictures, what lies between two, the smallest and the largest one, in pixels
ROOM = {"large": (780, 12, 76, 252), "medium": (520, 12, 64, 224), "small": (276, 8, 56, 140)}
ABREAST = 5  # pictures of a list on a line
SCREEN, HALF = 640, 112  # pixels that all rows together should take, and what no picture is made smaller for
BAR = np.arange(STEPS + 1, dtype=np.uint8)[None]  # every gray level once


@dataclass(frozen=True)
class Bar:
    """What the gray levels of a picture mean, from its low end to its high one."""

    colors: str
    low: float
    high: float

    @property
    def zero(self) -> float | None:
        """Where zero lies, as a share of the bar, if inside it."""
        inside = self.colors == "signed" and self.low < 0 < self.high
        return -self.low / (self.high - self.low) if inside else None

    def png(self, height: int = 1) -> bytes:
        return encode(BAR.repeat(height, 0), self.colors, self.low, self.high)


# -- pictures as bytes ------------------------------------------------------------------------------------------------
def image_png(image: Image, enlarge: int = 1) -> bytes:
    """The picture as a PNG of one pixel per cell, or `enlarge` along each axis; undefined cells are transparent."""
    levels = gray_levels(image.packed).repeat(enlarge, 0).repeat(enlarge, 1)
    return encode(levels, image.colors, float(image.packed["low"]), float(image.packed["high"]))


def encode(levels: np.ndarray, colors: str, low: float, high: float) -> bytes:
    """A palette PNG of gray levels [rows, columns]; its palette holds the colors that occur, nothing else."""
    used, place = np.unique(levels, return_inverse=True)
    place = place.reshape(levels.shape)
    palette = np.vstack([color_map(colors, low, high), np.zeros((1, 3), np.uint8)])[used]
    clear = b""
    if used[-1] == UNDEFINED:  # first in the palette, so that one byte says what is transparent
        palette, place = np.roll(palette, 1, axis=0), (place + 1) % len(used)
        clear = _chunk(b"tRNS", b"\0")
    rows, columns = levels.shape
    lines = np.hstack([np.zeros((rows, 1), np.uint8), place.astype(np.uint8)])  # each line begins with its filter: none
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),  # 8 bits, palette
            _chunk(b"PLTE", palette.tobytes()),
            clear,
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@functools.lru_cache(maxsize=256)
def color_map(colors: str, low: float, high: float) -> np.ndarray:
    """Colors of the gray levels, as uint8 [255, 3]. Signed colors have their middle at zero, wherever the ends are."""
    share = np.linspace(0.0, 1.0, STEPS + 1)
    if colors == "signed":
        reach = max(abs(low), abs(high)) or 1.0
        share = (1 + np.linspace(low / reach, high / reach, STEPS + 1)) / 2
    anchors = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in COLOR_MAPS[colors]])
    at = np.linspace(0, 1, len(anchors))
    return np.stack([np.rint(np.interp(share, at, channel)) for channel in anchors.T], axis=1).astype(np.uint8)


# -- pictures among others --------------------------------------------------------------------------------------------
def flows(grid: ImageGrid) -> bool:
    """One row without a name is a list of pictures, which continues on the next line."""
    return len(grid.rows) == 1 and not grid.rows[0][0]


def images_of(grid: ImageGrid) -> list[Image]:
    """All pictures of a grid, row by row."""
    return [image for _, row in grid.rows for image in row if image is not None]


def shared_bars(grid: ImageGrid) -> list[Bar]:
    """The bar of each color map that has the same ends in all pictures of the grid."""
    ends = {name: {bar_of(image) for image in images_of(grid) if image.colors == name} for name in COLORS}
    return [found.pop() for found in ends.values() if len(found) == 1]


def bar_of(image: Image) -> Bar:
    """The bar of a picture. Ends in three digits: what would be written alike is alike."""
    gray_levels(image.packed)  # refused unless well-formed
    low, high = float(image.packed["low"]), float(image.packed["high"])
    tiny = (high - low) / STEPS / 2  # less than can be seen
    return Bar(image.colors, *(0.0 if abs(end) < tiny else float(f"{end:.3g}") for end in (low, high)))


def side(page: str, columns: int, rows: int) -> int:
    """How long the longest side of a picture may be: so many beside each other fit, and so many rows stay in view."""
    room, gap, least, most = ROOM[page]
    return max(least, min(most, room // columns - gap, max(HALF, SCREEN // rows)))


def enlarged(cells: tuple[int, int], longest: int) -> tuple[int, int]:
    """Height and width of a picture of `cells`: a whole number of pixels per cell where that is possible."""
    by = longest // max(cells) or longest / max(cells)
    rows, columns = (max(1, round(count * by)) for count in cells)
    return rows, columns


def words(image: Image) -> str:
    """The picture in words: its note and its range."""
    levels, bar = gray_levels(image.packed), bar_of(image)
    undefined = int((levels == UNDEFINED).sum())
    parts = [image.note] if image.note else []
    if undefined < levels.size:
        parts.append(f"from {spelled(bar.low)} to {spelled(bar.high)}")
    if undefined:
        parts.append(f"{undefined} of {levels.size} cells undefined")
    return "; ".join(parts)


def spelled(value: float, digits: int = 3) -> str:
    """The end of a range in a few digits, with a real minus."""
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def in_text(data: bytes) -> str:
    """A PNG inside a page or a chart."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"
