"""Worlds in which each claim of `data-efficiency` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Need = Callable[[int], float]


def needs(with_stripes: Need, without: Need) -> Callable[[At], list[dict[str, Any]]]:
    """Tries of a cell where so many pictures are enough, by size."""

    def rows(at: At) -> list[dict[str, Any]]:
        need = round((with_stripes if at["with_stripes"] else without)(at["size"]))
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
PLANTED = {
    "data-efficiency": {
        "linear-with-stripes": (SAVING, needs(lambda n: n**2, lambda n: n**2)),
        "cubic-without-stripes": (needs(lambda n: 2 * n, lambda n: n**3 / 8), SAVING),
        "stripes-save-places": (SAVING, WASTING),
        "stripes-save-pixels": (SAVING, WASTING),
    }
}
