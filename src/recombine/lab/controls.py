"""Controls that any study can have, beside the worlds in which its claims are false by construction.

same-arms         what varies is recorded and not applied: every cell is the first one, with nets of its own
same-arms:AXIS    the same along one axis: every cell has the first value on it, and what it has on the others
unrelated         every score is replaced by chance, of each stream by its own: nothing that is read beside it can have
                  to do with it
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import unknown
from .cells import Cell
from .paths import Tree

SAME_ARMS = "same-arms"
UNRELATED = "unrelated"
ERROR = 0.05  # that some claim of a run comes out supported in its control by chance, over all of them together


def require_control(control: str, axes: Iterable[str]) -> None:
    """Refuses a control that no study can have; one that did nothing would be the world in which a claim may hold."""
    known = ["", SAME_ARMS, UNRELATED, *(f"{SAME_ARMS}:{axis}" for axis in axes)]
    if control not in known:
        raise unknown("control", control, known[1:])


def same_tree(control: str, at: Tree, places: Sequence[tuple[Tree, Tree]]) -> Tree | None:
    """The settings that a cell of `same-arms` has instead of its own; None in no such control.

    at: where the cell is on each axis; places: of every cell of the grid where it is, and its settings.
    """
    name, _, axis = control.partition(":")
    if name != SAME_ARMS:
        return None
    if not axis:
        return places[0][1]

    def rest(place: Tree) -> Tree:
        return {one: value for one, value in place.items() if one != axis}

    return next(tree for place, tree in places if rest(place) == rest(at))


def scores_by_chance(rows: list[dict[str, Any]], cell: Cell) -> list[dict[str, Any]]:
    """Rows with a number by lot, the same for all scores of a cell and a stream, where a score was."""
    return [
        row | {"value": _lot(cell, str(row.get("stream", "")))} if row.get("reading") == "score" else row
        for row in rows
    ]


def _lot(cell: Cell, stream: str) -> float:
    """A number from 0 to 1, by cell and stream."""
    return int.from_bytes(hashlib.sha256(f"{cell.id}/{stream}".encode()).digest()[:6], "big") / 2**48
