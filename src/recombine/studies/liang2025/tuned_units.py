"""Some units of the last hidden layer over the frame: kept of the first seed, with charts and an image grid of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import packed_images
from ...charts import kinds
from ...charts.image_grid import Image, ImageGrid
from ...lab.record import Record
from ...lab.study_table import StudyTable
from ...probes.tuning import TunedUnits, tuned_units
from ...training import Items, Trained
from ...trials import Context, Measured, Trial
from ...trials import measure as measure_trial
from ...trials.measure import row

SHOWN = 6  # units per net


def measure(spec: dict[str, Any], context: Context) -> Measured:
    """A trial; of the first seed with tuning curves (as readings) and maps (as facts) of some units."""
    return measure_trial(Trial.from_json(spec["trial"]), context, more=None if spec["seed"] else units_of_last_layer)


def units_of_last_layer(run: Trained, asked: Items | None = None) -> Measured:
    """Units of the last hidden layer, from the least to the most tuned."""
    layer = [name for name in run.blueprint.layers() if name.endswith("/post")][-1]
    found = tuned_units(run, layer, SHOWN)
    units = [
        {"unit": int(number), "index": float(index), "map": packed_images.pack(np.asarray(one).T)}
        for number, index, one in zip(found.units, found.shares.index, found.maps, strict=True)
    ]
    return Measured(curves(found, layer, run.recipe.steps), {"units": units})


def curves(found: TunedUnits, layer: str, step: int) -> list[dict[str, Any]]:
    """The mean activation of each unit along x and along y, one row per place."""
    return [
        row("tuning_curve", "grid", "activation", round(float(value), 4), group=factor, layer=layer, step=step)
        | {"unit": int(number), "place": place}
        for factor, means in (("x", found.along_first), ("y", found.along_second))
        for number, along in zip(found.units, means, strict=True)
        for place, value in enumerate(along)
    ]


def curves_by_net(words: dict[str, str]) -> kinds.Chart:
    """One chart per net: tuning curves of its units."""

    def rows(t: StudyTable) -> kinds.Rows:
        return [
            {
                "who": words[row.who],
                "layer": row.layer.removesuffix("/post"),
                "unit": f"unit {int(row.unit)}",
                "factor": row.group,
                "place": int(row.place),
                "value": row.value,
            }
            for row in t.where(reading="tuning_curve").itertuples()
        ]

    return kinds.tuning(
        "Tuning curves, {split}",
        lambda rows: (
            f"Mean activation along x and y of some units of {rows[0]['layer']}, from the least to the most "
            "tuned; first seed."
        ),
        rows,
        split="who",
    )


def maps(records: Sequence[Record], name: Callable[[Record], str]) -> ImageGrid | None:
    """The activation of units at every place, one row per net."""
    rows = [
        (
            name(record),
            tuple(
                Image(unit["map"], f"unit {unit['unit']}, index {unit['index']:.2f}", colors="heat")
                for unit in record.facts["units"]
            ),
        )
        for record in records
        if "units" in record.facts
    ]
    if not rows:
        return None
    width = max(len(images) for _, images in rows)
    return ImageGrid(
        "Units over the frame",
        "Activation at every place (x to the right, y down) of units of the last hidden layer, from the least "
        "to the most tuned to one factor; first seed. Stripes are units that follow one factor.",
        tuple("" for _ in range(width)),
        tuple((label, images + (None,) * (width - len(images))) for label, images in rows),
    )
