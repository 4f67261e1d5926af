"""How much of a run is there, and which machines made it: counts over its records."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .cells import canonical
from .record import Record


@dataclass(frozen=True)
class Extent:
    """How much of a study is there.

    Args:
        done: cells with a whole record.
        total: cells of its grid.
        failed: cells that gave no record, and say why.
        damaged: cells whose record cannot be trusted.
        seeds: how many were asked for, of every cell.
        most_seeds: how many some cells have, where claims were fed more; else 0.

    Example:
        >>> Extent(done=4, total=6, failed=1, damaged=0, seeds=3).absent
        1
    """

    done: int
    total: int
    failed: int
    damaged: int
    seeds: int
    most_seeds: int = 0

    @property
    def seeds_in_words(self) -> str:
        """How many seeds there are."""
        words = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"
        return f"{words}, some cells {self.most_seeds}" if self.most_seeds > self.seeds else words

    @property
    def complete(self) -> bool:
        return self.done >= self.total

    @property
    def absent(self) -> int:
        """Cells that were not run, or not yet."""
        return max(0, self.total - self.done - self.failed - self.damaged)


@dataclass(frozen=True)
class Setup:
    """One combination of versions and hardware, and how many records it made."""

    facts: dict[str, str]
    records: int


def setups_of(records: Sequence[Record]) -> list[Setup]:
    """Distinct versions and hardware, the most used first."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(canonical(record.provenance), []).append(record)
    groups = sorted(found.values(), key=len, reverse=True)
    return [Setup(group[0].provenance, len(group)) for group in groups]


def content_of(records: Sequence[Record]) -> str:
    """Hash of what was measured, not of when or where: the same readings of the same cells have the same one."""
    if not records:
        return ""
    digest = hashlib.sha256()
    for record in sorted(records, key=lambda record: record.cell.id):
        digest.update(f"{record.cell.id} {canonical([_spelled(row) for row in record.rows])}\n".encode())
    return digest.hexdigest()


def _spelled(row: dict[str, Any]) -> dict[str, Any]:
    """A reading as records spell it: JSON has no NaN."""
    return {name: repr(value) if isinstance(value, float) else value for name, value in row.items()}
