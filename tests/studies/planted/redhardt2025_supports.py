"""Worlds in which each claim of the studies of supports holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRAINED = 0.95


def gaps(**by_support: float) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Final scores with such a gap for each support; of those that are not named it is .02."""
    return lambda at: {"test": TRAINED, "held_out": TRAINED - by_support.get(at["support"], 0.02)}


def rarest(metric: str, loss: float) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Final scores of which combinations with the rarest element have lost so much more than the others."""

    def rows(at: dict[str, Any]) -> list[dict[str, Any]]:
        shared = {"reading": "score", "layer": "", "metric": metric, "step": 1, "asked": False}
        name = f"with rarest (m{at['seed']})"  # which it is differs between seeds
        held_out = {"": 0.8, "without rarest": 0.9, name: 0.9 - loss}
        return [
            shared | {"stream": "test", "group": "", "value": TRAINED},
            *(shared | {"stream": "held_out", "group": group, "value": value} for group, value in held_out.items()),
        ]

    return rows


def planted(metric: str) -> dict[str, tuple]:
    return {
        "random-composes": (gaps(random=0.02), gaps(random=0.2)),
        "balanced-composes": (gaps(balanced=0.02), gaps(balanced=0.2)),
        "popular-composes": (gaps(popular=0.02), gaps(popular=0.2)),
        "missing-fails": (gaps(missing=0.4), gaps(missing=0.1)),
        "blocks-fail": (gaps(**{"disconnected": 0.2, "as-many": 0.1}), gaps(**{"disconnected": 0.2, "as-many": 0.19})),
        "unpopular-between": (gaps(unpopular=0.1, missing=0.3), gaps(unpopular=0.4, missing=0.3)),
        "unpopular-rarest": (rarest(metric, 0.2), rarest(metric, 0.0)),
    }


def published(metric: str) -> dict[str, tuple]:
    """With what is said of the published disconnected split; one support that does no better is enough to refute."""
    return planted(metric) | {
        "disconnected-fails": (gaps(**{"one-apart": 0.2}), gaps(**{"one-apart": 0.02})),
        "disconnected-above-composing": (gaps(**{"one-apart": 0.2}), gaps(**{"one-apart": 0.2, "popular": 0.3})),
    }


PLANTED: dict[str, dict[str, tuple]] = {
    "supports": published("r2"),
    "supports-preference": published("episode_accuracy"),
    "supports-goal": {claim: (*each, "night") for claim, each in planted("episode_accuracy").items()},
}
