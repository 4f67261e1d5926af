"""What an engine is: it takes cells from a queue, has them computed somewhere, and tells what happens."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ....errors import UserError, require_number
from ....registry import Registry
from ...cells import Cell
from ...record import DamagedRecord, Record
from ...study import Study
from ..queue import Queue
from ..stop import Stop

#: What an engine tells, in the thread that called `compute`, as (event, cell, payload):
#:   started   None
#:   progress  (share, note)
#:   done      Record
#:   failed    (error in one line, traceback or "")
#:   lost      why: its worker is gone through no fault of the cell; it was put back into the queue
#: A cell that was started ends with one of the last three.
Listener = Callable[[str, Cell, Any], None]


@dataclass(frozen=True)
class Limits:
    """What one cell may take: seconds, and bytes of memory of its worker. None is no limit."""

    seconds: float | int | None = None
    memory: int | None = None

    def __post_init__(self):
        for name, value in (("cell-timeout", self.seconds), ("cell-memory", self.memory)):
            if value is not None:
                require_number(name, value, above=0)

    @property
    def any(self) -> bool:
        return self.seconds is not None or self.memory is not None


@runtime_checkable
class Engine(Protocol):
    """Computes what a queue gives.

    `compute` calls `cells.take(worker)` whenever a worker is free, until it gives None, and returns when nothing runs
    any more. The queue gives nothing once `stop` was asked. Stop at once is an exception (`Interrupted`) in the main
    thread: leave nothing running behind (`finally`).
    A cell that fails, hangs, or takes its worker with it is told as failed and never ends the study.
    """

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None: ...

    def memory(self) -> int | None:
        """Bytes that workers use now, if it is known."""
        ...


#: by name: makes an engine from what follows the colon ("" if nothing does) and from the limits
engines: Registry[Callable[[str, Limits], Engine]] = Registry("engine", plugins="recombine.engines")


def parse_engine(text: str, limits: Limits | None = None) -> Engine:
    """The engine that a word names, such as "inprocess", "local" or "local:N"."""
    name, _, argument = text.partition(":")
    if name not in engines or text.endswith(":"):
        raise no_engine(text)
    return engines[name](argument, limits or Limits())


def no_engine(text: str) -> UserError:
    """The error for an engine that is not there."""
    spelled = "; ".join(f"{name} ({engines.describe(name)})" for name in engines)
    return UserError(f"unknown engine {text!r}; there are: {spelled}")


def checkpoint_folder(checkpoints: Path | None, cell: Cell) -> Path | None:
    """Where a cell keeps its states."""
    return checkpoints / cell.id if checkpoints is not None else None


def outcome_of(cell: Cell, event: dict[str, Any]) -> tuple[str, Cell, Any]:
    """What the last event of a cell means for who listens."""
    if event["event"] == "failed":
        return "failed", cell, (event["error"], event["traceback"])
    try:
        record = Record.from_bytes(event["record"].encode())
    except DamagedRecord as problem:
        return "failed", cell, (f"its process gave a record that cannot be kept: {problem}", "")
    if record.cell != cell:
        return "failed", cell, ("its process gave the record of another cell", "")
    return "done", cell, record


def resident(pid: int) -> int | None:
    """Bytes of memory that a process uses; None if it is gone or the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return None
    except (OSError, IndexError):
        return None
    try:
        printed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, timeout=5).stdout
        return int(printed) * 1024
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
