"""Worlds in which each claim of `re-entanglement` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Number = Callable[[At], float]


def net_number(at: At) -> int:
    """Another number for every net without a penalty."""
    return at["layers"] + 10 * (at["decoder"] == "mlp") + 20 * (at["encoding"] == "bump")


def layered(fall: Number, error: Number, fall_untrained: float = 0.02) -> Callable[[At], list[dict[str, Any]]]:
    """How much F falls over the hidden layers by cell, before training and after it, and the held-out error."""

    def rows(at: At) -> list[dict[str, Any]]:
        shared = {"group": "", "layer": "", "step": 1}
        scores = [
            shared | {"reading": "score", "metric": "error", "stream": stream, "value": v, "asked": stream != "test"}
            for stream, v in (("test", 0.05), ("held_out", error(at)))
        ]
        layers = [
            shared | {"reading": "geometry", "stream": "grid", "metric": metric, "layer": layer, "value": value}
            for metric, fallen in (
                *((f"factorization{where}", fall(at)) for where in ("", "_derivative", "_derivative_trained")),
                ("factorization_untrained", fall_untrained),
            )
            for layer, value in (("layer1/post", 0.995), (f"layer{at['layers']}/post", 1 - fallen))
        ]
        return scores + layers

    return rows


def cured(trained: float, everywhere: float) -> Callable[[At], list[dict[str, Any]]]:
    """A penalty of 1 keeps F highest, and changes the error by so many times; others do not change it."""

    def error(at: At) -> float:
        return (everywhere if at["everywhere"] else trained) if at["penalty"] == 1 else 1.0

    return layered(lambda at: 0.05 if at["penalty"] == 1 else 0.08 if at["penalty"] else 0.2, error)


PLANTED = {
    "re-entanglement": {
        # whatever was before training; one net and code that keeps it is enough
        "layers-re-entangle": (
            layered(lambda at: 0.1, lambda at: 1.0, fall_untrained=0.3),
            layered(lambda at: 0.1 if net_number(at) != 33 else -0.05, lambda at: 1.0),
        ),
        "training-re-entangles": (
            layered(lambda at: 0.1, lambda at: 1.0),
            layered(lambda at: 0.1 if at["encoding"] == "ramp" else 0.01, lambda at: 1.0),
        ),
        "the-fall-predicts": (
            layered(lambda at: 0.01 * net_number(at), lambda at: 0.1 * net_number(at)),
            layered(lambda at: 0.01 * net_number(at), lambda at: 10 - 0.1 * net_number(at)),
        ),
        "straightening-cures": (cured(trained=0.5, everywhere=1.0), cured(trained=1.0, everywhere=0.5)),
        "straightening-everywhere-cures": (cured(trained=1.0, everywhere=0.5), cured(trained=0.5, everywhere=1.0)),
    }
}
