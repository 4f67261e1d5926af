"""map: a split to look at, every combination a cell, trained or held out, with its score."""

from __future__ import annotations

import math
from typing import Any

from ..errors import UserError
from .chart_parts import data, fixed
from .lazy_altair import alt
from .split_map import SupportMap
from .theme import COLOR_MAPS
from .words import number

GAP = 26  # pixels between the map and what its colors mean


def map(split: Any) -> alt.LayerChart:
    """Every combination of a split: trained ones small and gray, held-out ones whole cells, colored by score.

    A combination lies in the row of its first part and the column of its second; what there is beyond two parts
    chooses the panel.

    Args:
        split: a `Support`, or a `SupportMap`, which may have scores.

    Example:
        >>> support = rc.supports.random(rc.Subsets(modules=6, at_most=2), held_out=0.25, seed=0)
        >>> rc.charts.map(support).to_dict()["height"]
        114
    """
    from .map_layout import HELD_OUT, INSET, MOST, TRAINED, layout, sides

    one = split if isinstance(split, SupportMap) else SupportMap("split", split)
    support = one.support
    if support is None:
        raise UserError(f"{one.name} is not shown: {one.missing}")
    if support.space.size > MOST:
        raise UserError(f"{support.space.size:,} combinations are too many to draw one by one; at most {MOST:,} are")
    where, side = layout(support.space), sides(support)
    names = support.space.element_names
    parts = [[names[int(i)] for i in ids if i >= 0] for ids in support.space.elements(support.space.enumerate())]
    middle = (where.cell - 1) / 2
    rows = [
        {
            "x": left + middle,
            "y": top + middle,
            "combination": " + ".join(parts[rank]),
            "side": {TRAINED: "trained", HELD_OUT: "held out"}[side[rank]],
            **_score(one, rank),
        }
        for rank, (left, top) in enumerate(where.places.tolist())
        if side[rank]
    ]
    tips = [alt.Tooltip(field="combination", type="nominal"), alt.Tooltip(field="side", type="nominal")]
    if one.scores is not None:
        tips.append(alt.Tooltip(field="said", type="nominal", title=one.score_name))
    at: dict[str, Any] = {**_places(where.width, where.height), "tooltip": tips}
    whole, inner = (where.cell - 2) ** 2, (where.cell - 2 * round(where.cell * INSET)) ** 2
    square = alt.Chart().mark_point(shape="square", filled=True, size=inner, style=["trained"])
    layers = [
        square.transform_filter("datum.side == 'trained'").encode(**at),
        *_held_out(one, at, whole),
        *([_panels(where.panels, at)] if any(name for name, _, _ in where.panels) else []),
    ]
    return fixed(layers, rows, where.width, where.height)


def _score(one: SupportMap, rank: int) -> dict[str, Any]:
    if one.scores is None:
        return {}
    score = float(one.scores[rank])
    known = math.isfinite(score)
    return {"value": round(min(max(score, -1e300), 1e300), 3) if known else None, "said": number(score)}


def _places(width: int, height: int) -> dict[str, Any]:
    """Axes in pixels, from the upper left, that are not drawn."""
    across = alt.X(field="x", type="quantitative", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    up = alt.Y(field="y", type="quantitative", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    return {"x": across, "y": up}


def _held_out(one: SupportMap, at: dict[str, Any], size: int) -> list[Any]:
    """Whole cells: in one color, or in that of their score; outlined only, where it is undefined."""
    cell = alt.Chart().transform_filter("datum.side == 'held out'")
    if one.scores is None:
        return [cell.mark_point(shape="square", filled=True, size=size, style=["held-out"], opacity=1).encode(**at)]
    scale = alt.Scale(domain=[0, 1], range=list(COLOR_MAPS["heat"]), clamp=True)
    legend = alt.Legend(title=f"held out: {one.score_name}", orient="bottom", gradientLength=140, offset=GAP)
    color = alt.Color(field="value", type="quantitative", scale=scale, legend=legend)
    known = cell.transform_filter("isValid(datum.value)")
    lost = cell.transform_filter("!isValid(datum.value)")
    # the darkest would be lost in the dark without an edge
    drawn = known.mark_point(shape="square", filled=True, size=size, opacity=1, style=["outlined"])
    empty = lost.mark_point(shape="square", filled=False, size=size, style=["no-score"])
    return [drawn.encode(**at, color=color), empty.encode(**at)]


def _panels(panels: Any, at: dict[str, Any]) -> Any:
    rows = [{"x": left, "y": top + 11, "panel": name} for name, left, top in panels]
    text = alt.Chart(data(rows)).mark_text(style=["words"], align="left", baseline="alphabetic", fontSize=10)
    return text.encode(x=at["x"], y=at["y"], text=alt.Text(field="panel", type="nominal"))
