"""A worker process: cells in on stdin, events out on stdout, one JSON object per line. No pickle, no code.

`main` serves some studies, or one of the user's own, until stdin ends, or the driver's process does; who knows the
studies calls it (`python -m recombine.studies.study_worker DRIVER [STUDY]`).
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from ...errors import describe
from ..cells import Cell
from ..study import Study

Emit = Callable[[dict[str, Any]], None]
PR_SET_PDEATHSIG = 1


def serve(studies: Mapping[str, Study], orders: queue.SimpleQueue[dict | None], emit: Emit) -> None:
    """Computes cells until there are no more orders."""
    emit({"event": "ready"})
    while (order := orders.get()) is not None:
        if order.get("about"):
            from ..provenance import about

            emit({"event": "about", "facts": about()})
            order["over"].set()
            continue
        cell = Cell.from_json(order["cell"])
        checkpoint = Path(order["checkpoint"]) if order.get("checkpoint") else None

        def progress(share: float, note: str, cell: Cell = cell) -> None:
            emit({"event": "progress", "cell": cell.id, "share": share, "note": note})

        try:
            from ...context import Context

            record = studies[cell.study].compute(cell, Context(progress, checkpoint))
            emit({"event": "done", "cell": cell.id, "record": record.to_bytes().decode()})
        except Exception as problem:  # a cell that fails must not take the study with it
            emit({"event": "failed", "cell": cell.id, "error": describe(problem), "traceback": traceback.format_exc()})
        order["over"].set()


def listen(inlet: TextIO, orders: queue.SimpleQueue[dict | None]) -> None:
    """Passes orders on. The driver closes the pipe between cells: if it ends within one, the driver is gone."""
    last = None
    for line in inlet:
        last = json.loads(line) | {"over": threading.Event()}
        orders.put(last)
    if last is not None and not last["over"].wait(GRACE):
        os._exit(1)
    orders.put(None)


GRACE = 0.2  # seconds between the last word of a cell and its end in this process


def end_with(driver: int) -> None:
    """This process ends when its driver does, even within a cell that never lets another thread run (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != driver:  # it went before we asked
        os._exit(1)


def main(studies: Mapping[str, Study]) -> None:
    """A worker for these studies; its driver's process id is the first argument, a study of the user's own a second."""
    end_with(int(sys.argv[1]))
    # Whatever a library prints goes to stderr: stdout carries events only.
    outlet = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def emit(event: dict[str, Any]) -> None:
        outlet.write(json.dumps(event) + "\n")

    if len(sys.argv) > 2:
        from ..own import from_argument

        study = from_argument(sys.argv[2])
        studies = {study.id: study}

    orders: queue.SimpleQueue[dict | None] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(sys.stdin, orders), daemon=True).start()
    try:
        with outlet:
            serve(studies, orders, emit)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(1)  # the driver is gone or is stopping
