"""Running a study: find what is done, compute the rest, judge."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..errors import UserError, require_int
from ..intervals import Interval
from .cells import Cell, canonical
from .engines import Limits, Listener, parse_engine
from .queue import Queue
from .stop import Interrupted, Stop, heeding
from .store import Record, Store, Table, peek, tidy
from .study import DEFAULT_SEEDS, SCALES, Study
from .verdicts import Question, Verdict, answer, judge


@dataclass(frozen=True)
class Failure:
    """A cell that gave no record."""

    cell: Cell
    error: str
    traceback: str


@dataclass(frozen=True)
class Result:
    """A study that was run: records, verdicts, and what failed."""

    study: Study
    scale: str
    settings: dict[str, Any]
    records: list[Record]
    table: Table
    verdicts: list[Verdict]
    answers: list[tuple[Question, Interval, dict[int, float]]]
    failures: list[Failure]
    store: Store | None

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.study.id,
            "scale": self.scale,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "out": str(self.store.path) if self.store else None,
        }


def default_folder(study: Study, scale: str, changes: dict[str, Any]) -> Path:
    """runs/STUDY-SCALE, with a short hash where settings were changed."""
    tail = f"-{hashlib.sha256(canonical(changes).encode()).hexdigest()[:6]}" if changes else ""
    return Path("runs") / f"{study.id}-{scale}{tail}"


def run_study(
    study: Study,
    scale: str = "laptop",
    *,
    seeds: int = DEFAULT_SEEDS,
    changes: dict[str, Any] | None = None,
    out: Path | None = None,
    engine: str = "inprocess",
    limits: Limits | None = None,
    quiet: bool = False,
) -> Result:
    """Runs what is missing and judges. `out=None` keeps nothing. The same call continues where it stopped.

    Raises `Interrupted` (a KeyboardInterrupt) if it was asked to stop before everything was run.
    """
    chosen, stop = parse_engine(engine, limits), Stop()
    settings, cells, store = prepare(study, scale, seeds, changes, out)
    found = {cell.id: record for cell in cells if store and (record := store.get(cell) or _borrow(study, cell, store))}
    missing = [cell for cell in cells if cell.id not in found]
    failures: list[Failure] = []
    with _shown(study, len(cells), len(found), quiet) as show:

        def tell(event: str, cell: Cell, payload: Any) -> None:
            if event == "done":
                if store:
                    store.put(payload)
                found[cell.id] = payload
            elif event == "failed":
                failures.append(Failure(cell, *payload))
            show(event, cell, payload)

        if missing:
            queue = Queue(study, missing, stop)
            with heeding(stop, quiet):
                chosen.compute(study, queue, store.path / "checkpoints" if store else None, tell, stop)
            if stop.signal is not None and len(queue):
                raise Interrupted(stop.signal)
    records = [found[cell.id] for cell in cells if cell.id in found]
    return conclude(study, scale, settings, records, failures, store)


def prepare(
    study: Study, scale: str, seeds: int, changes: dict[str, Any] | None, out: Path | None
) -> tuple[dict[str, Any], list[Cell], Store | None]:
    """Settings, cells and store of a run; refuses here what cannot be run, or continued where it is to be kept."""
    settings = study.settings(scale, changes)
    cells = study.cells(settings, seeds)
    if out is None:
        return settings, cells, None
    about = {"study": study.id, "version": study.version, "scale": scale, "settings": settings, "seeds": seeds}
    return settings, cells, Store.create(out, about)


def _borrow(study: Study, cell: Cell, store: Store) -> Record | None:
    """What another study measured already, kept here under the name of this cell."""
    lent = study.lender(cell)
    if lent is None:
        return None
    other, folder = lent
    record = peek(store.path.parent / folder, other)
    if record is None:
        return None
    record = Record(cell, record.rows, record.facts | {"lent_by": f"{folder}/{other.id}"}, record.provenance)
    store.put(record)
    return record


def conclude(
    study: Study,
    scale: str,
    settings: dict[str, Any],
    records: list[Record],
    failures: list[Failure],
    store: Store | None,
) -> Result:
    """Verdicts and answers from records."""
    table = tidy(records)
    verdicts = [judge(claim, table, scale) for claim in study.claims]
    answers = [(question, *answer(question, table)) for question in study.questions]
    return Result(study, scale, settings, records, table, verdicts, answers, failures, store)


def reopen(path: Path, studies: Mapping[str, Study]) -> Result:
    """The result of what is stored at `path`, without running anything; its study is looked up by name."""
    store = Store.open(path)
    about = store.about
    if not {"study", "version", "scale", "settings", "seeds"} <= set(about) or about["scale"] not in SCALES:
        raise UserError(f"{path / 'store.json'} does not say which study, scale and settings it holds")
    study = studies[about["study"]]
    if study.version != about["version"]:
        raise UserError(
            f"{path} was made by version {about['version']} of the study {study.id!r} and this is version "
            f"{study.version}; `recombine run` with another --out measures again"
        )
    settings = study.settings(about["scale"], dict(about["settings"]))  # complete, and of known names only
    wanted = study.cells(settings, require_int("seeds", about["seeds"], at_least=1))
    by_id = {record.cell.id: record for record in store.records()}
    records = [by_id[cell.id] for cell in wanted if cell.id in by_id]
    return conclude(study, about["scale"], settings, records, [], store)


@contextlib.contextmanager
def _shown(study: Study, total: int, done: int, quiet: bool) -> Iterator[Listener]:
    """Live bars on a terminal, plain lines on a pipe; always on stderr."""
    if quiet:
        yield lambda event, cell, payload: None
        return
    console = Console(stderr=True)
    if done:
        console.print(f"{done} of {total} cells were done before", highlight=False)
    if not sys.stderr.isatty():
        yield _plain_lines(study, total, done)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), MofNCompleteColumn(),
               TimeElapsedColumn(), TextColumn("{task.fields[note]}", markup=False))  # fmt: skip
    with Progress(*columns, console=console) as bars:
        overall = bars.add_task(study.id, total=total, completed=done, note="")
        lines: dict[str, Any] = {}
        begun, finished = time.monotonic(), 0

        def show(event: str, cell: Cell, payload: Any) -> None:
            nonlocal finished
            if event == "started":
                lines[cell.id] = bars.add_task(f"  {study.label(cell.spec)}", total=100, note="")
            elif event == "progress":
                bars.update(lines[cell.id], completed=100 * payload[0], note=payload[1])
            elif event == "lost":
                bars.remove_task(lines.pop(cell.id))
            else:
                bars.remove_task(lines.pop(cell.id))
                finished += 1
                left = (total - done - finished) * (time.monotonic() - begun) / finished
                bars.update(
                    overall, advance=1, note=f"about {int(left // 60)} min {int(left % 60)} s left" if left else ""
                )
                bars.console.print(_line(study, event, cell, payload), markup=False, highlight=False)

        yield show


def _plain_lines(study: Study, total: int, done: int) -> Listener:
    def show(event: str, cell: Cell, payload: Any) -> None:
        nonlocal done
        if event in ("done", "failed"):
            done += 1
            print(f"[{done}/{total}] {_line(study, event, cell, payload)}", file=sys.stderr, flush=True)

    return show


def _line(study: Study, event: str, cell: Cell, payload: Any) -> str:
    text = study.summary(payload) if event == "done" else f"FAILED {payload[0]}"
    return f"{study.label(cell.spec)}: {text}"
