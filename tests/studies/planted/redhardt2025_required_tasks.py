"""Worlds in which each claim of required-tasks holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recombine.spaces import Subsets

Needed = Callable[[dict[str, Any], int], float]


def tried(needed: Needed) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """What a search finds where so many are enough, by place and size of the space."""

    def rows(at: dict[str, Any]) -> list[dict[str, Any]]:
        enough = round(needed(at, Subsets(at["modules"], at["at_most"]).size) * (1 + 0.02 * at["seed"]))
        shared = {"reading": "tried", "metric": "r2", "threshold": 0.9}
        return [
            shared | {"trained_on": enough - 1, "value": 0.5},
            shared | {"trained_on": enough, "value": 0.95},
        ]

    return rows


def octaves(by: float) -> Needed:
    """The transformer needs so many octaves fewer than the MLP."""
    return lambda at, size: 100 * 2.0 ** (-by if at["net"] == "transformer" else 0)


SUB_EXPONENTIAL = (tried(lambda at, size: 10 * size**0.3), tried(lambda at, size: 0.5 * size))
PLANTED: dict[str, dict[str, tuple]] = {
    "required-tasks-preference": {"sub-exponential": SUB_EXPONENTIAL},
    "required-tasks": {
        "sub-exponential": SUB_EXPONENTIAL,
        "transformer-needs-fewer": (tried(octaves(1.0)), tried(octaves(0.0))),
    },
}
