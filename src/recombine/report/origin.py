"""Where a result comes from: how much of it was run, by which versions, and the command that makes it again."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UserError
from ..lab.cells import canonical
from ..lab.run import Result
from ..lab.store import Failure, Record


@dataclass(frozen=True)
class Extent:
    """How much of a study is there."""

    done: int
    total: int
    failed: int
    damaged: int
    seeds: int

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


def extent(result: Result) -> Extent:
    """Counts cells against the grid of the study."""
    seeds = seeds_asked(result)
    done = {record.cell.id for record in result.records}
    failed = {failure.cell.id for failure in result.failures}
    wanted = result.wanted | done | failed
    lost = wanted - done - failed
    damaged = 0
    if result.store is not None:
        damaged = sum(result.store.was_damaged(cell) for cell in lost)
    return Extent(len(done), max(len(wanted), len(done)), len(failed), damaged, seeds)


def seeds_asked(result: Result) -> int:
    """How many seeds the study was asked for."""
    asked = result.store.about.get("seeds") if result.store is not None else None
    if isinstance(asked, int) and asked > 0:
        return asked
    cells = [record.cell for record in result.records] + [failure.cell for failure in result.failures]
    seeds = [cell.spec["seed"] for cell in cells if isinstance(cell.spec.get("seed"), int)]
    return max(seeds) + 1 if seeds else 0


def setups(records: Sequence[Record]) -> list[Setup]:
    """Distinct versions and hardware, the most used first."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(canonical(record.provenance), []).append(record)
    groups = sorted(found.values(), key=len, reverse=True)
    return [Setup(group[0].provenance, len(group)) for group in groups]


def content(records: Sequence[Record]) -> str:
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


def changed(result: Result) -> dict[str, Any]:
    """Settings that differ from the scale's own."""
    try:
        default = result.study.settings(result.scale)
    except UserError:
        return {}
    return {name: value for name, value in result.settings.items() if name not in default or default[name] != value}


def seconds(result: Result) -> float | None:
    """How long all cells together took; None where no record says."""
    found = [record.facts.get("seconds") for record in result.records]
    known = [float(value) for value in found if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return sum(known) if known else None


def traceback_of(failure: Failure) -> str:
    """Where a cell failed, without the folders of the machine: these are nobody's business who reads the page."""
    return re.sub(
        r'(?<=File ")[^"]+(?=")', lambda found: "/".join(re.split(r"[\\/]", found[0])[-3:]), failure.traceback
    )


def command(result: Result) -> str:
    """What to type to make the same result."""
    words = ["recombine", "run", result.study.id, "--scale", result.scale]
    if seeds := seeds_asked(result):
        words += ["--seeds", str(seeds)]
    if changes := changed(result):
        words += ["--set", *(f"{name}={spell(value)}" for name, value in changes.items())]
    return shlex.join(words)


def spell(value: Any) -> str:
    """A setting as it is written on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(spell(item) for item in value)
    return str(value)
