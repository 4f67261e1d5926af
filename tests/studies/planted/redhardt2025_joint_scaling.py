"""Maps of width and stored examples in which each claim of `joint-scaling` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NARROW, FEW = 16, 4  # the corner of the laptop grid


def errors(corner: float, wide: float, much: float, both: float) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Scores from four errors: of neither, of width alone, of examples alone, and of both."""

    def score(at: dict[str, Any]) -> dict[str, float]:
        found = {(False, False): corner, (True, False): wide, (False, True): much, (True, True): both}
        error = found[at["width"] > NARROW, at["examples"] > FEW]
        return {"held_out": 1 - error, "test": 1 - 0.9 * error}

    return score


PLANTED: dict[str, dict[str, tuple]] = {
    "joint-scaling": {
        "scaling-both-composes": (errors(0.9, 0.8, 0.6, 0.1), errors(0.9, 0.8, 0.6, 0.4)),
        "width-pays": (errors(0.9, 0.8, 0.6, 0.1), errors(0.9, 0.8, 0.6, 0.59)),
        "examples-pay": (errors(0.9, 0.8, 0.6, 0.1), errors(0.2, 0.1, 0.15, 0.1)),
        # the last four: both divide the error, and neither by more with the other
        "they-help-each-other": (errors(0.9, 0.8, 0.6, 0.2), errors(0.8, 0.4, 0.4, 0.2)),
    }
}
