"""In this process, one cell after the other. Works for studies that are not in the registry, too."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from ....context import Context
from ....errors import UserError, describe
from ...cells import Cell
from ...study import Study
from ..queue import Queue
from ..stop import Stop
from .base import Engine, Limits, Listener, checkpoint_folder, engines, no_engine, resident


@engines.register("inprocess")
def in_process(argument: str, limits: Limits) -> Engine:
    """one cell after the other, here"""
    if argument:
        raise no_engine(f"inprocess:{argument}")
    if limits.any:
        raise UserError("limits of a cell need processes that can be ended; --engine local:1 has one")
    return InProcess()


class InProcess:
    """One cell after the other, here."""

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None:
        while (cell := cells.take()) is not None:
            tell("started", cell, None)

            def progress(share: float, note: str, cell: Cell = cell) -> None:
                tell("progress", cell, (share, note))

            try:
                record = study.compute(cell, Context(progress, checkpoint_folder(checkpoints, cell)))
            except Exception as problem:
                tell("failed", cell, (describe(problem), traceback.format_exc()))
                continue
            tell("done", cell, record)

    def memory(self) -> int | None:
        return resident(os.getpid())
