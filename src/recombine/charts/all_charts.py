"""Everything there is to look at, as charts with titles and captions: charts, image grids, splits and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from .figure import Figure
from .graph_chart import graph
from .image_chart import images
from .image_grid import ImageGrid
from .map_chart import map
from .split_map import SupportMap


def all_charts(figures: Sequence[Figure], grids: Sequence[ImageGrid], maps: Sequence[SupportMap]) -> Iterator[Figure]:
    """Charts first, the one that shows the result at the top; each is drawn when it is asked for."""
    yield from figures
    for grid in grids:
        yield Figure(grid.title, grid.caption, partial(images, grid))
    for one in maps:
        yield from of_split(one)


def of_split(one: SupportMap) -> Iterator[Figure]:
    """The map of a split and the graph of its parts, where they can be drawn."""
    from .map_layout import MOST, words
    from .part_graph import graph_of, graph_words

    if one.support is None:
        return
    if one.support.space.size <= MOST:
        said = f"Trained (small) and held-out (large) combinations: {words(one)}."
        yield Figure(f"Map of {one.name}", said, partial(map, one))
    if graph_of(one.support) is not None:
        said = f"A line where two parts were trained together, a color per component: {graph_words(one.support)}."
        yield Figure(f"Parts of {one.name}", said, partial(graph, one.support))
