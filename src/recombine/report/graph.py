"""Which parts were trained together: a line where two occur in one trained combination, a color a component."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from ..labels import listed, visible
from ..spaces import LISTED_UP_TO
from ..supports import Support
from ..supports.certificate import cooccurrence

MOST = 64  # parts beyond which a circle of them says nothing
SIZE, RADIUS, LABEL = 300, 104, 14  # pixels; LABEL: from a point to its name
SHOWN, LETTER = 14, 6.3  # letters of a name, and the width of one
SERIES = 6  # colors; further components are gray
LISTED, GROUPS = 12, 4  # parts of a component, and components, that a sentence names


@dataclass(frozen=True)
class Graph:
    """Parts on a circle, component by component."""

    names: list[str]
    places: list[tuple[float, float]]  # across and down, in pixels
    turns: list[float]  # of each part, in radians from the right
    components: list[int]  # the largest is 0; -1 where a part was never trained
    usage: list[int]  # trained combinations that have the part
    edges: list[tuple[int, int, float]]  # two parts that were trained together, and how often as a share of the most


def graph_of(support: Support) -> Graph | None:
    """Which parts were trained together; nothing where there are too many to tell apart."""
    space = support.space
    n = len(space.element_names)
    if n > MOST or space.size > LISTED_UP_TO:
        return None
    together = np.asarray(cooccurrence(space, support.train.combinations()))
    component = _component_of(support)
    order = sorted(range(n), key=lambda i: (component[i] < 0, component[i], i))
    turn = [2 * math.pi * order.index(i) / n - math.pi / 2 for i in range(n)]
    places = [(SIZE / 2 + RADIUS * math.cos(t), SIZE / 2 + RADIUS * math.sin(t)) for t in turn]
    most = max(1, together[~np.eye(n, dtype=bool)].max(initial=0))
    edges = [(a, b, together[a, b] / most) for a in range(n) for b in range(a + 1, n) if together[a, b]]
    return Graph(list(space.element_names), places, turn, component, [int(together[i, i]) for i in range(n)], edges)


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
    for i, name in enumerate(graph.names):
        drawn.append(_point(name, graph.places[i], graph.turns[i], graph.components[i], graph.usage[i]))
    longest = max(len(visible(name, SHOWN)) for name in graph.names)
    beside = max(0, math.ceil(RADIUS + LABEL + LETTER * longest - SIZE / 2))  # room for names on both sides
    width = SIZE + 2 * beside
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="{-beside} 0 {width} {SIZE}" width="{width}" '
        f'height="{SIZE}" role="img" aria-label="{escape(graph_words(support))}">{"".join(drawn)}</svg>'
    )


def faint(share: float) -> float:
    """How opaque a line is: those of pairs that were often trained stand out."""
    return 0.12 + 0.5 * share


def graph_words(support: Support) -> str:
    """Components and what was never trained, in a sentence."""
    certificate = support.certificate()
    parts, lost = certificate.components, certificate.untrained
    shown = "" if certificate.exact else " in the sample that was looked at"
    if len(parts) == 1:
        text = f"all {len(parts[0])} trained parts hang together{shown}"
    else:
        named = [listed([visible(name, 30) for name in part], LISTED) for part in parts[:GROUPS]]
        more = f"; and {len(parts) - GROUPS} more" if len(parts) > GROUPS else ""
        text = f"{len(parts)} groups that were never combined{shown}: {'; '.join(named)}{more}"
        if len(parts) > SERIES:
            text += f" (the {SERIES} largest have colors, the others are gray)"
    if lost:
        text += f"; never trained: {listed([visible(name, 30) for name in lost], 8)}"
    return text


def _component_of(support: Support) -> list[int]:
    """The component of each element, the largest first; -1 where it was never trained."""
    names = {name: i for i, name in enumerate(support.space.element_names)}
    found = [-1] * len(names)
    for number, part in enumerate(sorted(support.certificate().components, key=lambda part: -len(part))):
        for name in part:
            found[names[name]] = number
    return found


def color_of(component: int) -> str:
    """The name of a component's color."""
    return f"series-{component + 1}" if component < SERIES else "muted"


def anchor(turn: float) -> str:
    """Which end of a name lies at its point, so that it is written away from the circle."""
    return "center" if abs(math.cos(turn)) < 0.05 else "left" if math.cos(turn) > 0 else "right"


def _point(name: str, at: tuple[float, float], turn: float, component: int, usage: int) -> str:
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
    return (
        f'<g><title>{said}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {look}/>'
        f'<text x="{tx:.1f}" y="{ty:.1f}" text-anchor="{side}" font-size="10" fill="var(--muted)">{label}</text></g>'
    )
