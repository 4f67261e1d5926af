"""Running a study: find what is done, compute the rest, judge."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import UserError, require_int, require_number
from ...files import beside
from ..boundaries import LOOKS, MOST_SEEDS
from ..cells import Cell, canonical
from ..claim_memory import remember_claims, rules_of
from ..record import FORMAT, Failure, Record
from ..reopening import Place, Run, conclude, run_at
from ..store import Store, peek
from ..study import DEFAULT_SEEDS, Study
from ..study_result import Result
from ..wanted import whole_look
from .engines import Engine, Limits, parse_engine
from .queue import Queue
from .run_progress import RunProgress
from .session import Session, tidy_up
from .stop import Interrupted, Stop, handle_signals
from .until_decided import Budget
from .until_decided import until_decided as feed
from .view import shown


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
    until_decided: bool = False,
    budget: float | None = None,
) -> Result:
    """Runs the cells of a study that are missing, and judges its claims. The same call continues where it stopped.

    Raises `Interrupted` (a KeyboardInterrupt) if it was asked to stop before everything was run.

    Args:
        study: what is run.
        scale: "smoke", "laptop", "night" or "paper".
        seeds: how many; they run to the next look: 3, 4, 6, 8, 12, 16, 24, 32, 48 or 64.
        changes: settings by name, as `--set` of the command line takes them.
        out: a folder, or a URL such as s3://bucket/prefix; None keeps nothing.
        engine: where cells are computed: "inprocess", "local", "ray", or an engine.
        limits: what one cell may take, of time and of memory.
        quiet: print no progress.
        until_decided: give claims that are open more seeds, until they are decided or seeds will not decide them.
        budget: seconds after which no further seeds are begun; those that were asked for are always run.

    Example:
        >>> result = rc.run(study, "smoke", quiet=True)
        >>> [(verdict.claim.id, verdict.outcome) for verdict in result.verdicts]
        [('biased', 'supported')]
    """
    chosen = parse_engine(engine, limits) if isinstance(engine, str) else engine
    time_left = Budget.from_now(require_budget(budget, until_decided))
    wanted = prepare(study, scale, max(seeds, LOOKS[0]) if until_decided else seeds, changes, out)
    if not until_decided:
        return _run(wanted, chosen, quiet)
    return feed(wanted, _OneAfterAnother(chosen, quiet), time_left, quiet, getattr(chosen, "workers", 1))


class _OneAfterAnother:
    """Runs of one study with more and more cells: what failed in one is not tried again in the next."""

    def __init__(self, engine: Engine, quiet: bool):
        self.engine, self.quiet = engine, quiet
        self.records: dict[str, Record] = {}  # where nothing is stored
        self.failures: list[Failure] = []

    def __call__(self, run: Run, limit: Budget | None) -> Result:
        failed = {failure.cell.id for failure in self.failures}
        only = {cell.id for cell in run.cells} - failed if failed else None
        result = _run(run, self.engine, self.quiet, only, self.records, limit)
        if run.store is None:
            self.records.update({record.cell.id: record for record in result.records})
        self.failures += result.failures
        return dataclasses.replace(result, failures=list(self.failures))


def require_budget(seconds: float | None, until_decided: bool) -> float | None:
    """Refuses a budget that is none, or that nothing is to be spent on."""
    if seconds is None:
        return None
    if not until_decided:
        raise UserError(f"budget={seconds} says how long open claims get more seeds; it goes with until_decided=True")
    return require_number("budget", seconds, above=0)


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


def _run(
    run: Run,
    engine: Engine,
    quiet: bool,
    only: set[str] | None = None,
    known: Mapping[str, Record] | None = None,
    limit: Budget | None = None,
) -> Result:
    """Computes what has no record (`only` these), by id, and judges all there is.

    known: records that are there already, where there is no store.
    limit: after which no further cell is begun.
    """
    study, store, known = run.study, run.store, known or {}
    there = store.done() if store is not None else set()
    done, seconds = _find_done(run)
    done |= known.keys() if store is None else set()
    if only is not None:
        only = only | (there - done)  # those whose record turned out to be damaged
    missing = [cell for cell in run.cells if cell.id not in done and (only is None or cell.id in only)]
    progress = RunProgress(len(done) + len(missing), len(done), lambda cell: study.label(cell.spec))
    progress.memory = engine.memory
    work = _Work(run, engine, progress, quiet, limit)
    if store is not None:
        tidy_up(store)
    if missing and store is not None:
        with Session(store, progress) as session:
            work.compute(missing, seconds, session)
    elif missing:
        work.compute(missing, seconds, None)
    if store is not None:
        done |= work.done
        records = [record for cell in run.cells if cell.id in done and (record := store.get(cell)) is not None]
    else:
        found = {**known, **work.records}
        records = [found[cell.id] for cell in run.cells if cell.id in found]
    return conclude(run, records, work.failures)


class _Work:
    """What is computed in one run, and what comes of it. Records are not held where a store has them."""

    def __init__(self, run: Run, engine: Engine, progress: RunProgress, quiet: bool, limit: Budget | None = None):
        self.run, self.engine, self.progress, self.quiet = run, engine, progress, quiet
        self.stop = Stop((lambda: limit.over) if limit is not None else None)
        self.done: set[str] = set()
        self.records: dict[str, Record] = {}
        self.failures: list[Failure] = []

    def compute(self, cells: Sequence[Cell], seconds: Mapping[str, float], session: Session | None) -> None:
        """Until every cell is done or has failed, here or by another driver on the same store."""
        checkpoints = self.run.store.checkpoints if self.run.store is not None else None
        with shown(self.run.study, self.progress, self.quiet) as show, handle_signals(self.stop, self.quiet):

            def tell(event: str, cell: Cell, payload: Any) -> None:
                self.progress.heard(event, cell, payload)
                if event == "done":
                    self._keep(payload, session)
                elif event == "failed":
                    self._keep(Failure(cell, *payload, driver=session.locks.id if session else ""), session)
                elif event == "lost" and session is not None:
                    session.locks.release(cell)
                show(event, cell, payload)

            while cells:
                queue = Queue(self.run.study, cells, self.stop, session.lock if session else None, seconds)
                self.progress.expect(queue.costs)
                self.engine.compute(self.run.study, queue, checkpoints, tell, self.stop)
                while (cell := queue.take()) is not None:
                    tell("failed", cell, ("the engine ended before it came to this cell", ""))
                cells = self._settle(queue.refused, session)
                if self.stop.signal is not None and (cells or len(queue)):
                    raise Interrupted(self.stop.signal)
                if self.stop.asked:  # the budget is used up
                    break

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
        settled = session.settle(refused, self.stop, self.progress.elsewhere)
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


def prepare(study: Study, scale: str, seeds: int, changes: dict[str, Any] | None, out: Place | None) -> Run:
    """What is to be run; refuses here what cannot be run, or continued where it is to be kept."""
    settings = study.settings(scale, changes)
    require_int("seeds", seeds, at_least=1, at_most=MOST_SEEDS)
    if (look := whole_look(seeds)) != seeds:
        looks = ", ".join(map(str, LOOKS))
        warnings.warn(f"{seeds} seeds run to the next look, {look}: claims are judged with {looks}", stacklevel=2)
        seeds = look
    if out is None:
        return Run.of(study, scale, settings, seeds, None)
    study.cells(settings, seeds)  # what cannot be leaves no store behind
    about = {"study": study.id, "version": study.version, "scale": scale, "settings": settings, "seeds": seeds}
    store = Store.create(out, about | {"claims": rules_of(study)})
    remember_claims(store, study)
    there = store.about["seeds"]
    if isinstance(there, int) and there > seeds:  # what was run before stays part of it
        warnings.warn(f"{store.place} was begun with {there} seeds, so all of them count", stacklevel=2)
        seeds = there
    return Run.of(study, scale, settings, seeds, store)


def _reuse(study: Study, cell: Cell, store: Store) -> Record | None:
    """What another study measured already, kept here under the name of this cell."""
    same = study.same_cell_in(cell) if study.same_cell_in is not None else None
    if same is None:
        return None
    other, folder = same
    record = peek(beside(store.files, folder), other)
    if record is None:
        return None
    record = Record(cell, record.rows, {**record.facts, "reused_from": f"{folder}/{other.id}"}, record.provenance)
    store.put(record)
    return record


run = run_study  # what `rc.run` is
