"""Worlds in which each claim of cogs holds, and in which it fails. Everywhere nets have learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
STRUCTURAL = ("obj_pp_to_subj_pp", "cp_recursion", "pp_recursion")


def right(**by_group: float) -> Callable[[At], list[dict[str, Any]]]:
    """So much is right of each group of held-out sentences; of those that are not named .3, and .99 as in training."""
    usual = {"in-distribution": 0.99, "generalization": 0.3, "lexical": 0.35, "structural": 0.0}
    usual |= dict.fromkeys(STRUCTURAL, 0.0)
    named = {name.replace("in_distribution", "in-distribution"): value for name, value in by_group.items()}

    def rows(at: At) -> list[dict[str, Any]]:
        return [
            _score("test", "", 0.99),
            *(_score("held_out", group, value) for group, value in (usual | named).items()),
        ]

    return rows


def _score(stream: str, group: str, value: float) -> dict[str, Any]:
    shared = {"reading": "score", "layer": "", "metric": "exact", "step": 1}
    return shared | {"stream": stream, "group": group, "value": value, "asked": group == "generalization"}


def only_for(net: str, one: dict[str, float], others: dict[str, float]) -> Callable[[At], list[dict[str, Any]]]:
    return lambda at: right(**(one if at["net"] == net else others))(at)


RELATIVE = "transformer, relative"
PLANTED: dict[str, dict[str, tuple]] = {
    "cogs": {
        "in-distribution": (right(), right(in_distribution=0.8)),
        # a tuned net that composes does not refute what is said of plain ones
        "generalization": (
            only_for(RELATIVE, {"generalization": 0.9}, {"generalization": 0.3}),
            only_for("lstm, attention", {"generalization": 0.8}, {"generalization": 0.2}),
            "night",
        ),
        # one case that is understood is enough to refute
        "structural": (right(), right(cp_recursion=0.4)),
        "lexical-is-easier": (right(lexical=0.4, structural=0.02), right(lexical=0.4, structural=0.4)),
        "relative-positions-help": (
            only_for(RELATIVE, {"generalization": 0.81}, {"generalization": 0.3}),
            only_for(RELATIVE, {"generalization": 0.3}, {"generalization": 0.81}),
            "night",
        ),
    }
}
