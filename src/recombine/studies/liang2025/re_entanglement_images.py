"""Image grids of `re-entanglement`: drawings and errors of nets without a penalty, and how layers stretch the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import packed_images
from ...charts.image_grid import Image, ImageGrid
from ...charts.layer_order import layers_in_order
from ...lab.cells import Spec
from ...lab.record import Record
from ...nets import Straightened
from ...probes.geometry import metric_maps
from ...training import Items, Trained
from ...trials.keepers import keepers
from . import image_grids


def name_of(spec: Spec) -> str:
    at = spec["at"]
    words = [f"{at['decoder']} of {at['layers']} layers", at["encoding"]]
    if at["penalty"]:
        words.append(f"penalty {at['penalty']:g}{' on the whole frame' if at['everywhere'] else ''}")
    return ", ".join(words)


def name_of_record(record: Record) -> str:
    return name_of(record.cell.spec)


def without_penalty(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if not record.cell.spec["at"]["penalty"]]


def drawings(records: Sequence[Record]) -> ImageGrid | None:
    return image_grids.drawings(without_penalty(records), name_of_record)


def errors(records: Sequence[Record]) -> ImageGrid | None:
    return image_grids.errors(without_penalty(records), name_of_record)


@keepers.register("volumes")
def kept_volumes(run: Trained, asked: Items | None) -> dict[str, Any]:
    """The volume form of each layer at every place; nothing of nets that were trained with a penalty on it."""
    if isinstance(run.blueprint, Straightened):
        return {}
    # a map is indexed [x, y]; a picture has y down
    return {"volume": {name: packed_images.pack(metric.log_volume.T) for name, metric in metric_maps(run).items()}}


def volumes(records: Sequence[Record]) -> ImageGrid | None:
    """The volume form of the deepest nets, layer by layer."""
    shown = [record for record in records if "volume" in record.facts]
    if not shown:
        return None
    deepest = max(record.cell.spec["at"]["layers"] for record in shown)
    shown = [record for record in shown if record.cell.spec["at"]["layers"] == deepest]
    layers = dict.fromkeys(layer for record in shown for layer in record.facts["volume"])

    def image(record: Record, layer: str) -> Image | None:
        if layer not in record.facts["volume"]:  # a CNN of so many layers has one more
            return None
        hole = tuple(record.facts["drawings"]["hole"])
        return Image(record.facts["volume"][layer], "log10 of the volume form", colors="heat", outlines=(hole,))

    return ImageGrid(
        "How a layer stretches the frame",
        "log10 of the volume form at every place (x to the right, y down); what was held out is outlined. Each map "
        "has its own colors. First seed, deepest nets.",
        tuple(name_of_record(record) for record in shown),
        tuple(
            (layer.removesuffix("/post"), tuple(image(record, layer) for record in shown))
            for layer in layers_in_order(layers)
            if layer.endswith("/post")
        ),
        slider="layer",
    )
