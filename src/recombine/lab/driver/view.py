"""The one live view of a run, whatever the engine: bars on a terminal, plain lines on a pipe. Always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ...labels import visible
from ..cells import Cell
from ..study import Study
from .engines import Listener
from .run_progress import RunProgress, in_words

LINE_EVERY = 1.0  # seconds; where cells finish faster than anyone reads, their lines are put together
DRAW_EVERY = 0.2
FAST = 0.05  # seconds per cell


@contextlib.contextmanager
def shown(study: Study, progress: RunProgress, quiet: bool) -> Iterator[Listener]:
    """What is called with every event while the block runs."""
    if quiet:
        yield lambda event, cell, payload: None
        return
    console = Console(stderr=True)
    if progress.done:
        console.print(f"{progress.done} of {progress.total} cells were done before", highlight=False)
    if not sys.stderr.isatty():
        lines = Lines(study, progress)
        yield lines.show
        lines.rest()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console) as bars:
        yield Bars(study, progress, bars).show


class Bars:
    """A bar over all, one for each cell that runs, and the last error in a line of its own."""

    def __init__(self, study: Study, progress: RunProgress, bars: Progress):
        self.study, self.progress, self.bars = study, progress, bars
        self.overall = bars.add_task(study.id, total=progress.total, completed=progress.done, note="")
        self.lines: dict[str, TaskID] = {}
        self.error: TaskID | None = None
        self.drawn = 0.0

    def show(self, event: str, cell: Cell, payload: Any) -> None:
        if event == "started":
            self.lines[cell.id] = self.bars.add_task(f"  {self.study.label(cell.spec)}", total=100, note="")
        elif event == "progress":
            self.bars.update(self.lines[cell.id], completed=100 * payload[0], note=payload[1])
        else:
            self.bars.remove_task(self.lines.pop(cell.id))
            if event != "lost":
                self.bars.console.print(visible(line(self.study, event, cell, payload)), markup=False, highlight=False)
        if event == "failed":
            if self.error is not None:
                self.bars.remove_task(self.error)
            self.error = self.bars.add_task("  last error", total=None, note=self.progress.last_error)
        if time.monotonic() - self.drawn > DRAW_EVERY or not self.progress.left:
            self.drawn = time.monotonic()
            note = in_words(self.progress.rate, self.progress.seconds_left, self.progress.memory())
            self.bars.update(self.overall, completed=self.progress.done + self.progress.failed, note=note)


class Lines:
    """One line per cell; one line per second where they finish faster than that. Every failure has its line."""

    def __init__(self, study: Study, progress: RunProgress):
        self.study, self.progress = study, progress
        self.printed = time.monotonic() - LINE_EVERY
        self.finished = 0
        self.silent = 0

    def show(self, event: str, cell: Cell, payload: Any) -> None:
        if event not in ("done", "failed"):
            return
        self.finished += 1
        fast = self.finished > 20 and (self.progress.rate or 0.0) > 1 / FAST
        if event == "failed" or not fast:
            self.rest()
            self._print(line(self.study, event, cell, payload))
            return
        self.silent += 1
        if time.monotonic() - self.printed > LINE_EVERY:
            self.rest()

    def rest(self) -> None:
        """The cells that finished without a line of their own."""
        if self.silent:
            words = in_words(self.progress.rate, self.progress.seconds_left, self.progress.memory())
            cells = f"{self.silent} cells" if self.silent > 1 else "1 cell"
            self.silent = 0
            self._print(f"{cells}, {words}")

    def _print(self, text: str) -> None:
        self.printed = time.monotonic()
        print(
            f"[{self.progress.done + self.progress.failed}/{self.progress.total}] {visible(text)}",
            file=sys.stderr,
            flush=True,
        )


def line(study: Study, event: str, cell: Cell, payload: Any) -> str:
    """A cell that finished, in one line."""
    text = study.summary(payload) if event == "done" else f"FAILED {payload[0]}"
    return f"{study.label(cell.spec)}: {text}" if text else f"{study.label(cell.spec)}: done"
