"""Image grids of drawings: what is drawn at places never trained, and where it errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import shades
from ...charts.image_grid import Plate, Tile
from ...lab.store import Record
from ...lab.study_table import in_words

Rows = list[tuple[str, tuple[Tile | None, ...]]]


def name_of(record: Record) -> str:
    """What a row of drawings is called: the place of its cell on each axis."""
    return in_words(record.cell.spec["at"])


def drawings(records: Sequence[Record], name: Callable[[Record], str] = name_of) -> Plate | None:
    """What was drawn at a few held-out places and how it differs, one row per net, each truth above its nets."""
    rows: Rows = []
    columns: tuple[str, ...] = ()
    above: list[Any] = []
    for record in records:
        if "drawings" not in record.facts:
            continue
        pictures, dark = record.facts["drawings"]["pictures"], record.facts["drawings"]["polarity"] == "dark"
        places = [", ".join(map(str, picture["at"])) for picture in pictures]
        if (truths := [picture["target"] for picture in pictures]) != above:
            above = truths
            shown = tuple(
                Tile(_ink(p["target"], dark), f"truth at {at}") for p, at in zip(pictures, places, strict=True)
            )
            rows.append(("truth", (*shown, *(None for _ in places))))
        rows.append((name(record), _drawn_and_error(pictures, places, dark)))
        if len(places) * 2 > len(columns):
            columns = (*places, *("error" for _ in places))
    if not rows:
        return None
    return Plate(
        "What is drawn at places never trained",
        "Drawings at held-out places (x, y), from the middle of what was held out to its rim, and drawing less truth; "
        "first seed.",
        columns,
        tuple((label, tiles + (None,) * (len(columns) - len(tiles))) for label, tiles in rows),
    )


def _drawn_and_error(pictures: list[dict[str, Any]], places: list[str], dark: bool) -> tuple[Tile, ...]:
    drawn, errors = [], []
    for picture, at in zip(pictures, places, strict=True):
        drawn.append(Tile(_ink(picture["output"], dark), f"drawn at {at}"))
        less = shades.unpack(picture["output"]) - shades.unpack(picture["target"])
        errors.append(Tile(shades.pack(less, -1, 1), f"drawn less truth at {at}", colors="signed"))
    return (*drawn, *errors)


def _ink(packed: dict[str, Any], dark: bool) -> dict[str, Any]:
    """How much ink a picture has, from none to full: one range for truth and drawing, so that shades compare."""
    values = shades.unpack(packed)
    return shades.pack(1 - values if dark else values, 0, 1)


def errors(records: Sequence[Record], name: Callable[[Record], str] = name_of) -> Plate | None:
    """The error at every place, with what was held out outlined."""
    tiles = []
    for record in records:
        kept = record.facts.get("drawings", {})
        if "error_map" in kept:
            outline = tuple(kept["hole"])
            tile = Tile(kept["error_map"], "error by place", colors="heat", outlines=(outline,))
            tiles.append((name(record), tile))
    if not tiles:
        return None
    return Plate(
        "Where it errs",
        "Error at every place (x to the right, y down), by that of an empty picture; held-out places are outlined.",
        tuple(label for label, _ in tiles),
        (("", tuple(tile for _, tile in tiles)),),
    )
