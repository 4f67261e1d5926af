"""Worlds in which each claim of `data-efficiency` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Need = Callable[[int], float]


def needs(with_stripes: Need, without: Need, samples: Need = lambda n: n) -> Callable[[At], list[dict[str, Any]]]:
    """Tries of a cell where so many pictures are enough, by size."""

    def rows(at: At) -> list[dict[str, Any]]:
        need_of = samples if at["centers"] == "real" else with_stripes if at["with_stripes"] else without
        need = round(need_of(at["size"]))
        tried = {"reading": "tried", "bumps": 1}
        enough, too_few, far_more = ({"pictures": n} for n in (need, need - 1, 10 * need))
        return [
            *(tried | enough | {"metric": metric, "value": v} for metric, v in (("localized", 0.9), ("error", 0.01))),
            *(tried | far_more | {"metric": metric, "value": v} for metric, v in (("localized", 0.9), ("error", 0.01))),
            *(tried | too_few | {"metric": metric, "value": v} for metric, v in (("localized", 0.1), ("error", 0.9))),
        ]

    return rows


SAVING = needs(lambda n: 2 * n, lambda n: 8 * n)
WASTING = needs(lambda n: 2 * n, lambda n: 2.4 * n)
SQUARED = needs(lambda n: n**2, lambda n: n**2)
PLANTED = {
    "data-efficiency": {
        "linear-for-pixels": (SAVING, SQUARED),
        "cubic-without-stripes": (
            needs(lambda n: 2 * n, lambda n: n, samples=lambda n: n**3 / 8),
            needs(lambda n: 2 * n, lambda n: n**3 / 8),
        ),
        "stripes-save-places": (SAVING, WASTING),
        "stripes-save-pixels": (SAVING, WASTING),
        "linear-with-stripes": (SAVING, SQUARED),
    }
}
