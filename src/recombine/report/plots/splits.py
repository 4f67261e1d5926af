"""Splits as matplotlib figures: every combination on a map, and which parts were trained together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...charts.split_map import SupportMap
from ...labels import visible
from ...supports import Support
from ..graph import LABEL, SIZE, anchor, color_of, faint, graph_of
from ..maps import HELD_OUT, INSET, MOST, TRAINED, Layout, layout, sides
from ..theme import COLOR_MAPS, LIGHT
from .style import finished, paper_style


def map_figure(one: SupportMap, inches: float, title: bool = False) -> Any:
    """Every combination of a split: trained small and gray, held out large and in the color of its score.

    Nothing where there is no split, or one too large to draw.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.figure import Figure

    if one.support is None or one.support.space.size > MOST:
        return None
    where, side = layout(one.support.space), sides(one.support)
    with paper_style():
        high = inches * where.height / where.width + (0.25 if title else 0)
        figure = Figure(figsize=(inches, high + (0.45 if one.scores is not None else 0.05)), layout="constrained")
        axes = figure.subplots()
        axes.set(xlim=(0, where.width), ylim=(where.height, 0), aspect="equal")
        axes.axis("off")
        if title:
            axes.set_title(one.name)
        by = inches * 72 / where.width  # points a pixel
        for name, left, top in where.panels:
            axes.text(left, top + 11, name, fontsize=min(7, 10 * by), color=LIGHT["muted"])
        inset = round(where.cell * INSET)
        trained = PolyCollection(_squares(where, side == TRAINED, inset), facecolors=LIGHT["muted"], alpha=0.75)
        axes.add_collection(trained)
        held_out = side == HELD_OUT
        if one.scores is None:
            axes.add_collection(PolyCollection(_squares(where, held_out, 1), facecolors=LIGHT["series-2"]))
        else:
            heat, norm = LinearSegmentedColormap.from_list("heat", COLOR_MAPS["heat"]), Normalize(0, 1, clip=True)
            known = held_out & np.isfinite(one.scores)
            cells = PolyCollection(_squares(where, known, 1), facecolors=heat(norm(one.scores[known])))
            axes.add_collection(cells)
            unknown = _squares(where, held_out & ~np.isfinite(one.scores), 1)
            axes.add_collection(PolyCollection(unknown, facecolors="none", edgecolors=LIGHT["muted"], linewidths=0.4))
            bar = figure.colorbar(
                ScalarMappable(norm, heat), ax=axes, orientation="horizontal", fraction=0.04, pad=0.02, shrink=0.4,
                anchor=(0.0, 0.0),
            )  # fmt: skip
            bar.set_label(f"{one.score_name} of held-out combinations", fontsize=7)
            bar.outline.set_visible(False)
    return finished(figure)


def _squares(where: Layout, chosen: np.ndarray, inset: int) -> list[np.ndarray]:
    """The four corners of each."""
    side = where.cell - 2 * inset
    corners = np.array([[0, 0], [side, 0], [side, side], [0, side]])
    return list(where.places[chosen][:, None] + inset + corners)


def graph_figure(support: Support, inches: float, title: str = "") -> Any:
    """Parts on a circle, a line where two were trained together, a color a component; nothing if they are many."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    graph = graph_of(support)
    if graph is None:
        return None
    with paper_style():
        wide = min(inches, 3.25)
        figure = Figure(figsize=(wide, wide), layout="constrained")
        axes = figure.subplots()
        axes.set(xlim=(0, SIZE), ylim=(SIZE, 0), aspect="equal")
        axes.axis("off")
        if title:
            axes.set_title(title)
        color = [LIGHT[color_of(c)] if c >= 0 else "none" for c in graph.components]
        places = np.array(graph.places)
        lines = LineCollection(
            [places[[a, b]] for a, b, _ in graph.edges], colors=[color[a] for a, _, _ in graph.edges], linewidths=0.7,
            alpha=[faint(share) for _, _, share in graph.edges],
        )  # fmt: skip
        axes.add_collection(lines)
        edges = [LIGHT["muted"] if c < 0 else "none" for c in graph.components]
        axes.scatter(*places.T, s=26, c=color, edgecolors=edges, linewidths=0.8, zorder=3)
        for name, (x, y), turn in zip(graph.names, graph.places, graph.turns, strict=True):
            axes.text(
                x + LABEL * np.cos(turn), y + LABEL * np.sin(turn), visible(name, 14), fontsize=7,
                ha=anchor(turn), va="center",
            )  # fmt: skip
    return finished(figure)
