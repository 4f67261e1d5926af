"""Worlds in which each claim of the studies of encodings holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recombine.studies.redhardt2025.encodings_arms import is_linear


def scores(linear: float, nonlinear: float) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Held-out scores by the kind of encoding; everything was learned."""
    return lambda at: {"test": 0.99, "held_out": linear if is_linear(at["encoding"]) else nonlinear}


def decoded(metric: str, net: float, untrained: float) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Probes of the net, of an untrained one, and of encodings that a line reads badly; everything was learned."""

    def rows(at: dict[str, Any]) -> list[dict[str, Any]]:
        score = {"reading": "score", "stream": "test", "group": "", "layer": "", "metric": metric, "step": 1}
        probe = score | {"reading": "decodability", "stream": "held_out"}
        found = {"r2": net, "r2_encoding": 0.3, "r2_untrained": untrained}
        return [score | {"value": 0.99, "asked": False}] + [
            probe | {"layer": f"layer{layer}", "metric": name, "value": value}
            for layer in (1, 2, 3)
            for name, value in found.items()
        ]

    return rows


def planted(metric: str) -> dict[str, tuple]:
    return {
        "linear-composes": (scores(0.99, 0.5), scores(0.8, 0.9)),
        "nonlinear-composes": (scores(0.5, 0.95), scores(0.97, 0.7)),
        "linear-above-nonlinear": (scores(0.9, 0.7), scores(0.7, 0.9)),
        "nonlinear-lose-more": (scores(0.9, 0.7), scores(0.7, 0.9)),
        "decoded-above-input": (decoded(metric, 0.9, 0.5), decoded(metric, 0.32, 0.1)),
        "encoding-is-undone": (decoded(metric, 0.9, 0.5), decoded(metric, 0.9, 0.9)),  # by the trained net or by none
    }


PLANTED: dict[str, dict[str, tuple]] = {
    "encodings": planted("r2"),
    "encodings-preference": planted("episode_accuracy"),
}
