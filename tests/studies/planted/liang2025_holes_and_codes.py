"""Worlds in which the claims on holes, code widths and gaps hold, and in which they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Rows = list[dict[str, Any]]


def errors(held_out: Callable[[At], float]) -> Callable[[At], Rows]:
    """Held-out errors of nets that have learned."""

    def rows(at: At) -> Rows:
        shared = {"reading": "score", "group": "", "layer": "", "step": 1, "metric": "error"}
        values = (("test", 0.01), ("held_out", held_out(at)))
        return [shared | {"stream": stream, "value": value} for stream, value in values]

    return rows


def by(axis: str, one: Any, those: float, others: float, net: str = "") -> Callable[[At], Rows]:
    """One error at a value of an axis, of one net if it is named, and another elsewhere."""
    return errors(lambda at: those if at[axis] == one and (not net or at["net"] == net) else others)


def faded(gap: float, to_truth: float, to_fade: float) -> Callable[[At], Rows]:
    shared = {"reading": "crossfade", "stream": "grid", "group": "", "layer": "output", "step": 1}
    values = {"to_truth": to_truth, "to_fade": to_fade, "apart": 0.5}
    return lambda at: (
        errors(lambda _: gap)(at) + [shared | {"metric": metric, "value": v} for metric, v in values.items()]
    )


def read_right(held_out: Callable[[At], float]) -> Callable[[At], Rows]:
    shared = {"reading": "score", "group": "", "layer": "", "step": 1, "metric": "right"}
    return lambda at: [
        shared | {"stream": "test", "value": 0.98},
        shared | {"stream": "held_out", "value": held_out(at), "asked": True},
    ]


LARGEST, SMALLEST = "0.6 of a side", "0.2 of a side"
PLANTED = {
    "hole-shapes": {
        # of one net only is not enough
        "corner-is-harder": (by("shape", "corner", 2.0, 1.0), by("shape", "corner", 2.0, 1.0, net="mlp")),
        "cross-is-harder": (by("shape", "cross", 2.0, 1.0), by("shape", "cross", 2.0, 1.0, net="mlp")),
        "scattered-is-easier": (
            by("shape", "scattered", 0.2, 1.0),
            by("shape", "scattered", 0.2, 1.0, net="cnn-decoder"),
        ),
    },
    "hole-size": {
        "larger-holes-are-worse": (by("hole", LARGEST, 1.0, 0.2), by("hole", SMALLEST, 1.0, 0.5)),
        "larger-pictures-are-worse": (by("size", 20, 1.0, 0.5), by("size", 12, 1.0, 0.5)),
    },
    "code-width": {
        "no-width-cures": (errors(lambda at: 0.8), by("code", "width 5", 0.2, 0.8)),
        "wider-helps": (by("code", "width 11", 0.5, 0.8), by("code", "width 11", 0.8, 0.8)),
    },
    "reverse-task": {
        # one kind of answer only is not enough
        "cnn-encoder-composes": (
            read_right(lambda at: 0.98),
            read_right(lambda at: 0.3 if at["asked_for"] == "scalar" else 0.98),
        ),
        "mlp-composes": (
            read_right(lambda at: 0.98 if at["net"] == "mlp" else 0.3),
            read_right(lambda at: 0.3 if at["net"] == "mlp" else 0.98),
        ),
    },
    "turned-digit": {
        "the-gap-fails": (faded(1.0, 0.5, 0.1), faded(0.02, 0.5, 0.1)),
        "the-gap-is-faded": (faded(1.0, 0.5, 0.1), faded(1.0, 0.1, 0.5)),
    },
}
