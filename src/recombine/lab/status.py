"""How far a store is: read from what lies there, without disturbing who is at work."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import UserError
from .driver.locks import Watch
from .driver.run_progress import in_words
from .reopening import Place, Run, run_at
from .store import Store
from .study import Study

SHOWN = 10  # failures that are told one by one


@dataclass(frozen=True)
class Status:
    """Counts of cells; rate and estimate if a driver is at work."""

    place: str
    study: str
    scale: str
    total: int | None  # None: this version does not know the study
    done: int
    running: list[str]
    failed: int
    left: int | None
    drivers: int
    rate: float | None  # cells per second
    seconds_left: float | None
    memory: int | None
    errors: list[str]  # of failed cells, the first few

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """Everything that changes, in one line."""
        of = f" of {self.total}" if self.total is not None else ""
        counts = [f"{self.done}{of} done", f"{len(self.running)} running", f"{self.failed} failed"]
        counts += [f"{self.left} left"] if self.left is not None else []
        return ", ".join(counts + ([words] if (words := self._rate_words()) else []))

    def __str__(self) -> str:
        lines = [f"{self.study}, {self.scale} scale, {self.place}", self.line()]
        lines += [f"running: {label}" for label in self.running]
        lines += [f"failed: {error}" for error in self.errors]
        if self.failed > len(self.errors):
            lines.append(f"failed: {self.failed - len(self.errors)} more")
        if not self.drivers and (self.left or self.failed):
            command = shlex.join(["recombine", "retry", self.place, "--all"])
            lines.append(f"nobody is at work here; `{command}` computes what is missing")
        return "\n".join(lines)

    def _rate_words(self) -> str:
        return in_words(self.rate, self.seconds_left, self.memory)


def status_of(place: Place, studies: Mapping[str, Study], watch: Watch | None = None) -> Status:
    """How far the store at `place` is. `watch` remembers drivers on other machines between two calls."""
    store = Store.open(place)
    watch = watch or Watch(store.files)
    try:
        drivers = list(watch.drivers().values())
        done, failed = store.done(), store.failed()
    except OSError as problem:
        raise UserError(f"{store.place} cannot be read: {problem.strerror}") from None
    try:
        run = run_at(store.files, studies)
        wanted = {cell.id for cell in run.cells}
        done, failed = done & wanted, failed & wanted
    except UserError:  # another version of the study, or none of ours: what lies there can be counted all the same
        run = None
    failed -= done
    total = len(run.cells) if run else next((said["total"] for said in drivers if "total" in said), None)
    running = [label for said in drivers for label in said.get("running", [])]
    left = max(0, total - len(done) - len(failed) - len(running)) if total is not None else None
    rates = [said["rate"] for said in drivers if said.get("rate")]
    rate = sum(rates) if rates else None
    if len(drivers) == 1:
        seconds_left = drivers[0].get("seconds_left")
    else:
        seconds_left = (left + len(running)) / rate if rate and left is not None else None
    memory = [said["memory"] for said in drivers if said.get("memory")]
    return Status(
        store.place,
        str(store.about.get("study")),
        str(store.about.get("scale")),
        total,
        len(done),
        running,
        len(failed),
        left,
        len(drivers),
        rate,
        seconds_left,
        sum(memory) if memory else None,
        _errors(store, run, failed) if run else [],
    )


def _errors(store: Store, run: Run, failed: set[str]) -> list[str]:
    cells = [cell for cell in run.cells if cell.id in failed][:SHOWN]
    found = [(cell, store.failure(cell)) for cell in cells]
    return [f"{run.study.label(cell.spec)}: {failure.error}" for cell, failure in found if failure is not None]
