"""Engines: where cells are computed. In this process, or in a pool of processes of one thread each."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError, describe
from .cells import Cell
from .store import Record
from .study import Context, Study

#: what an engine tells: ("started" | "progress" | "done" | "failed", cell, payload)
Listener = Callable[[str, Cell, Any], None]


def parse_engine(text: str) -> Callable[..., None]:
    """The engine that a word names: "inprocess", "local" or "local:N"."""
    name, _, count = text.partition(":")
    if name == "inprocess" and not count:
        return run_in_process
    if name == "local" and (not count or (count.isdecimal() and int(count) > 0)):
        workers = int(count) if count else os.cpu_count() or 1
        return lambda *args: run_in_processes(*args, workers=workers)
    raise UserError(f"unknown engine {text!r}; 'local', 'local:N' (N processes) or 'inprocess' would do")


def run_in_process(study: Study, cells: Sequence[Cell], checkpoints: Path | None, tell: Listener) -> None:
    """One cell after the other, here. Works for studies that are not in the registry, too."""
    for cell in cells:
        tell("started", cell, None)

        def progress(share: float, note: str, cell: Cell = cell) -> None:
            tell("progress", cell, (share, note))

        try:
            record = study.compute(cell, Context(progress, _folder(checkpoints, cell)))
        except Exception as problem:
            tell("failed", cell, (describe(problem), traceback.format_exc()))
            continue
        tell("done", cell, record)


def run_in_processes(
    study: Study, cells: Sequence[Cell], checkpoints: Path | None, tell: Listener, *, workers: int
) -> None:
    """A pool of fresh processes (spawned, never forked), one thread each. Events reach `tell` in this thread."""
    waiting = deque(cells)
    events: queue.Queue[tuple[_Worker, dict | None]] = queue.Queue()
    pool = [_Worker(events) for _ in range(min(workers, len(cells)))]
    try:
        running = len(pool)
        while running:
            worker, event = events.get()
            if event is None:  # the process ended
                code = worker.process.wait()
                if worker.cell is not None:
                    tell("failed", worker.cell, (f"its process ended with code {code} and no result", ""))
                    if waiting:
                        pool.append(_Worker(events))
                        running += 1
                running -= 1
            elif event["event"] == "progress":
                tell("progress", worker.take(event), (event["share"], event["note"]))
            else:
                if event["event"] == "done":
                    tell("done", worker.take(event), Record.from_bytes(event["record"].encode()))
                elif event["event"] == "failed":
                    tell("failed", worker.take(event), (event["error"], event["traceback"]))
                worker.cell = None
                if waiting:
                    cell = waiting.popleft()
                    worker.give(cell, _folder(checkpoints, cell))
                    tell("started", cell, None)
                else:
                    worker.close()
        for cell in waiting:  # every process ended before it could take another cell
            tell("failed", cell, ("no worker process could be started", ""))
    finally:
        for worker in pool:
            worker.kill()


class _Worker:
    """One process and the thread that reads what it says."""

    def __init__(self, events: queue.Queue):
        environment = os.environ | {
            name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        }
        self.cell: Cell | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "recombine.lab.worker"],  # -P: files in this folder are not modules
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            start_new_session=True,  # Ctrl-C reaches the driver only, which then stops the workers
        )  # fmt: skip
        self.reader = threading.Thread(target=self._listen, args=(events,), daemon=True)
        self.reader.start()

    def _listen(self, events: queue.Queue) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                events.put((self, json.loads(line)))
            except ValueError:
                continue  # not an event: a half line of a dying process
        events.put((self, None))

    def take(self, event: dict) -> Cell:
        if self.cell is None or self.cell.id != event["cell"]:
            raise RuntimeError(f"a worker spoke of cell {event['cell']}, which it was not given")
        return self.cell

    def give(self, cell: Cell, checkpoint: Path | None) -> None:
        self.cell = cell
        order = {"cell": cell.to_json(), "checkpoint": str(checkpoint) if checkpoint else None}
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died just now: its reader says so, and the cell fails there
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        self.process.kill()  # harmless if it has ended
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()  # type: ignore[union-attr]


def _folder(checkpoints: Path | None, cell: Cell) -> Path | None:
    return checkpoints / cell.id if checkpoints is not None else None
