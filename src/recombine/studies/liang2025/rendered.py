"""What each factor is drawn as by the rendering net: kept of the first seed, and an image grid of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import packed_images
from ...charts.image_grid import Image, ImageGrid
from ...lab.record import Record
from ...probes.grid import activations
from ...tasks import Pictures
from ...training import Items, Trained
from ...trials.keepers import keepers


@keepers.register("rendered")
def kept_rendered(run: Trained, asked: Items | None = None) -> dict[str, Any]:
    """The pictures of two levels of each factor, the other fixed: one on the trained side, one held out."""
    if not isinstance(run.task, Pictures):
        return {}
    side = run.task.side
    levels = [side // 4, side * 3 // 4]
    drawn = {
        "x": activations(run, "x/rendered")[levels, 0].reshape(-1, side, side),
        "y": activations(run, "y/rendered")[0, levels].reshape(-1, side, side),
    }
    packed = [
        {"name": f"{factor} = {level}", "shades": packed_images.pack(_unit(matrix), -1, 1)}
        for factor, matrices in drawn.items()
        for level, matrix in zip(levels, matrices, strict=True)
    ]
    return {"rendered": packed}


def factors(records: Sequence[Record], name: Callable[[Record], str]) -> ImageGrid | None:
    """The picture of a level of each factor, one row per net."""
    shown = [record for record in records if "rendered" in record.facts]
    if not shown:
        return None
    rows = tuple(
        (
            name(record),
            tuple(Image(one["shades"], one["name"], colors="signed") for one in record.facts["rendered"]),
        )
        for record in shown
    )
    return ImageGrid(
        "What each factor is drawn as",
        "The picture of a level of x and of y, on the trained side and inside what was held out, divided by its "
        "largest value; first seed. A stripe is what composes.",
        tuple(one["name"] for one in shown[0].facts["rendered"]),
        rows,
    )


def _unit(matrix: np.ndarray) -> np.ndarray:
    return matrix / max(float(abs(matrix).max()), 1e-12)
