"""Controls that any study can have, beside the worlds in which its claims are false by construction.

same-arms    what varies is recorded and not applied: every cell is the first one, with nets of its own
unrelated    every score is replaced by chance, of each stream by its own: nothing that is read beside it can have to
             do with it
"""

from __future__ import annotations

import hashlib
from typing import Any

from .cells import Cell

SAME_ARMS = "same-arms"
UNRELATED = "unrelated"
ERROR = 0.05  # that some claim of a run comes out supported in its control by chance, over all of them together


def scores_by_chance(rows: list[dict[str, Any]], cell: Cell) -> list[dict[str, Any]]:
    """Rows with a number by lot, the same for all scores of a cell and a stream, where a score was."""
    return [
        row | {"value": _lot(cell, str(row.get("stream", "")))} if row.get("reading") == "score" else row
        for row in rows
    ]


def _lot(cell: Cell, stream: str) -> float:
    """A number from 0 to 1, by cell and stream."""
    return int.from_bytes(hashlib.sha256(f"{cell.id}/{stream}".encode()).digest()[:6], "big") / 2**48
