"""Worlds in which each claim of kernels-compose holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]


def says(**values: float | Callable[[At], float]) -> Callable[[At], list[dict[str, Any]]]:
    """Readings of every cell; nets have learned."""

    def rows(at: At) -> list[dict[str, Any]]:
        found = {"unfitted": 0.0} | {name: one(at) if callable(one) else one for name, one in values.items()}
        shared = {"reading": "score", "stream": "held_out", "group": "", "asked": True}
        return [shared | {"metric": name, "value": value} for name, value in found.items()]

    return rows


def conflicts(at: At) -> float:
    """Wrong wherever all conflicts were left out."""
    return 0.02 if at.get("left_out") == 3 else 0.95


PLANTED: dict[str, dict[str, tuple]] = {
    "kernels-compose": {
        # where the exact claims hold, seeds may not differ by the little that planted ones do
        "kernels-add-conjunctions": (says(additivity=1.1), says(additivity=0.9)),
        "memorization-leaks-as-computed": (says(off_formula=-0.05), says(off_formula=0.2)),
        "kernels-miss-equivalence": (says(accuracy=0.5), says(accuracy=0.95)),
        "kernels-take-the-shortcut": (says(accuracy=conflicts), says(accuracy=0.9)),
        "nets-add-conjunctions": (says(additivity=0.99), says(additivity=0.6)),
        "nets-leak-less-with-more-known": (
            says(slope=lambda at: 0.6 + 0.08 * at.get("known", 1)),
            says(slope=0.7),
        ),
        "own-kernel-foretells-the-leak": (says(off_formula=0.02), says(off_formula=0.5)),
        "nets-take-the-shortcut": (says(accuracy=conflicts), says(accuracy=0.9)),
        "rich-nets-learn-equivalence": (
            says(accuracy=lambda at: 0.95 if at.get("begins") == "rich" else 0.5),
            says(accuracy=0.95),
        ),
    }
}
