"""Similarity matrices of drawings: kept of the first seed, and an image grid of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import packed_images
from ...charts.image_grid import Image, ImageGrid
from ...lab.record import Record
from ...probes.drawings import drawings_of
from ...probes.similarity import similarity_maps, similarity_matrices
from ...tasks import Pictures
from ...training import Items, Trained
from ...trials.keepers import keepers
from .image_grids import name_of

ENDS = (-0.2, 1.0)  # of a cosine; drawings have some ink below zero
MOST = 20  # levels along a factor of which matrices are kept: 400 x 400 gray levels are 210 kB


@keepers.register("similarity")
def kept_similarity(run: Trained, asked: Items | None) -> dict[str, Any]:
    """The cosine of every two drawings, and of every two true pictures, trained points first."""
    if not isinstance(run.task, Pictures) or max(run.task.encoding.levels) > MOST:
        return {}
    drawings = drawings_of(run)
    trained = drawings.grid.trained.ravel()
    order = np.argsort(~trained, kind="stable")
    true = similarity_matrices(drawings.truth.reshape(len(order), -1))["cosine"][np.ix_(order, order)]
    found = {"drawn": similarity_maps(run)["cosine"], "truth": true}
    packed = {name: packed_images.pack(one, *ENDS) for name, one in found.items()}
    return {"similarity": packed | {"trained": int(trained.sum())}}


def similar(records: Sequence[Record]) -> ImageGrid | None:
    """Similarity of drawings with drawings beside that of the true pictures."""
    shown = [record for record in records if "similarity" in record.facts]
    if not shown:
        return None

    def images(record: Record) -> tuple[Image, ...]:
        kept = record.facts["similarity"]
        places, first = kept["drawn"]["rows"], kept["trained"]
        hole = ((first, first, places - first, places - first),)
        return tuple(
            Image(kept[name], f"cosine, {words}", colors="heat", outlines=hole)
            for name, words in (("drawn", "drawn"), ("truth", "true pictures"))
        )

    return ImageGrid(
        "How alike drawings are",
        "Cosine of the ink of every two places, trained ones first, held-out ones outlined; first seed. Where a net "
        "superposes, held-out drawings are like trained ones that share a factor.",
        ("drawn", "truth"),
        tuple((name_of(record), images(record)) for record in shown),
    )
