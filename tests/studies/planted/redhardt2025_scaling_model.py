"""Scores by width in which each claim of the studies of scaling-model holds, and in which it fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from recombine.encodings import encodings


def rising(octaves_later: float, blind: bool) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Scores that rise with width, for nonlinear encodings so many octaves later.

    blind: with the wrong-code baseline, which does not count.
    """

    def scores(at: dict[str, Any]) -> dict[str, float]:
        late = 0.0 if encodings[at["encoding"]].linear else octaves_later
        above = 0.3 * (math.log2(at["width"]) - late) - 1.2
        floor = 0.05 if blind else 0.0
        return {"held_out": min(above, 0.92) + floor} | ({"blind": floor} if blind else {})

    return scores


def flat(at: dict[str, Any]) -> dict[str, float]:
    return {"held_out": 0.5}


def worse_when_widest(at: dict[str, Any]) -> dict[str, float]:
    return {"held_out": {32: 0.3, 96: 0.7, 288: 0.5}[at["width"]]}


PLANTED: dict[str, dict[str, tuple]] = {
    "scaling-model": {
        "wider-is-better": (rising(0.0, blind=False), worse_when_widest),
        "nonlinear-needs-width": (rising(1.0, blind=False), rising(0.0, blind=False)),
    },
    "scaling-model-preference": {
        "wider-is-better": (rising(0.0, blind=True), flat),
        "nonlinear-needs-width": (rising(1.0, blind=True), rising(0.0, blind=True)),
    },
}
