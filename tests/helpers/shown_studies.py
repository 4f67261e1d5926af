"""Studies of fruit with pictures, with maps, and with everything that a page can show."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from fruit_study import HOSTILE, Fruit

import recombine as rc
from recombine.charts.figure import Figure
from recombine.charts.image_grid import Image, ImageGrid
from recombine.charts.split_map import SupportMap
from recombine.lab.study_result import Result
from recombine.packed_images import pack
from recombine.tasks.gridworlds.episode_task import Entry, Episode, Frame

HOLE = ((6, 6, 17, 17),)


def bump(n: int = 28) -> np.ndarray:
    u = np.arange(n)
    return np.exp(-((u[None] - 9) ** 2 + (u[:, None] - 15) ** 2) / 2)


def frames(label: str) -> tuple[tuple[str, tuple[Image | None, ...]], ...]:
    image = Image(pack(bump()), f"note {label}", "heat", HOLE)
    return tuple((f"frame {i} {label}", (image, None if i else Image(pack(-bump()), "", "signed"))) for i in range(3))


class Pictured(Fruit):
    """A study of hostile pictures."""

    def image_grids(self, records: Any) -> list[ImageGrid]:
        first, second = f"first {HOSTILE}", f"second {HOSTILE}"
        words, pictures = (f"grid {HOSTILE}", f"below {HOSTILE}"), frames(HOSTILE)
        return [
            ImageGrid(*words, ("", second), pictures, legend=f"legend {HOSTILE}"),  # no head: it shows notes
            ImageGrid(*words, (first, second), pictures, slider=f"layer {HOSTILE}"),
        ]


class Mapped(Fruit):
    """Splits of a space whose every name is hostile."""

    def support_maps(self, records: Any) -> list[SupportMap]:
        space = rc.Product(**{f"factor {HOSTILE}": [HOSTILE, "b", "c"], "other": 4, "third": [HOSTILE, 2]})
        return [
            SupportMap(f"split {HOSTILE}", rc.supports.random(space, held_out=0.25, seed=0), np.linspace(-1, 1, 24)),
            SupportMap("two blocks", rc.supports.random(rc.Subsets(6, 2), held_out=0.25, seed=0)),
            SupportMap("lost", None, missing=f"reason {HOSTILE}"),
        ]


class Supports(Fruit):
    """Its figure is a chart of ours, which fills a page."""

    def figures(self, table: Any) -> list[Figure]:
        rows = [{"name": HOSTILE, "seed": seed, "value": 0.1 * seed} for seed in range(4)]
        return [Figure(f"chart {HOSTILE}", f"caption {HOSTILE}", rc.charts.dots(rows, value="R²"))]


class Everything(Mapped, Pictured):
    """Charts, image grids and maps."""


def played(result: Result) -> Result:
    """A result whose first record kept an episode, too."""
    frames = (Frame((1, 1), (((1, 2), HOSTILE),), "right", "up", HOSTILE), Frame((1, 2), (), None))
    episode = Episode(HOSTILE, np.zeros((3, 4), bool), frames, (Entry(HOSTILE, HOSTILE),))
    first = result.records[0]
    kept = dataclasses.replace(first, facts=first.facts | {"episode": episode.to_json()})
    return dataclasses.replace(result, records=[kept, *result.records[1:]])
