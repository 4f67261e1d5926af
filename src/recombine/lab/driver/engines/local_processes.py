"""Fresh processes on this machine (spawned, never forked), one thread each. Cells go in and come out as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from ....machine.processes import cores
from ...cells import Cell
from ...study import Study
from ..queue import Queue
from ..stop import Stop
from .base import Engine, Limits, Listener, checkpoint_folder, engines, no_engine, outcome_of, resident

WATCH_EVERY = 0.1  # seconds between looks at limits
#: workers that end before they could take a cell, one after the other, until the engine gives up
GIVE_UP = 3


@engines.register("local")
def local(argument: str, limits: Limits) -> Engine:
    """one process per core; local:N has N"""
    if argument and not (argument.isascii() and argument.isdecimal() and int(argument) > 0):
        raise no_engine(f"local:{argument}")
    return Local(int(argument) if argument else cores(), limits)


class Local:
    """N processes. One that dies fails its cell and is replaced."""

    def __init__(self, workers: int, limits: Limits):
        self.workers, self.limits = workers, limits
        self.pool: list[Worker] = []
        self.watched = 0.0

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None:
        events: queue.SimpleQueue[tuple[Worker, dict | None]] = queue.SimpleQueue()
        self.pool = [Worker(study, events) for _ in range(min(self.workers, len(cells)))]
        stillborn = 0
        try:
            while self.pool:
                self._watch()
                try:
                    worker, event = events.get(timeout=WATCH_EVERY)
                except queue.Empty:
                    continue
                if event is None:  # the process ended
                    code = worker.join()
                    self.pool.remove(worker)
                    cells.leave(worker)
                    if worker.cell is not None:
                        tell("failed", worker.cell, (worker.ended_for or _how_it_ended(code), ""))
                    stillborn = 0 if worker.ready else stillborn + 1
                    wanted = len(cells) and not stop.asked and stillborn < GIVE_UP
                    if wanted and (worker.cell is not None or not worker.ready):
                        self.pool.append(Worker(study, events))
                elif event["event"] == "progress":
                    tell("progress", worker.take(event), (event["share"], event["note"]))
                elif worker.ended_for is None:  # else: a last word of one that is being ended
                    worker.ready = True
                    over = worker.take(event) if event["event"] != "ready" else None
                    worker.cell = cells.take(worker)
                    if worker.cell is None:
                        worker.close()
                    else:  # before what came out is looked at: meanwhile it computes
                        worker.give(worker.cell, checkpoint_folder(checkpoints, worker.cell))
                    if over is not None:
                        tell(*outcome_of(over, event))
                    if worker.cell is not None:
                        tell("started", worker.cell, None)
            while stillborn >= GIVE_UP and (cell := cells.take()) is not None:
                tell("failed", cell, ("no worker process could be started", ""))
        finally:
            for worker in self.pool:
                worker.kill()
            for worker in self.pool:
                worker.join()
            self.pool = []

    def memory(self) -> int | None:
        known = [size for worker in self.pool if (size := resident(worker.process.pid)) is not None]
        return sum(known) if known else None

    def _watch(self) -> None:
        """Now and then: ends workers that are beyond a limit, and what workers that ended left running."""
        if time.monotonic() - self.watched < WATCH_EVERY:
            return
        self.watched = time.monotonic()
        for worker in self.pool:
            if worker.process.poll() is not None:
                if worker.reader.is_alive():  # a process that it started holds its pipe, or will not for long
                    worker.kill()
            elif worker.cell is not None and worker.ended_for is None:
                worker.end_if_beyond(self.limits)


def _how_it_ended(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process ended with code {code} ({signal.Signals(-code).name}) and no result"
    return f"its process ended with code {code} and no result"


class Worker:
    """One process and the thread that reads what it says."""

    def __init__(self, study: Study, events: queue.SimpleQueue):
        environment = os.environ | {
            name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        }
        self.cell: Cell | None = None
        self.begun = 0.0
        self.ready = False  # has said so once
        self.ended_for: str | None = None
        self.process = subprocess.Popen(
            # -P: files in this folder are not modules
            [sys.executable, "-P", "-m", study.worker, str(os.getpid()), *study.worker_arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the driver only, which then stops the workers
        )
        self.reader = threading.Thread(target=self._listen, args=(events,), daemon=True)
        self.reader.start()

    def _listen(self, events: queue.SimpleQueue) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # not an event: a half line of a dying process
            events.put((self, event))
        events.put((self, None))

    def take(self, event: dict) -> Cell:
        if self.cell is None or self.cell.id != event["cell"]:
            raise RuntimeError(f"a worker spoke of cell {event['cell']}, which it was not given")
        return self.cell

    def give(self, cell: Cell, checkpoint: Path | None) -> None:
        self.cell, self.begun = cell, time.monotonic()
        order = {"cell": cell.to_json(), "checkpoint": str(checkpoint) if checkpoint else None}
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died just now: its reader says so, and the cell fails there
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()

    def end_if_beyond(self, limits: Limits) -> None:
        """Ends the process if its cell takes too long or too much; `ended_for` says which."""
        if limits.seconds is not None and time.monotonic() - self.begun > limits.seconds:
            self.ended_for = f"it took longer than the limit of {limits.seconds:g} s"
        elif limits.memory is not None and (resident(self.process.pid) or 0) > limits.memory:
            self.ended_for = f"it took more memory than the limit of {limits.memory / 1e6:,.0f} MB"
        if self.ended_for:
            self.kill()

    def close(self) -> None:
        """No more cells: it ends by itself."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def kill(self) -> None:
        """Ends it and what it started."""
        with contextlib.suppress(OSError):  # they have ended
            os.killpg(self.process.pid, signal.SIGKILL)

    def join(self) -> int:
        """Waits until it has ended; its exit code."""
        code = self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()  # type: ignore[union-attr]
        return code
