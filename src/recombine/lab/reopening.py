"""What a store holds, as a run and as a result: nothing is computed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError, require_int
from ..files import Files
from .cells import Cell
from .claim_memory import ChangedClaim, changed_since
from .record import FORMAT, Failure, Record, tidy
from .scales import SCALES
from .store import ABOUT, Store
from .study import Study
from .study_result import Result
from .verdicts import judge, measured
from .wanted import Fed, blocked_seeds, fed_of, wanted_cells

MOST_SEEDS = 1_000_000  # of a store; a file may say anything
Place = str | os.PathLike | Files


@dataclass(frozen=True)
class Run:
    """A study at a scale: all cells that are wanted, and where they are kept.

    Args:
        study: what is run.
        scale: at which scale.
        settings: everything that could be set, by name.
        cells: those that are wanted.
        store: where records are; None for nowhere.
        grid: all cells of the seeds that are wanted of some; `cells`, if none are given.
        seeds: of every cell.
        fed: seeds by claim that was fed more.
        changed: claims that changed since the store was begun.
    """

    study: Study
    scale: str
    settings: dict[str, Any]
    cells: list[Cell]
    store: Store | None
    grid: list[Cell] | None = None
    seeds: int = 0
    fed: Fed = field(default_factory=dict)
    changed: tuple[ChangedClaim, ...] = ()

    @classmethod
    def of(
        cls,
        study: Study,
        scale: str,
        settings: dict[str, Any],
        seeds: int,
        store: Store | None,
        fed: Fed | None = None,
        checked: bool = True,
    ) -> Run:
        """What so many seeds want, and the claims that were fed more: those of the store, if none are given."""
        fed = (fed_of(store.about, study) if store is not None else {}) if fed is None else fed
        cells, grid = wanted_cells(study, settings, seeds, fed, checked)
        changed = tuple(changed_since(store, study)) if store is not None else ()
        return cls(study, scale, settings, cells, store, grid, seeds, fed, changed)


def conclude(run: Run, records: list[Record], failures: list[Failure]) -> Result:
    """Verdicts and measurements from records."""
    study = run.study
    table = study.table(tidy(records))
    wanted = frozenset(cell.id for cell in run.cells)
    grid = run.cells if run.grid is None else run.grid
    blocked = blocked_seeds(study.claims, grid, wanted, {record.cell.id for record in records}, study.label)
    verdicts = [judge(claim, table, run.scale, blocked[claim.id]) for claim in study.claims]
    measurements = [(one, *measured(one, table)) for one in study.measurements]
    return Result(
        study,
        run.scale,
        run.settings,
        records,
        table,
        verdicts,
        measurements,
        failures,
        run.store,
        wanted,
        run.fed,
        run.changed,
    )


def reopen(place: Place, studies: Mapping[str, Study]) -> Result:
    """The result of what is stored at `place`, without running anything; its study is looked up by name."""
    run = run_at(place, studies)
    store = run.store
    assert store is not None
    by_id = {record.cell.id: record for record in store.records({cell.id: cell for cell in run.cells})}
    records = [by_id[cell.id] for cell in run.cells if cell.id in by_id]
    failed = store.failed() - by_id.keys()
    failures = [failure for cell in run.cells if cell.id in failed and (failure := store.failure(cell)) is not None]
    return conclude(run, records, failures)


def run_at(place: Place, studies: Mapping[str, Study]) -> Run:
    """What a store says was to be run."""
    store = Store.open(place)
    about = store.about
    if not set(ABOUT) <= set(about) or about["scale"] not in SCALES:
        raise UserError(f"{store.place}/store.json does not say which study, scale and settings it holds")
    study = studies[about["study"]]
    if store.format < FORMAT:  # its cells were named otherwise: what lies there is what there is, of any version
        cells = [record.cell for record in store.records()]
        return Run(study, about["scale"], dict(about["settings"]), cells, store)
    if study.version != about["version"]:
        raise UserError(
            f"{store.place} was made by version {about['version']} of the study {study.id!r} and this is version "
            f"{study.version}; `recombine run` with another --out measures again"
        )
    settings = study.settings(about["scale"], dict(about["settings"]))  # complete, and of known names only
    seeds = require_int("seeds", about["seeds"], at_least=1, at_most=MOST_SEEDS)
    run = Run.of(study, about["scale"], settings, seeds, store, checked=False)
    for one in run.changed:
        warnings.warn(f"{store.place}: {one}", stacklevel=2)
    return run


def reopen_any_version(place: Place, studies: Mapping[str, Study]) -> Result:
    """The result of a store, also if another version of its study made it: its records are read as they are."""
    store = Store.open(place)
    study = studies[str(store.about.get("study"))]
    if store.about.get("version") == study.version:
        return reopen(place, studies)
    try:
        scale, settings = str(store.about["scale"]), dict(store.about["settings"])
        records = store.records()
        cells = [record.cell for record in records]
        return conclude(Run(study, scale, settings, cells, store), records, [])
    except (KeyError, AttributeError, TypeError, ValueError) as problem:
        raise UserError(
            f"{store.place} was made by version {store.about.get('version')} of the study {study.id!r}, whose readings "
            f"version {study.version} does not understand ({type(problem).__name__}: {problem})"
        ) from None
