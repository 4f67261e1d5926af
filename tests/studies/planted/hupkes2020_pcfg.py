"""Worlds in which each claim of pcfg holds, and in which it fails. Everywhere nets have learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Rows = list[dict[str, Any]]
USUAL = {"task": 0.9, "systematicity": 0.6, "productivity": 0.4}


def _row(reading: str, stream: str, group: str, metric: str, value: float, step: int = 10) -> dict[str, Any]:
    shared = {"reading": reading, "stream": stream, "group": group, "layer": "", "metric": metric, "step": step}
    return shared | {"value": value, "asked": reading == "score" and stream == "held_out"}


def world(
    by_test: dict[str, float] | None = None,
    consistent: dict[str, float] | None = None,
    by_rule: tuple[float, ...] = (0.3, 0.8, 0.1),
) -> Callable[[At], Rows]:
    """Right answers by test, consistency by kind ("equal" is substitutivity where synonyms are used), exceptions."""
    scores = USUAL | (by_test or {})
    alike = {"localism": 0.5, "substitutivity": 0.6, "equal": 0.95} | (consistent or {})

    def rows(at: At) -> Rows:
        test = at["test"]
        found = [
            _row("score", "test", "", "exact", 0.97),
            _row("score", "held_out", "", "exact", scores.get(test, 0.5)),
        ]
        if test == "task":
            found += [_row("consistency", "held_out", name, "consistent", alike[name]) for name in list(alike)[:2]]
        if test == "substitutivity, equal":
            found.append(_row("consistency", "held_out", "substitutivity", "consistent", alike["equal"]))
        if test == "overgeneralization":
            for step, value in enumerate(by_rule, start=1):
                found.append(_row("exceptions", "validation", "exceptions", "by_rule", value, step))
                found.append(_row("exceptions", "validation", "exceptions", "as_exception", 0.9, step))
        return found

    return rows


def only_for(net: str, one: Callable[[At], Rows], others: Callable[[At], Rows]) -> Callable[[At], Rows]:
    return lambda at: (one if at["net"] == net else others)(at)


#: nothing is lost beyond training
SAME = {"task": 0.9, "systematicity": 0.9, "productivity": 0.9}
PLANTED: dict[str, dict[str, tuple]] = {
    "pcfg": {
        "task": (world(), world({"task": 0.5})),
        "systematicity": (world(), world(SAME)),
        # one net that goes on is enough to refute
        "productivity": (world(), only_for("transformer", world(SAME), world())),
        "localism": (world(), world(consistent={"localism": 0.95})),
        "substitutivity": (world(), world(consistent={"substitutivity": 0.99})),
        "synonyms-by-use": (world(), world(consistent={"equal": 0.6}), "night"),
        # the peak decides, not the end
        "overgeneralizes": (world(), world(by_rule=(0.2, 0.3, 0.1)), "night"),
    }
}
