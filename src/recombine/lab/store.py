"""The store: a folder, or a URL such as s3://bucket/prefix, with one immutable record per cell.

    DIR/store.json            format, study, scale, settings
    DIR/records/ID.json       what a cell measured, with a checksum
    DIR/failures/ID.json      why a cell gave no record, until it is tried again
    DIR/checkpoints/ID/       states of cells under way (of a URL: in this machine's cache)
    DIR/nets/                 trained nets, which any cell finds that begins in the same way; can be made again
    DIR/locks/, DIR/drivers/ who is at work here (`driver/locks.py`)
    DIR/quarantine/           damaged records, set aside
    DIR/report.html

A record is written aside, fsynced and renamed, so it is whole or absent. The same run again finds what is done.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..errors import UserError
from ..files import Files, LocalFiles, cannot_write, open_files, user_cache, why_not
from ..files.foreign_json import parsed_json, require_fields
from ..labels import visible
from .cells import Cell, canonical
from .kept_records import KeptFacts, KeptRows
from .record import FORMAT, READ, DamagedRecord, Failure, Record

#: what a store says of itself; a file that says it otherwise is damaged
ABOUT = {"study": str, "version": int, "scale": str, "settings": dict, "seeds": int}
DIFFERENCES = 5  # settings that an error names
GROWING = ("seeds", "claims")  # what a run may say otherwise when it goes on
#: what a run that lost its folder may have left there, and nothing else
TRACES = frozenset({"checkpoints", "claims", "drivers", "locks", "nets"})
T = TypeVar("T")


class Store:
    """Records of one run. Made by `Store.create`, or opened by `Store.open` if it is one."""

    def __init__(self, files: Files, about: dict[str, Any], format: int = FORMAT):
        self.files, self.about, self.format = files, about, format
        self.place = files.place

    @property
    def path(self) -> Path:
        """The folder, where it is one."""
        if not isinstance(self.files, LocalFiles):
            raise UserError(f"{self.place} is no folder of this machine")
        return self.files.root

    @property
    def checkpoints(self) -> Path | None:
        """Where cells keep their states: always on this machine; None for nowhere."""
        if isinstance(self.files, LocalFiles):
            return self.files.root / "checkpoints"
        base = user_cache()
        return base / "checkpoints" / hashlib.sha256(self.place.encode()).hexdigest()[:16] if base else None

    @property
    def nets(self) -> Path | None:
        """Where cells keep their nets (`Context.nets`): always on this machine; None for nowhere."""
        return self.checkpoints.with_name("nets") if self.checkpoints is not None else None

    # -- opening ------------------------------------------------------------------------------------------------
    @classmethod
    def create(cls, place: str | os.PathLike | Files, about: dict[str, Any]) -> Store:
        """The store at `place`, made if it is not there; refused if it belongs to another run."""
        files = open_files(place)
        if _ask(files, lambda: files.exists("store.json")):
            store = cls.open(files)
            if store.format != FORMAT:
                raise UserError(
                    f"{files.place} is of store format {store.format}, which is read and not continued; "
                    "choose another --out"
                )
            differs = [name for name in about if store.about.get(name) != about[name] and name not in GROWING]
            if differs:
                there = ", ".join(_difference(name, store.about.get(name), about[name]) for name in differs)
                raise UserError(f"{files.place} holds another run ({there}); choose another --out, or remove it")
            if about.get("seeds", 0) > store.about.get("seeds", 0):  # what was run before stays part of it
                store.update(seeds=about["seeds"])
            return store
        try:
            free = set(files.names()) <= TRACES
        except NotADirectoryError:
            raise UserError(f"{files.place} cannot be a store: there is a file where a folder is needed") from None
        except OSError as problem:
            raise UserError(f"{files.place} cannot be used: {why_not(problem)}") from None
        if not free:
            raise UserError(f"{files.place} exists and is not a store of recombine; choose another --out")
        store = cls(files, about)
        store._write_about()
        return store

    def update(self, **changes: Any) -> None:
        """Says something else of the run than was said before."""
        self.about = {**self.about, **changes}
        self._write_about()

    def _write_about(self) -> None:
        try:
            self.files.write("store.json", (canonical({"format": FORMAT, **self.about}) + "\n").encode())
        except OSError as problem:
            raise cannot_write(f"{self.place}/store.json", problem) from problem

    @classmethod
    def open(cls, place: str | os.PathLike | Files) -> Store:
        """The store at `place`, or an error that says why it is none."""
        files = open_files(place)
        try:
            about = require_fields(parsed_json(files.read("store.json")), {"format": int})
            written = about.pop("format")
            require_fields(about, ABOUT, optional=True)
        except FileNotFoundError:
            raise UserError(f"{files.place} is not a store of recombine: it has no store.json") from None
        except ValueError as problem:
            raise UserError(
                f"{files.place}/store.json is damaged ({problem}); the records beside it are whole: run the same "
                "command with another --out and copy records/ over"
            ) from None
        except OSError as problem:
            raise UserError(f"{files.place} cannot be read: {why_not(problem)}") from None
        if written not in READ:
            raise UserError(
                f"{files.place} was written in store format {written!r} and this version of recombine reads format "
                f"{FORMAT}; use the version that wrote it, or another --out"
            )
        if written != FORMAT:
            warnings.warn(
                f"{files.place} is of store format {written}: it can be looked at, and not be continued", stacklevel=2
            )
        return cls(files, about, written)

    # -- writing ------------------------------------------------------------------------------------------------
    def put(self, record: Record) -> None:
        """Keeps a record; whole or not at all."""
        self.put_all([record])

    def put_all(self, records: Sequence[Record]) -> None:
        """Keeps records, each whole or not at all; together they are made durable faster."""
        self._write({_record(record.cell): record.to_bytes() for record in records})

    def put_failure(self, failure: Failure) -> None:
        """Keeps why a cell gave no record."""
        self._write({_failure(failure.cell): failure.to_bytes()})

    def _write(self, contents: dict[str, bytes]) -> None:
        if self.format != FORMAT:
            raise UserError(f"{self.place} is of store format {self.format}, which is read and not written any more")
        try:
            if not self.files.exists("store.json"):
                raise UserError(f"{self.place} is gone: it was moved or deleted while it was written to")
            self.files.write_all(contents)
        except OSError as problem:
            raise cannot_write(f"{self.place}/{next(iter(contents))}", problem) from problem

    def forget_failure(self, cell: Cell) -> None:
        self.files.remove(_failure(cell))

    # -- reading ------------------------------------------------------------------------------------------------
    def done(self) -> set[str]:
        """Ids of cells that have a record, whole or not: nothing is read."""
        return _ids(_ask(self.files, lambda: self.files.names("records")))

    def failed(self) -> set[str]:
        """Ids of cells that failed and were not tried again."""
        return _ids(_ask(self.files, lambda: self.files.names("failures")))

    def failure(self, cell: Cell) -> Failure | None:
        """Why a cell failed, or None if it did not."""
        try:
            return Failure.from_bytes(self.files.read(_failure(cell))) or Failure(cell, "(its report is damaged)", "")
        except OSError:
            return None

    def get(self, cell: Cell) -> Record | None:
        """The record of a cell, or None; a damaged one is set aside, so that the cell runs again."""
        name = _record(cell)
        try:
            return _read_record(self.files, name)
        except FileNotFoundError:
            return None
        except DamagedRecord as problem:
            try:
                self.files.move(name, f"quarantine/{cell.id}.json")
            except FileNotFoundError:
                return None  # another driver was faster
            except OSError as hindrance:
                raise UserError(
                    f"record {cell.id}.json is damaged ({problem}) and cannot be set aside: {why_not(hindrance)}"
                ) from hindrance
            warnings.warn(
                f"record {cell.id}.json is damaged ({problem}); moved to quarantine, its cell runs again", stacklevel=2
            )
            return None

    def records(self, known: Mapping[str, Cell] | None = None) -> list[Record]:
        """All whole records in order of id; damaged ones are named in a warning and left where they are.

        What is large among their facts is read when it is asked for. known: cells by id, which need no copy.
        """
        found, shared, known = [], {}, known or {}
        for id in sorted(self.done()):
            try:
                found.append(self._kept(f"records/{id}.json", known.get(id), shared))
            except FileNotFoundError:
                continue  # set aside by a run just now
            except DamagedRecord as problem:
                warnings.warn(f"record {id}.json is damaged and was left out: {problem}", stacklevel=2)
        return found

    def _kept(self, name: str, known: Cell | None, shared: dict[str, Any]) -> Record:
        """A record as it is kept in memory; what many have alike (provenance, parts of specs) is there once."""
        record = _read_record(self.files, name)
        facts = KeptFacts(record.facts, lambda: _read_record(self.files, name).facts)
        provenance = shared.setdefault(canonical(record.provenance), record.provenance)
        cell = known if known is not None and known == record.cell else record.cell
        return Record(cell, KeptRows(record.rows), facts, provenance)

    def damaged(self, ids: Iterable[str]) -> int:
        """How many of these cells have no whole record, and had one."""
        there, aside = self.done(), _ids(_ask(self.files, lambda: self.files.names("quarantine")))
        return sum(self._is_damaged(id) if id in there else id in aside for id in ids)

    def _is_damaged(self, id: str) -> bool:
        try:
            _read_record(self.files, f"records/{id}.json")
        except FileNotFoundError:
            return self.files.exists(f"quarantine/{id}.json")
        except DamagedRecord:
            return True
        return False


def _difference(name: str, there: Any, asked: Any) -> str:
    """What a store has and what was asked for; of settings only those that differ."""
    if isinstance(there, dict) and isinstance(asked, dict):
        names = [name for name in {**there, **asked} if there.get(name) != asked.get(name)]
        return ", ".join(_difference(name, there.get(name), asked.get(name)) for name in names[:DIFFERENCES])
    return f"{visible(name, 60)} is {visible(repr(there), 80)} there, not {visible(repr(asked), 80)}"


def _record(cell: Cell) -> str:
    return f"records/{cell.id}.json"


def _failure(cell: Cell) -> str:
    return f"failures/{cell.id}.json"


def _ids(names: Iterable[str]) -> set[str]:
    return {name.removesuffix(".json") for name in names if name.endswith(".json")}


def _read_record(files: Files, name: str) -> Record:
    try:
        return Record.from_bytes(files.read(name), name.removeprefix("records/").removesuffix(".json"))
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise DamagedRecord(f"it cannot be read: {why_not(problem)}") from problem


def peek(files: Files, cell: Cell) -> Record | None:
    """The record of a cell in the store at `files`, which is left as it is; None if it is not there or not whole."""
    try:
        return _read_record(files, _record(cell))
    except (FileNotFoundError, DamagedRecord):
        return None


def _ask(files: Files, question: Callable[[], T]) -> T:
    try:
        return question()
    except OSError as problem:  # a name that is too long, a folder that may not be entered, a service that is down
        raise UserError(f"{files.place} cannot be used: {why_not(problem)}") from None
