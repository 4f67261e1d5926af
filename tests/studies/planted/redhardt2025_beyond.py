"""Worlds in which a net composes with each variant of `beyond`, and in which it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SCORED_ELSEWHERE = ("weights-between", "weights-beyond")
VARIANTS = (
    "reference",
    "more-active",
    *SCORED_ELSEWHERE,
    "continuous-weights",
    "product",
    "deep-teacher",
    "hypernetwork",
)


def fails_in(variant: str) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Only this variant fails, and only where it is asked."""

    def scores(at: dict[str, Any]) -> dict[str, float]:
        found = composes(at)
        stream = "elsewhere" if at["variant"] in SCORED_ELSEWHERE else "held_out"
        return found | ({stream: 0.6} if at["variant"] == variant else {})

    return scores


def composes(at: dict[str, Any]) -> dict[str, float]:
    return {"test": 0.95, "held_out": 0.94} | ({"elsewhere": 0.94} if at["variant"] in SCORED_ELSEWHERE else {})


PLANTED: dict[str, dict[str, tuple]] = {"beyond": {variant: (composes, fails_in(variant)) for variant in VARIANTS}}
