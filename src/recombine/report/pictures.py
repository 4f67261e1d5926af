"""All pictures of a result in the order of its page: charts, the one that shows the result first, plates and splits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..charts.figure import Figure
from ..charts.image_grid import Plate
from ..charts.split_map import SupportMap
from ..lab.run import Result
from ..supports import Support
from .graph import graph_of, graph_words
from .maps import MOST, words

Source = Figure | Plate | SupportMap | Support


@dataclass(frozen=True)
class Picture:
    """One picture: its name as a file, its title and caption, and what it is drawn from."""

    name: str
    title: str
    caption: str
    source: Source


def pictures(result: Result) -> list[Picture]:
    """Every picture there is something to draw for."""
    return named(result.study.id, _found(result))


def named(first: str, found: Iterator[tuple[str, str, Source]]) -> list[Picture]:
    """Names for files: what they belong to, a number in order, and the first words of the title."""
    numbers = itertools.count(1)
    return [
        Picture(
            "-".join([first, f"{next(numbers):02d}", *re.findall(r"[a-z0-9]+", title.lower())[:5]]), title, text, source
        )
        for title, text, source in found
    ]


def _found(result: Result) -> Iterator[tuple[str, str, Source]]:
    study, records = result.study, result.records
    for chart in study.figures(result.table):
        yield chart.title, chart.full_caption, chart
    for plate in study.plates(records) if records else []:
        yield plate.title, plate.caption, plate
    for one in study.support_maps(records):
        if one.support is None:
            continue
        if one.support.space.size <= MOST:
            yield f"Map of {one.name}", f"Trained (small) and held-out (large) combinations: {words(one)}.", one
        if graph_of(one.support) is not None:
            caption = f"A line where two parts were trained together, a color a component: {graph_words(one.support)}."
            yield f"Parts of {one.name}", caption, one.support
