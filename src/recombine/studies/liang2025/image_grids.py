"""Image grids of drawings: what is drawn at places never trained, and where it errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import packed_images
from ...charts.image_grid import Image, ImageGrid
from ...lab.record import Record
from ...lab.study_table import in_words

Rows = list[tuple[str, tuple[Image | None, ...]]]


def name_of(record: Record) -> str:
    """What a row of drawings is called: the place of its cell on each axis."""
    return in_words(record.cell.spec["at"])


def factors_of(record: Record) -> tuple[str, ...]:
    """What the place of a picture says, in order; that of bumps where a cell does not name its world."""
    from ...tasks import registry as tasks  # only here: a page without pictures needs no jax

    world = record.cell.spec.get("trial", {}).get("world", {}).get("name")
    return tasks[world].factors if world in tasks else ("x", "y")


def drawings(records: Sequence[Record], name: Callable[[Record], str] = name_of) -> ImageGrid | None:
    """What was drawn at a few held-out places and how it differs, one row per net, each truth above its nets."""
    rows: Rows = []
    columns: tuple[str, ...] = ()
    above: list[Any] = []
    factors = "x, y"
    for record in records:
        if "drawings" not in record.facts:
            continue
        factors = ", ".join(factors_of(record))
        pictures, dark = record.facts["drawings"]["pictures"], record.facts["drawings"]["polarity"] == "dark"
        places = [", ".join(map(str, picture["at"])) for picture in pictures]
        if (truths := [picture["target"] for picture in pictures]) != above:
            above = truths
            shown = tuple(
                Image(_ink(p["target"], dark), f"truth at {at}") for p, at in zip(pictures, places, strict=True)
            )
            rows.append(("truth", (*shown, *(None for _ in places))))
        rows.append((name(record), _drawn_and_error(pictures, places, dark)))
        if len(places) * 2 > len(columns):
            columns = (*places, *("error" for _ in places))
    if not rows:
        return None
    return ImageGrid(
        "What is drawn at places never trained",
        f"Drawings at held-out places ({factors}), from the middle of what was held out to its rim, and "
        "drawing less truth; first seed.",
        columns,
        tuple((label, images + (None,) * (len(columns) - len(images))) for label, images in rows),
    )


def _drawn_and_error(pictures: list[dict[str, Any]], places: list[str], dark: bool) -> tuple[Image, ...]:
    drawn, errors = [], []
    for picture, at in zip(pictures, places, strict=True):
        drawn.append(Image(_ink(picture["output"], dark), f"drawn at {at}"))
        less = packed_images.unpack(picture["output"]) - packed_images.unpack(picture["target"])
        errors.append(Image(packed_images.pack(less, -1, 1), f"drawn less truth at {at}", colors="signed"))
    return (*drawn, *errors)


def _ink(packed: dict[str, Any], dark: bool) -> dict[str, Any]:
    """How much ink a picture has, from none to full: one range for truth and drawing, so that grays compare."""
    values = packed_images.unpack(packed)
    return packed_images.pack(1 - values if dark else values, 0, 1)


def errors(records: Sequence[Record], name: Callable[[Record], str] = name_of) -> ImageGrid | None:
    """The error at every place, with what was held out outlined."""
    images = []
    for record in records:
        kept = record.facts.get("drawings", {})
        if "error_map" in kept:
            outline = tuple(kept["hole"])
            image = Image(kept["error_map"], "error by place", colors="heat", outlines=(outline,))
            images.append((name(record), image))
    if not images:
        return None
    return ImageGrid(
        "Where it errs",
        "Error at every place (x to the right, y down), by that of an empty picture; held-out places are outlined.",
        tuple(label for label, _ in images),
        (("", tuple(image for _, image in images)),),
    )
