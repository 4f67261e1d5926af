"""Plates: rows of small pictures on the page (`charts.image_pixels` makes them).

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
    in_text,
    shared_bars,
    side,
    spelled,
    tile_png,
    tiles_of,
    words,
)
from ..packed_images import UNDEFINED, shades_of


def page_data(plate: ImageGrid) -> dict[str, Any]:
    """The plate as the template shows it."""
    shared = shared_bars(plate)
    sliding = plate.slider is not None and len(plate.rows) > 1
    flowing = flows(plate)
    rows = 1 if sliding else -(-len(plate.columns) // ABREAST) if flowing else len(plate.rows)
    columns = min(len(plate.columns), ABREAST) if flowing else len(plate.columns)
    sizes = {page: side(page, columns, rows) for page in ROOM}
    return {
        "title": plate.title,
        "caption": plate.caption,
        "slider": plate.slider if sliding else None,
        "flowing": flowing,
        "legend": plate.legend,
        "columns": plate.columns,
        "bars": [_bar(bar) for bar in shared],
        "hatched": any((shades_of(tile.shades) == UNDEFINED).any() for tile in tiles_of(plate)),
        "rows": [
            {
                "name": name,
                "tiles": [
                    None if tile is None else _tile(tile, sizes, shared, head)
                    for head, tile in zip(plate.columns, tiles, strict=True)
                ],
            }
            for name, tiles in plate.rows
        ],
    }


def _tile(tile: Image, sizes: dict[str, int], shared: Iterable[Bar], head: str) -> dict[str, Any]:
    bar = bar_of(tile)
    cells = (tile.shades["rows"], tile.shades["columns"])
    return {
        "source": in_text(tile_png(tile)),
        "colors": tile.colors,
        "cells": cells,
        "sizes": {page: enlarged(cells, longest) for page, longest in sizes.items()},
        "words": words(tile),
        "head": head,
        "label": "" if head else tile.note,
        "outlines": [[f"{number:g}" for number in outline] for outline in tile.outlines],
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
