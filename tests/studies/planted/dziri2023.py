"""Worlds in which each claim of subgraphs and of compounding holds, and in which it fails. Nets have learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.statistics.compounding import accuracy_over_depth, accuracy_over_width

At = dict[str, Any]
Rows = list[dict[str, Any]]
Planted = Callable[[At], Rows]
LAYERS = range(2, 12)
STEPS = 20


def one(reading: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    common = {"reading": reading, "stream": "held_out", "group": "", "layer": "", "metric": metric, "step": 1}
    return common | {"value": value, "asked": False, "beyond": None, "size": None, "place": None} | more


def scores(inside: float = 0.99, larger: tuple[float, ...] = (0.2, 0.1, 0.01)) -> Rows:
    """Exact match on trained sizes, and one, two and three sizes beyond."""
    rows = [one("score", "exact", 0.99, stream="test"), one("score", "exact", inside, group="in-domain")]
    rows += [one("score", "exact", value, group=str(4 + n), beyond=n) for n, value in enumerate(larger, 1)]
    return [*rows, one("score", "exact", larger[0], group="larger", asked=True)]


def sizes(inside: float = 0.99, *larger: float, arm: str = "") -> Planted:
    """So much is right on trained sizes and beyond them; of another arm, next to nothing."""
    return lambda at: scores(inside, larger) if not arm or at["arm"] == arm else scores()


def labels(**by_label: float | list[float]) -> Planted:
    """Shares by layer, one size beyond training, of those labels that are named."""

    def rows(at: At) -> Rows:
        found = []
        for label, shares in by_label.items():
            values = shares if isinstance(shares, list) else [shares] * len(LAYERS)
            name = label.replace("_", " ")
            found += [
                one("labels", name, v, layer=str(n), group="5", beyond=1) for n, v in zip(LAYERS, values, strict=True)
            ]
        return scores() + found

    return rows


def shown(right: float, wrong: float, right_larger: float, wrong_larger: float) -> Planted:
    """Times that training showed right and wrong nodes, of the trained size, where most are right, and of a larger."""

    def rows(at: At) -> Rows:
        found = []
        for layer in LAYERS:
            for beyond, nodes, times in ((0, (90, 10), (right, wrong)), (1, (10, 90), (right_larger, wrong_larger))):
                more = {"layer": str(layer), "group": str(4 + beyond), "beyond": beyond}
                for name, count, value in zip(("right", "wrong"), nodes, times, strict=True):
                    found += [one("frequency", f"{name} nodes", count, **more), one("frequency", name, value, **more)]
        return scores() + found

    return rows


def places(slope: float) -> Planted:
    """Accuracy of digits rises, or falls, with their gain."""

    def rows(at: At) -> Rows:
        found = []
        for place in range(6):
            gain, more = 0.1 + 0.15 * place, {"size": "3x3", "place": place, "beyond": 0}
            found.append(one("gain", "rig", gain, group="3x3", **more))
            found.append(one("score", "accuracy", 0.5 + slope * gain, stream=f"place {place} of 3x3", **more))
        return scores() + found

    return rows


def by_data(gain: float) -> Planted:
    return lambda at: scores(0.3 + gain * (at["data"] == "all"))


# -- compounding ------------------------------------------------------------------------------------------------------
def steps_right(right: Callable[[np.ndarray], np.ndarray], eps: float, answers: float | None = None) -> Planted:
    """Right steps by layer at larger sizes; rates of them, and of the trained size, where next to nothing fails."""
    bound = float(accuracy_over_width(STEPS, eps))

    def rows(at: At) -> Rows:
        found: Rows = []
        for beyond in range(4):
            more = {"group": str(4 + beyond), "beyond": beyond}
            own = eps if beyond else 0.001
            read = {"eps": own, "c": 0.0, "steps": STEPS, "answer right": bound if answers is None else answers}
            read |= {"right in spite of a step": 0.0, "chance": 0.3, "wrong step in right answer": 0.0}
            found += [one("rates", name, value, **more) for name, value in read.items()]
            share = right(np.array(LAYERS)) if beyond else accuracy_over_depth(np.array(LAYERS) - 1, own, 0.0)
            for layer, value in zip(LAYERS, share.tolist(), strict=True):
                found.append(one("labels", "correct", value, layer=str(layer), **more))
                found.append(one("labels", "restoration", 0.0, layer=str(layer), **more))
        return scores() + found

    return rows


def by_recursion(eps: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda layers: accuracy_over_depth(layers - 1, eps, 0.0)


def falls_off(layers: np.ndarray) -> np.ndarray:
    return (layers < 7).astype(float)


FALLING = np.linspace(0.9, 0.1, len(LAYERS)).tolist()

PLANTED: dict[str, dict[str, tuple]] = {
    "subgraphs": {
        "in-domain": (sizes(0.99, 0.1, 0.1), sizes(0.8, 0.1, 0.1)),
        "first-size": (sizes(0.99, 0.1, 0.1), sizes(0.99, 0.9, 0.9)),
        "largest-size": (sizes(0.99, 0.5, 0.3, 0.01), sizes(0.99, 0.9, 0.8, 0.4)),
        "first-size-padded": (sizes(0.99, 0.1, 0.1, arm="steps, padded"), sizes(0.99, 0.9, 0.9, arm="steps, padded")),
        # one net that goes on is enough to refute
        "no-net-extends": (sizes(0.99, 0.3, 0.1), sizes(0.99, 0.9, 0.8, arm="steps, padded")),
        "propagation": (labels(propagation=0.4, local_error=0.1), labels(propagation=0.1, local_error=0.4)),
        "correct-falls": (labels(correct=FALLING), labels(correct=FALLING[::-1])),
        "frequency": (shown(9, 2, 9, 2), shown(3, 3, 3, 3)),
        # right nodes are those of the trained size, which is shown more often: that alone is no evidence
        "frequency-same-size": (shown(9, 2, 9, 2), shown(9, 9, 1, 1)),
        "information": (places(0.5), places(-0.5)),
        "scale-buys-coverage": (by_data(0.65), by_data(0.1), "night"),
        "scale-buys-no-size": (sizes(0.99, 0.01, 0.0), sizes(0.99, 0.3, 0.1), "night"),
    },
    "compounding": {
        "depth": (steps_right(by_recursion(0.1), 0.1), steps_right(falls_off, 0.1)),
        "depth-padded": (steps_right(by_recursion(0.1), 0.1), steps_right(falls_off, 0.1)),
        "width": (steps_right(by_recursion(0.1), 0.1), steps_right(by_recursion(0.1), 0.1, answers=0.6)),
        "same-rates": (steps_right(by_recursion(0.001), 0.001), steps_right(by_recursion(0.3), 0.3)),
    },
}
