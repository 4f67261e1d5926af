"""Controls that any study can have, beside the worlds in which its claims are false by construction.

same-arms         what varies is recorded and not applied: every cell is the first one, with nets of its own
unrelated         every score is replaced by chance, of each stream by its own: nothing that is read beside it can have
                  to do with it
unrelated:AXIS    the same, but scores rise along one axis, from nearly 0 at its first value to nearly 1 at its last:
                  what takes a score that is reached somewhere on that axis can be read, and nothing else that varies
                  can have to do with it. The wrong-code baseline is 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import unknown
from .cells import Cell
from .paths import Tree

SAME_ARMS = "same-arms"
UNRELATED = "unrelated"
CHANCE = 0.2  # share of a score that rises which is by lot
ERROR = 0.05  # that some claim of a run comes out supported in its control by chance, over all of them together


def require_control(control: str, axes: Iterable[str]) -> None:
    """Refuses a control that no study can have; one that did nothing would be the world in which a claim may hold."""
    known = ["", SAME_ARMS, UNRELATED, *(f"{UNRELATED}:{axis}" for axis in axes)]
    if control not in known:
        raise unknown("control", control, known[1:])


def marks_of(control: str, at: Tree, values: Mapping[str, list[Any]]) -> dict[str, Any]:
    """What stands in a cell of a control beside its trial.

    at: where the cell is on each axis; values: those of each axis.
    """
    if not control:
        return {}
    axis = control.partition(":")[2]
    if not axis:
        return {"control": control}
    along = values[axis]
    place = along.index(at[axis]) if axis in at else 0
    return {"control": control, "risen": place / max(len(along) - 1, 1)}


def scores_by_chance(rows: list[dict[str, Any]], cell: Cell) -> list[dict[str, Any]]:
    """Rows with a number by lot, the same for all scores of a cell and a stream, where a score was."""
    if not str(cell.spec.get("control", "")).startswith(UNRELATED):
        return rows
    return [
        row | {"value": _score(cell, str(row.get("stream", "")))} if row.get("reading") == "score" else row
        for row in rows
    ]


def _score(cell: Cell, stream: str) -> float:
    risen = cell.spec.get("risen")
    if risen is None:
        return _lot(cell, stream)
    return 0.0 if stream == "blind" else (1 - CHANCE) * risen + CHANCE * _lot(cell, stream)


def _lot(cell: Cell, stream: str) -> float:
    """A number from 0 to 1, by cell and stream."""
    return int.from_bytes(hashlib.sha256(f"{cell.id}/{stream}".encode()).digest()[:6], "big") / 2**48
