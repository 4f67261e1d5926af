"""Worlds in which each claim of linear-size holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Rows = list[dict[str, Any]]


def written(**laws: Callable[[At], float]) -> Callable[[At], Rows]:
    """Nets that were written, with these laws."""
    usual = {"rms": lambda at: 1 / at["pieces"] ** 2, "of_bound": lambda at: 0.1, "units": lambda at: 4000.0}

    def rows(at: At) -> Rows:
        if at["part"] != "written":
            return []
        return [{"reading": "written", "metric": name, "value": law(at)} for name, law in (usual | laws).items()]

    return rows


def twins(inside: float, across: float) -> Callable[[At], Rows]:
    """Two teachers that differ by as much."""

    def rows(at: At) -> Rows:
        both = {"inside/largest": inside, "across/largest": across}
        found = [{"reading": "twins", "metric": name, "value": value} for name, value in both.items()]
        return found if at["part"] == "twins" else []

    return rows


def widths(composed: float, apart: float) -> Callable[[At], Rows]:
    """Least widths that grow with these powers of the number of modules; twice as many are tried, and half."""

    def rows(at: At) -> Rows:
        if at["part"] != "learned":
            return []
        needed = round(100 * at["modules"] ** (composed if at["taught"] == "composed" else apart))
        shared = {"reading": "tried", "metric": "r2", "stream": "trained", "threshold": 0.9}
        return [
            shared | {"width": width, "value": value}
            for width, value in ((needed // 2, 0.5), (needed, 0.95), (2 * needed, 0.97))
        ]

    return rows


def started(after: float, decoded: float) -> Callable[[At], Rows]:
    """Scores and decodability of a net that was written, and after training from it."""

    def rows(at: At) -> Rows:
        if at["part"] != "start":
            return []
        found: Rows = []
        for when, score in (("before", 0.97), ("after", after)):
            shared = {"stream": "held_out", "group": "", "metric": "r2", "when": when}
            found.append(shared | {"reading": "score", "layer": "", "value": score, "asked": True})
            found += [
                shared | {"reading": "decodability", "layer": layer, "value": value}
                for layer, value in (("layer1", 1.0), ("layer2", decoded))
            ]
        return found

    return rows


PLANTED: dict[str, dict[str, tuple]] = {
    "linear-size": {
        "error-below-bound": (written(), written(of_bound=lambda at: 2.0)),
        "error-falls-with-pieces-squared": (
            written(rms=lambda at: 1e3 / at["pieces"] ** 2),
            written(rms=lambda at: 1e3 / at["pieces"]),
        ),
        "units-at-most-linear": (written(), written(units=lambda at: 10.0 * at["modules"] ** 2)),
        "twins-agree-inside-blocks": (twins(-0.1, 0.9), twins(0.4, 0.9)),
        "twins-differ-across-blocks": (twins(0.0, 0.9), twins(0.0, 0.1)),
        "learned-width-at-most-linear": (widths(0.5, 1.5), widths(1.5, 2.0)),
        "learned-width-below-lookup": (widths(0.5, 1.5), widths(1.0, 1.0)),
        "training-stays": (started(0.97, 0.1), started(0.8, 0.1)),
        "decodable-where-written": (started(0.97, 0.98), started(0.97, 0.1)),
    }
}
