"""The graph of parts that were trained together, as the page draws it (`charts.part_graph` says what it is)."""

from __future__ import annotations

import math
from html import escape

from ..charts.part_graph import (
    LABEL,
    LETTER,
    RADIUS,
    SHOWN,
    SIZE,
    anchor,
    color_of,
    faint,
    graph_of,
    graph_words,
    written,
)
from ..labels import visible
from ..supports import Support


def graph_svg(support: Support) -> str:
    """The graph as an SVG in the colors of the page; nothing where there is none."""
    graph = graph_of(support)
    if graph is None:
        return ""
    drawn = []
    for a, b, share in graph.edges:
        (x1, y1), (x2, y2) = graph.places[a], graph.places[b]
        drawn.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="var(--{color_of(graph.components[a])})" '
            f'stroke-opacity="{faint(share):.2f}"/>'
        )
    for i, (name, shown) in enumerate(zip(graph.names, written(graph), strict=True)):
        drawn.append(_point(name, graph.places[i], graph.turns[i], graph.components[i], graph.usage[i], shown))
    longest = max(len(visible(name, SHOWN)) for name in graph.names)
    beside = max(0, math.ceil(RADIUS + LABEL + LETTER * longest - SIZE / 2))  # room for names on both sides
    width = SIZE + 2 * beside
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="{-beside} 0 {width} {SIZE}" width="{width}" '
        f'height="{SIZE}" role="img" aria-label="{escape(graph_words(support))}">{"".join(drawn)}</svg>'
    )


def _point(name: str, at: tuple[float, float], turn: float, component: int, usage: int, shown: bool) -> str:
    x, y = at
    side = {"center": "middle", "left": "start", "right": "end"}[anchor(turn)]
    label = escape(visible(name, SHOWN))
    look = (
        f'fill="var(--{color_of(component)})"'
        if component >= 0
        else 'fill="none" stroke="var(--muted)" stroke-dasharray="2 2"'
    )
    said = f"{escape(visible(name, 60))}: in {usage:,} trained combinations"
    tx, ty = x + LABEL * math.cos(turn), y + LABEL * math.sin(turn) + 3.5
    place = f'x="{tx:.1f}" y="{ty:.1f}" text-anchor="{side}"'
    words = f'<text {place} font-size="10" fill="var(--muted)">{label}</text>' if shown else ""
    return f'<g><title>{said}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {look}/>{words}</g>'
