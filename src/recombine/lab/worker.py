"""A worker process: cells in on stdin, events out on stdout, one JSON object a line. No pickle, no code."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO


def serve(inlet: TextIO, emit: Any) -> None:
    """Computes cells until stdin ends."""
    from ..errors import describe
    from ..studies import registry
    from .cells import Cell
    from .study import Context

    emit({"event": "ready"})
    for line in inlet:
        order = json.loads(line)
        cell = Cell.from_json(order["cell"])
        checkpoint = Path(order["checkpoint"]) if order.get("checkpoint") else None

        def progress(share: float, note: str, cell: Cell = cell) -> None:
            emit({"event": "progress", "cell": cell.id, "share": share, "note": note})

        try:
            record = registry[cell.study].compute(cell, Context(progress, checkpoint))
            emit({"event": "done", "cell": cell.id, "record": record.to_bytes().decode()})
        except Exception as problem:  # a cell that fails must not take the study with it
            emit({"event": "failed", "cell": cell.id, "error": describe(problem), "traceback": traceback.format_exc()})


def main() -> None:
    # Whatever a library prints goes to stderr: stdout carries events only.
    outlet = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def emit(event: dict[str, Any]) -> None:
        outlet.write(json.dumps(event) + "\n")

    try:
        with outlet:
            serve(sys.stdin, emit)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(1)  # the driver is gone or is stopping


if __name__ == "__main__":
    main()
