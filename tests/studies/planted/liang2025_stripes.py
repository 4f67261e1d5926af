"""Worlds in which each claim of `stripes` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Number = Callable[[At], float]


def drawn(error: Number = lambda at: 1.0, localized: Number = lambda at: 0.5) -> Callable[[At], list[dict[str, Any]]]:
    """Held-out error and share in place by cell."""

    def rows(at: At) -> list[dict[str, Any]]:
        shared = {"reading": "score", "stream": "held_out", "group": "", "layer": "", "step": 1, "asked": True}
        values = {"error": error(at), "localized": localized(at)}
        return [shared | {"metric": metric, "value": value} for metric, value in values.items()]

    return rows


def with_stripes(all_of_them: float, fewer: float) -> Number:
    return lambda at: all_of_them if at["stripes"] == 24 else fewer


def masked(yes: float, no: float) -> Number:
    return lambda at: yes if at["variant"] == "masked" else no


def with_bumps(ten: float, others: float) -> Number:
    return lambda at: ten if at["bumps"] == 10 else others


PLANTED = {
    "stripes": {
        # the best net decides
        "stripes-cure": (
            drawn(error=lambda at: 0.05 if at["net"] == "cnn-decoder" else 1.0),
            drawn(error=lambda at: 0.3),
        ),
        "stripes-lower-the-error": (drawn(error=with_stripes(0.2, 1.0)), drawn(error=with_stripes(0.8, 1.0))),
        "stripes-teach-where": (drawn(localized=with_stripes(0.9, 0.1)), drawn(localized=with_stripes(0.3, 0.1))),
        "ink-is-needed": (drawn(localized=masked(0.2, 0.9)), drawn(localized=masked(0.8, 0.9))),
        "few-bumps-suffice": (drawn(localized=with_bumps(0.8, 0.2)), drawn(localized=with_bumps(0.3, 0.9))),
    }
}
