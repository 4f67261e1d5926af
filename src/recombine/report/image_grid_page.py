"""Image grids: rows of small pictures on the page (`charts.image_pixels` makes them).

The note of a picture is seen where its column has no head, and heard and met by the pointer everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..charts.image_grid import Image, ImageGrid
from ..charts.image_pixels import (
    ABREAST,
    ROOM,
    Bar,
    bar_of,
    enlarged,
    flows,
    image_png,
    images_of,
    in_text,
    shared_bars,
    side,
    spelled,
    words,
)
from ..packed_images import UNDEFINED, gray_levels


def page_data(grid: ImageGrid) -> dict[str, Any]:
    """The grid as the template shows it."""
    shared = shared_bars(grid)
    sliding = grid.slider is not None and len(grid.rows) > 1
    flowing = flows(grid)
    rows = 1 if sliding else -(-len(grid.columns) // ABREAST) if flowing else len(grid.rows)
    columns = min(len(grid.columns), ABREAST) if flowing else len(grid.columns)
    sizes = {page: side(page, columns, rows) for page in ROOM}
    return {
        "title": grid.title,
        "caption": grid.caption,
        "slider": grid.slider if sliding else None,
        "flowing": flowing,
        "legend": grid.legend,
        "columns": grid.columns,
        "bars": [_bar(bar) for bar in shared],
        "hatched": any((gray_levels(image.packed) == UNDEFINED).any() for image in images_of(grid)),
        "rows": [
            {
                "name": name,
                "images": [
                    None if image is None else _image(image, sizes, shared, head)
                    for head, image in zip(grid.columns, row, strict=True)
                ],
            }
            for name, row in grid.rows
        ],
    }


def _image(image: Image, sizes: dict[str, int], shared: Iterable[Bar], head: str) -> dict[str, Any]:
    bar = bar_of(image)
    cells = (image.packed["rows"], image.packed["columns"])
    return {
        "source": in_text(image_png(image)),
        "colors": image.colors,
        "cells": cells,
        "sizes": {page: enlarged(cells, longest) for page, longest in sizes.items()},
        "words": words(image),
        "head": head,
        "label": "" if head else image.note,
        "outlines": [[f"{number:g}" for number in outline] for outline in image.outlines],
        "bar": None if bar in shared else _bar(bar, digits=2),
    }


def _bar(bar: Bar, digits: int = 3) -> dict[str, Any]:
    return {
        "source": in_text(bar.png()),
        "colors": bar.colors,
        "low": spelled(bar.low, digits),
        "high": spelled(bar.high, digits),
        "zero": None if bar.zero is None else round(100 * bar.zero, 2),
    }
