"""Running a study: find what is done, compute the rest, judge."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError, require_int
from ..files import Files, beside
from ..intervals import Interval
from .cells import Cell, canonical
from .engines import Engine, Limits, parse_engine
from .pace import Pace
from .queue import Queue
from .session import Session, tidy_up
from .stop import Interrupted, Stop, heeding
from .store import FORMAT, Failure, Record, Store, peek, tidy
from .study import DEFAULT_SEEDS, SCALES, Study
from .study_table import StudyTable
from .verdicts import Measurement, Verdict, judge, measured
from .view import shown

Place = str | os.PathLike | Files


@dataclass(frozen=True)
class Result:
    """A study that was run: records, verdicts, and what failed."""

    study: Study
    scale: str
    settings: dict[str, Any]
    records: list[Record]
    table: StudyTable
    verdicts: list[Verdict]
    measurements: list[tuple[Measurement, Interval, dict[int, float]]]
    failures: list[Failure]
    store: Store | None
    wanted: frozenset[str]  # ids of all its cells

    @property
    def headline(self) -> str:
        """What came out, in one sentence; nothing where nothing was measured."""
        outcomes = {verdict.claim.id: verdict.outcome for verdict in self.verdicts}
        return self.study.headline_for(self.table, outcomes) if len(self.table) else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.study.id,
            "scale": self.scale,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "out": self.store.place if self.store else None,
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
    out: Place | None = None,
    engine: str | Engine = "inprocess",
    limits: Limits | None = None,
    quiet: bool = False,
) -> Result:
    """Runs what is missing and judges. `out=None` keeps nothing. The same call continues where it stopped.

    out: a folder, or a URL such as s3://bucket/prefix.
    Raises `Interrupted` (a KeyboardInterrupt) if it was asked to stop before everything was run.
    """
    chosen = parse_engine(engine, limits) if isinstance(engine, str) else engine
    settings, cells, store = prepare(study, scale, seeds, changes, out)
    return _run(Run(study, scale, settings, cells, store), chosen, quiet)


def run_again(
    place: Place,
    studies: Mapping[str, Study],
    *,
    only_failed: bool = True,
    engine: str = "inprocess",
    limits: Limits | None = None,
    quiet: bool = False,
) -> Result:
    """Tries the cells of a store again that failed, or all that have no record."""
    chosen = parse_engine(engine, limits)
    run = run_at(place, studies)
    if run.store is not None and run.store.format != FORMAT:
        raise UserError(
            f"{run.store.place} is of store format {run.store.format}, which is read and not continued; "
            "`recombine run` with another --out measures again"
        )
    only = run.store.failed() if only_failed and run.store is not None else None
    return _run(run, chosen, quiet, only)


@dataclass(frozen=True)
class Run:
    """A study at a scale: all its cells, and where they are kept."""

    study: Study
    scale: str
    settings: dict[str, Any]
    cells: list[Cell]
    store: Store | None


def _run(run: Run, engine: Engine, quiet: bool, only: set[str] | None = None) -> Result:
    """Computes what has no record (`only` these), by id, and judges all there is."""
    study, store = run.study, run.store
    there = store.done() if store is not None else set()
    done, seconds = _find_done(run)
    if only is not None:
        only = only | (there - done)  # those whose record turned out to be damaged
    missing = [cell for cell in run.cells if cell.id not in done and (only is None or cell.id in only)]
    pace = Pace(len(done) + len(missing), len(done), lambda cell: study.label(cell.spec))
    pace.memory = engine.memory
    work = _Work(run, engine, pace, quiet)
    if store is not None:
        tidy_up(store)
    if missing and store is not None:
        with Session(store, pace) as session:
            work.compute(missing, seconds, session)
    elif missing:
        work.compute(missing, seconds, None)
    if store is not None:
        done |= work.done
        records = [record for cell in run.cells if cell.id in done and (record := store.get(cell)) is not None]
    else:
        records = [work.records[cell.id] for cell in run.cells if cell.id in work.records]
    return conclude(run, records, work.failures)


class _Work:
    """What is computed in one run, and what comes of it. Records are not held where a store has them."""

    def __init__(self, run: Run, engine: Engine, pace: Pace, quiet: bool):
        self.run, self.engine, self.pace, self.quiet = run, engine, pace, quiet
        self.stop = Stop()
        self.done: set[str] = set()
        self.records: dict[str, Record] = {}
        self.failures: list[Failure] = []

    def compute(self, cells: Sequence[Cell], seconds: Mapping[str, float], session: Session | None) -> None:
        """Until every cell is done or has failed, here or by another driver on the same store."""
        checkpoints = self.run.store.checkpoints if self.run.store is not None else None
        with shown(self.run.study, self.pace, self.quiet) as show, heeding(self.stop, self.quiet):

            def tell(event: str, cell: Cell, payload: Any) -> None:
                self.pace.heard(event, cell, payload)
                if event == "done":
                    self._keep(payload, session)
                elif event == "failed":
                    self._keep(Failure(cell, *payload, driver=session.claims.id if session else ""), session)
                elif event == "lost" and session is not None:
                    session.claims.release(cell)
                show(event, cell, payload)

            while cells:
                queue = Queue(self.run.study, cells, self.stop, session.claim if session else None, seconds)
                self.pace.expect(queue.costs)
                self.engine.compute(self.run.study, queue, checkpoints, tell, self.stop)
                while (cell := queue.take()) is not None:
                    tell("failed", cell, ("the engine ended before it came to this cell", ""))
                cells = self._settle(queue.refused, session)
                if self.stop.signal is not None and (cells or len(queue)):
                    raise Interrupted(self.stop.signal)

    def _keep(self, outcome: Record | Failure, session: Session | None) -> None:
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        else:
            self.done.add(outcome.cell.id)
        if session is not None:
            session.keep(outcome)
        elif isinstance(outcome, Record):
            self.records[outcome.cell.id] = outcome

    def _settle(self, refused: list[Cell], session: Session | None) -> list[Cell]:
        """Takes over what other drivers finished; returns what is left to do."""
        if not refused or session is None:
            return []
        settled = session.settle(refused, self.stop, self.pace.elsewhere)
        self.done |= {cell.id for cell in settled.done}
        self.failures += settled.failures
        return settled.again


def _find_done(run: Run) -> tuple[set[str], dict[str, float]]:
    """Ids of cells that have a whole record, and what cells took before, by program."""
    done: set[str] = set()
    took: dict[str, list[float]] = {}
    if run.store is None:
        return done, {}
    there = run.store.done()
    for cell in run.cells:
        record = run.store.get(cell) if cell.id in there else None
        record = record or _reuse(run.study, cell, run.store)
        if record is not None:
            done.add(cell.id)
            seconds = record.facts.get("seconds")
            if isinstance(seconds, (int, float)) and seconds > 0 and "reused_from" not in record.facts:
                took.setdefault(run.study.program(cell.spec), []).append(float(seconds))
    return done, {program: sum(times) / len(times) for program, times in took.items()}


def prepare(
    study: Study, scale: str, seeds: int, changes: dict[str, Any] | None, out: Place | None
) -> tuple[dict[str, Any], list[Cell], Store | None]:
    """Settings, cells and store of a run; refuses here what cannot be run, or continued where it is to be kept."""
    settings = study.settings(scale, changes)
    cells = study.cells(settings, seeds)
    if out is None:
        return settings, cells, None
    about = {"study": study.id, "version": study.version, "scale": scale, "settings": settings, "seeds": seeds}
    store = Store.create(out, about)
    there = store.about["seeds"]
    if isinstance(there, int) and there > seeds:  # what was run before stays part of it
        warnings.warn(f"{store.place} was begun with {there} seeds, so all of them count", stacklevel=2)
        cells = study.cells(settings, there)
    return settings, cells, store


def _reuse(study: Study, cell: Cell, store: Store) -> Record | None:
    """What another study measured already, kept here under the name of this cell."""
    same = study.same_cell_in(cell) if study.same_cell_in is not None else None
    if same is None:
        return None
    other, folder = same
    record = peek(beside(store.files, folder), other)
    if record is None:
        return None
    record = Record(cell, record.rows, record.facts | {"reused_from": f"{folder}/{other.id}"}, record.provenance)
    store.put(record)
    return record


def conclude(run: Run, records: list[Record], failures: list[Failure]) -> Result:
    """Verdicts and measurements from records."""
    study = run.study
    table = study.table(tidy(records))
    verdicts = [judge(claim, table, run.scale) for claim in study.claims]
    measurements = [(one, *measured(one, table)) for one in study.measurements]
    wanted = frozenset(cell.id for cell in run.cells)
    return Result(study, run.scale, run.settings, records, table, verdicts, measurements, failures, run.store, wanted)


def reopen(place: Place, studies: Mapping[str, Study]) -> Result:
    """The result of what is stored at `place`, without running anything; its study is looked up by name."""
    run = run_at(place, studies)
    store = run.store
    assert store is not None
    by_id = {record.cell.id: record for record in store.records()}
    records = [by_id[cell.id] for cell in run.cells if cell.id in by_id]
    failed = store.failed() - by_id.keys()
    failures = [failure for cell in run.cells if cell.id in failed and (failure := store.failure(cell)) is not None]
    return conclude(run, records, failures)


def run_at(place: Place, studies: Mapping[str, Study]) -> Run:
    """What a store says was to be run."""
    store = Store.open(place)
    about = store.about
    if not {"study", "version", "scale", "settings", "seeds"} <= set(about) or about["scale"] not in SCALES:
        raise UserError(f"{store.place}/store.json does not say which study, scale and settings it holds")
    study = studies[about["study"]]
    if study.version != about["version"]:
        raise UserError(
            f"{store.place} was made by version {about['version']} of the study {study.id!r} and this is version "
            f"{study.version}; `recombine run` with another --out measures again"
        )
    if store.format < FORMAT:  # its cells were named otherwise: what lies there is what there is
        cells = [record.cell for record in store.records()]
        return Run(study, about["scale"], dict(about["settings"]), cells, store)
    settings = study.settings(about["scale"], dict(about["settings"]))  # complete, and of known names only
    cells = study.cells(settings, require_int("seeds", about["seeds"], at_least=1))
    return Run(study, about["scale"], settings, cells, store)


run = run_study  # what `rc.run` is
