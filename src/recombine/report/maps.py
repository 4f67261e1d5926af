"""Maps of splits: every combination a cell, trained or held out, with its score; and which parts were trained together.

A combination lies in the row of its first part and the column of its second (a set of one on the diagonal); what there
is beyond two parts chooses the panel. Combinations of a list lie in its order, line by line. Trained combinations are
small and gray, held-out ones are whole cells, so that the two differ without color. A script adds: choose a
combination, see its score and the nearest trained ones.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ..charts.image_pixels import color_map
from ..charts.map_layout import HELD_OUT, INSET, MOST, TRAINED, Layout, layout, sides, words
from ..charts.part_graph import graph_words
from ..charts.split_map import SupportMap
from ..labels import visible
from ..packed_images import STEPS
from ..spaces import Space
from .graph import graph_svg

SIDES = "-th"  # neither, trained, held out: as the script reads them
SHADES = 31  # colors of scores, and so paths of a map


def page_data(maps: list[SupportMap]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """What the template shows, and the data for the script; maps of one space share its layout."""
    spaces: list[Space] = []
    shown, scripted = [], []
    for one in maps:
        if one.support is None:
            shown.append({"name": one.name, "missing": one.missing})
            continue
        space = one.support.space
        facts = {
            "name": one.name,
            "words": words(one),
            "graph": graph_svg(one.support),
            "parts": graph_words(one.support),
            "missing": "",
            "svg": "",
            "index": None,
        }
        if space.size <= MOST:
            if space not in spaces:
                spaces.append(space)
            facts |= {
                "svg": map_svg(one),
                "index": len(scripted),
                "scored": one.scores is not None,
                "score_name": one.score_name,
                "layout": layout(space),
            }
            scripted.append(
                {
                    "space": spaces.index(space),
                    "sides": "".join(SIDES[s] for s in sides(one.support).tolist()),
                    "scores": None if one.scores is None else [round(s, 3) for s in one.scores.tolist()],
                    "score": one.score_name,
                }
            )
        shown.append(facts)
    if not scripted:
        return shown, None
    described = [
        {
            "names": list(space.element_names),
            "cell": layout(space).cell,
            "places": layout(space).places.tolist(),
            "parts": [[int(i) for i in ids if i >= 0] for ids in space.elements(space.enumerate())],
        }
        for space in spaces
    ]
    return shown, {"spaces": described, "maps": scripted}


# -- drawing ----------------------------------------------------------------------------------------------------------
def map_svg(one: SupportMap) -> str:
    """The map as an SVG whose grays are the colors of the page; colors of scores are the same by day and by night."""
    if one.support is None:
        return ""
    where, side = layout(one.support.space), sides(one.support)
    held_out = side == HELD_OUT
    drawn = [
        f'<text x="{left}" y="{top + 11}" class="panel" font-size="10" fill="var(--muted)">{escape(name)}</text>'
        for name, left, top in where.panels
    ]
    inset = round(where.cell * INSET)
    drawn.append(_cells(where, np.flatnonzero(side == TRAINED), inset, "var(--muted)", ' fill-opacity=".75"'))
    if one.scores is None:
        drawn.append(_cells(where, np.flatnonzero(held_out), 1, "var(--series-2)"))
    else:
        colors = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in color_map("heat", 0.0, 1.0)[:: STEPS // SHADES].tolist()]
        # from 0 to 1; what lies below has the color of 0
        bins = np.clip(np.rint(np.nan_to_num(one.scores) * (len(colors) - 1)), 0, len(colors) - 1).astype(int)
        known = np.isfinite(one.scores)
        edge = ' stroke="var(--muted)" stroke-width=".6"'  # the darkest would be lost in the dark
        drawn += [
            _cells(where, np.flatnonzero(held_out & known & (bins == i)), 1, c, edge) for i, c in enumerate(colors)
        ]
        drawn.append(_cells(where, np.flatnonzero(held_out & ~known), 1, "none", ' stroke="var(--muted)"'))
    scripted = escape(visible(f"{one.name}: {words(one)}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" viewBox="0 0 {where.width} {where.height}" '
        f'width="{where.width}" height="{where.height}" role="img" aria-label="{scripted}">'
        f"{''.join(drawn)}</svg>"
    )


def _cells(where: Layout, ranks: np.ndarray, inset: int, fill: str, more: str = "") -> str:
    """Squares as one path: a few characters per combination."""
    if not len(ranks):
        return ""
    side = where.cell - 1 - 2 * inset + 1
    corners = where.places[ranks] + inset
    path = "".join(f"M{x} {y}h{side}v{side}h-{side}z" for x, y in corners.tolist())
    return f'<path d="{path}" fill="{fill}"{more}/>'
