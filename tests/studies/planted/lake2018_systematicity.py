"""Worlds in which each claim of systematicity holds, and in which it fails. Everywhere nets have learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]


def right(**by_split: float) -> Callable[[At], dict[str, float]]:
    """So much is right on the held-out commands of a split; of those that are not named .5."""
    return lambda at: {"test": 0.99, "held_out": by_split.get(str(at["split"]).replace("-", "_"), 0.5)}


def only_for(net: str, value: float, otherwise: float) -> Callable[[At], dict[str, float]]:
    return lambda at: {"test": 0.99, "held_out": value if at["net"] == net else otherwise}


def by_verbs(gain: float) -> Callable[[At], dict[str, float]]:
    """Exact match on jump rises by so much from four verbs to fifty and more."""
    return lambda at: {"test": 0.99, "held_out": 0.1 + gain * (at["data"] in ("50 verbs", "100 verbs"))}


def by_divergence(slope: float) -> Callable[[At], dict[str, float]]:
    def scores(at: At) -> dict[str, float]:
        name, _, share = str(at["split"]).partition(" ")
        return {"test": 0.99, "held_out": 0.5 + slope * (float(share) if name == "divergence" else 0.0)}

    return scores


def on_episodes(value: float) -> Callable[[At], dict[str, float]]:
    """So much is right after meta-learning, on either split; of plain nets something else."""
    return lambda at: {"test": 0.99, "held_out": value if at["data"] == "MLC" else 1 - value}


PLANTED: dict[str, dict[str, tuple]] = {
    "systematicity": {
        "simple": (right(simple=0.99), right(simple=0.9)),
        "jump": (right(add_jump=0.02), right(add_jump=0.6)),
        "length": (right(length=0.1), right(length=0.8)),
        "turn-left": (right(add_turn_left=0.9), right(add_turn_left=0.3), "night"),
        # one net that passes is enough to refute
        "around-right": (right(around_right=0.03), only_for("lstm, attention", 0.9, 0.03), "night"),
        "lstm-jump": (right(add_jump=0.001), only_for("lstm", 0.3, 0.0), "night"),
        "coverage-composes": (by_verbs(0.8), by_verbs(0.05), "night"),
        "divergence-hurts": (by_divergence(-0.3), by_divergence(0.3), "night"),
        "mlc-jump": (on_episodes(0.99), on_episodes(0.7), "night"),
        "mlc-length": (on_episodes(0.2), on_episodes(0.9), "night"),
    }
}
