"""A session: one driver at work on one store. It locks cells, keeps what comes out, and waits for other drivers."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...files import LocalFiles, cannot_write
from ..cells import Cell
from ..record import Failure, Record
from ..store import Store
from .locks import Locks, Watch
from .record_writer import RecordWriter
from .run_progress import RunProgress
from .stop import Stop

LOOK_EVERY = 0.2  # seconds between looks at what another driver finished; longer where nothing happens
LOOK_SELDOM = 2.0


@dataclass
class Settled:
    """What became of cells that another driver had locked."""

    done: list[Cell] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    again: list[Cell] = field(default_factory=list)  # that driver is gone, and they are not done


class Session:
    """A context: locks are given back and everything is durable when it is left."""

    def __init__(self, store: Store, progress: RunProgress):
        self.store = store
        self.locks = Locks(store.files, progress.to_json)

    def __enter__(self) -> Session:
        try:
            self.locks.open()
        except OSError as problem:
            self.locks.close()
            raise cannot_write(f"{self.store.place}/drivers", problem) from problem
        self.writer = RecordWriter(self.store, self._kept)
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: object) -> None:
        try:
            if problem is None:
                self.writer.close()
            else:
                with contextlib.suppress(Exception):  # what is raised already says more
                    self.writer.close()
        finally:
            self.locks.close()
            with contextlib.suppress(OSError):
                self.locks.watch.clear_dead()  # drivers that died while we were at work
                set_aside_checkpoints(self.store)

    def lock(self, cell: Cell) -> bool:
        """Whether the cell is ours to compute."""
        self.writer.check()
        try:
            return self.locks.lock(cell)
        except OSError as problem:
            raise cannot_write(f"{self.store.place}/locks", problem) from problem

    def keep(self, outcome: Record | Failure) -> None:
        """Takes an outcome, which will be durable soon."""
        self.writer.keep(outcome)

    def _kept(self, cell: Cell) -> None:
        with contextlib.suppress(OSError):  # then it is cleared away later
            self.locks.release(cell)

    def settle(self, refused: Sequence[Cell], stop: Stop, done: Callable[[int], None]) -> Settled:
        """Waits for other drivers until nothing of theirs is left to wait for; or, asked to stop, no longer."""
        settled, waiting, pause = Settled(), list(refused), LOOK_EVERY
        owners = self.locks.refused_by
        while waiting and not settled.again and not stop.asked:
            still = []
            for cell in waiting:
                owner = self.locks.watch.owner(cell.id)  # before the record: what is finished in between is seen
                failure = self.store.failure(cell)
                if self.store.files.exists(f"records/{cell.id}.json"):
                    settled.done.append(cell)
                elif owner is not None:
                    owners[cell.id] = owner or owners.get(cell.id, "")
                    still.append(cell)
                elif failure is not None and failure.driver and failure.driver == owners.get(cell.id):
                    settled.failures.append(failure)
                else:
                    settled.again.append(cell)
            done(len(waiting) - len(still) - len(settled.again))
            pause = LOOK_EVERY if len(still) < len(waiting) else min(1.5 * pause, LOOK_SELDOM)
            waiting = still
            if waiting and not settled.again:
                time.sleep(pause)
        settled.again += waiting  # asked to stop, or to be tried together with those that are free
        return settled


def tidy_up(store: Store) -> None:
    """Clears away what dead processes left: half-written files, locks, and states of cells that cannot be used."""
    with contextlib.suppress(OSError):  # a folder that may only be read can still be judged
        store.files.sweep()
        Watch(store.files).clear_dead()
        set_aside_checkpoints(store)


def set_aside_checkpoints(store: Store) -> None:
    """States that a cell found to be damaged go to quarantine/, and folders without any go."""
    if not isinstance(store.files, LocalFiles):
        return
    for folder, _, names in os.walk(store.path / "checkpoints", topdown=False):
        for name in names:
            if name.endswith(".damaged"):
                parts = Path(folder, name).relative_to(store.path / "checkpoints").parts
                store.files.move("/".join(("checkpoints", *parts)), f"quarantine/{'-'.join(parts)}")
        with contextlib.suppress(OSError):  # it is not empty
            os.rmdir(folder)
