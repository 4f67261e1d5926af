"""Which parts were trained together: a line where two occur in one trained combination, a color per component."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..labels import listed, visible
from ..spaces import LISTED_UP_TO
from ..supports import Support
from ..supports.certificate import cooccurrence

MOST = 64  # parts beyond which a circle of them says nothing
SIZE, RADIUS, LABEL = 300, 104, 14  # pixels; LABEL: from a point to its name
SHOWN = 14  # letters of a name
LETTER, LINE = 6.3, 11  # pixels: how wide a letter is, and how high a line
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


def written(graph: Graph) -> list[bool]:
    """Which names are written: of those that would lie on each other the first; the others answer to the pointer."""
    boxes: list[tuple[float, float, float, float]] = []
    found = []
    for name, (x, y), turn in zip(graph.names, graph.places, graph.turns, strict=True):
        wide = LETTER * len(visible(name, SHOWN))
        left = x + LABEL * math.cos(turn) - wide * {"left": 0.0, "center": 0.5, "right": 1.0}[anchor(turn)]
        top = y + LABEL * math.sin(turn) - LINE / 2
        free = all(
            left >= b or left + wide <= a or top >= d or top + LINE <= c  # beside it, below it or above it
            for a, b, c, d in boxes
        )
        found.append(free)
        if free:
            boxes.append((left, left + wide, top, top + LINE))
    return found
