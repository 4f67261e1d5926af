"""Worlds in which each claim of the study of decodability holds, and in which it fails."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from recombine.studies import registry


def trials(sign: float, first: float = 1.0) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Held-out scores by lot; layers are the more decodable the higher the score (sign 1), or the lower (-1).

    first: about how decodable the first layer is, where the score makes little difference.
    """

    def rows(at: dict[str, Any]) -> list[dict[str, Any]]:
        score = lot(at)
        shared = {"group": "", "layer": "", "metric": "r2", "step": 1}
        scored = shared | {"reading": "score", "metric": registry[at["lender"]].deciding_metric}
        probed = shared | {"reading": "decodability", "stream": "held_out"}
        values = {"layer1": first + sign * 0.01 * score, "layer2": sign * score, "layer3": sign * score}
        return [
            scored | {"stream": "test", "value": 0.95, "asked": False},
            scored | {"stream": "held_out", "value": score, "asked": True},
            *(probed | {"layer": name, "value": value} for name, value in values.items()),
        ]

    return rows


def lot(at: dict[str, Any]) -> float:
    """A score between .2 and .8, by place and seed."""
    digest = hashlib.sha256(repr(sorted(at.items(), key=str)).encode()).digest()
    return 0.2 + 0.6 * int.from_bytes(digest[:6], "big") / 2**48


def lost(failing: float, usual: float) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Decodability falls by so much from first to last layer where blocks were never combined, and elsewhere."""

    def rows(at: dict[str, Any]) -> list[dict[str, Any]]:
        fall = failing if at["support"] in ("disconnected", "one-apart") else usual
        probed = {"reading": "decodability", "stream": "held_out", "group": "", "metric": "r2", "step": 1}
        return [probed | {"layer": f"layer{n}", "value": 1 - fall * (n - 1) / 2} for n in (1, 2, 3)]

    return rows


PLANTED: dict[str, dict[str, tuple]] = {
    "decodability": {
        "predicts": (trials(sign=1), trials(sign=-1)),
        "predicts-at-published-layer": (trials(sign=1), trials(sign=-1)),
        "lost-with-depth": (lost(0.3, 0.1), lost(0.1, 0.1)),
        "shallow-layer-misleads": (trials(sign=1), trials(sign=1, first=0.5)),
    }
}
