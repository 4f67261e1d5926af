"""The store: a folder with one immutable record a cell.

    DIR/store.json            format, study, scale, settings
    DIR/records/ID.json       what a cell measured, with a checksum
    DIR/checkpoints/ID/       states of cells under way
    DIR/quarantine/           damaged records, set aside
    DIR/report.html

A record is written aside, fsynced and renamed, so it is whole or absent. The same run again finds what is done.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import write_or_refuse
from .cells import Cell, canonical

FORMAT = 1
Table = Any  # a pandas.DataFrame, whose own types are too loose to check against


class DamagedRecord(ValueError):
    """A record that cannot be trusted: truncated, changed, or not a record."""


@dataclass(frozen=True)
class Record:
    """What one cell measured."""

    cell: Cell
    rows: list[dict[str, Any]]  # tidy readings
    facts: dict[str, Any]  # certificate, seconds, and other things to know
    provenance: dict[str, str]

    def to_bytes(self) -> bytes:
        body = {
            "format": FORMAT,
            "id": self.cell.id,
            "cell": self.cell.to_json(),
            "rows": [_finite(row) for row in self.rows],
            "facts": _finite(self.facts),
            "provenance": self.provenance,
        }
        return (canonical(body | {"sum": _sum(body)}) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        try:
            body = json.loads(data)
            claimed = body.pop("sum")
            if claimed != _sum(body):
                raise DamagedRecord("its content does not match its checksum")
            if body["format"] != FORMAT:
                raise DamagedRecord(f"it is of format {body['format']!r} and not {FORMAT}")
            rows = [{**row, "value": float(row["value"])} for row in body["rows"]]  # "nan" is a float's spelling too
            return cls(Cell.from_json(body["cell"]), rows, dict(body["facts"]), dict(body["provenance"]))
        except DamagedRecord:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as problem:
            raise DamagedRecord(f"it is not a record ({type(problem).__name__})") from problem


class Store:
    """A folder of records. Made by `Store.create`, or opened by `Store.open` if it is one."""

    def __init__(self, path: Path, about: dict[str, Any]):
        self.path, self.about = path, about

    # -- opening ------------------------------------------------------------------------------------------------
    @classmethod
    def create(cls, path: Path, about: dict[str, Any]) -> Store:
        """The store at `path`, made if it is not there; refused if it belongs to another run."""
        path = Path(path)
        if _exists(path / "store.json"):
            store = cls.open(path)
            differs = [name for name in about if store.about.get(name) != about[name] and name != "seeds"]
            if differs:
                there = ", ".join(f"{name}={store.about.get(name)!r}" for name in differs)
                raise UserError(f"{path} holds another run ({there}); choose another --out, or remove it")
            if about.get("seeds", 0) > store.about.get("seeds", 0):  # what was run before stays part of it
                write_or_refuse(path / "store.json", (canonical({"format": FORMAT, **about}) + "\n").encode())
                store.about = about
            return store
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(f"{path} exists and is not a store of recombine; choose another --out")
        store = cls(path, about)
        write_or_refuse(path / "store.json", (canonical({"format": FORMAT, **about}) + "\n").encode())
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """The store at `path`, or an error that says why it is none."""
        path = Path(path)
        try:
            about = json.loads((path / "store.json").read_bytes())
            written = about.pop("format")
        except FileNotFoundError:
            raise UserError(f"{path} is not a store of recombine: it has no store.json") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(
                f"{path / 'store.json'} is damaged; the records beside it are whole: run the same command "
                "with another --out and copy records/ over"
            ) from None
        except OSError as problem:
            raise UserError(f"{path} cannot be read: {problem.strerror}") from None
        if written != FORMAT:
            raise UserError(
                f"{path} was written in store format {written!r} and this version of recombine reads format {FORMAT}; "
                "use the version that wrote it, or another --out"
            )
        return cls(path, about)

    # -- writing ------------------------------------------------------------------------------------------------
    def put(self, record: Record) -> None:
        """Keeps a record; whole or not at all."""
        write_or_refuse(self.path / "records" / f"{record.cell.id}.json", record.to_bytes())

    # -- reading ------------------------------------------------------------------------------------------------
    def get(self, cell: Cell) -> Record | None:
        """The record of a cell, or None; a damaged one is set aside, so that the cell runs again."""
        path = self.path / "records" / f"{cell.id}.json"
        try:
            return _read_record(path)
        except FileNotFoundError:
            return None
        except DamagedRecord as problem:
            aside = self.path / "quarantine" / path.name
            aside.parent.mkdir(exist_ok=True)
            os.replace(path, aside)
            warnings.warn(
                f"record {path.name} is damaged ({problem}); moved to quarantine, its cell runs again", stacklevel=2
            )
            return None

    def records(self) -> list[Record]:
        """All whole records in order of id; damaged ones are named in a warning and left where they are."""
        found = []
        for path in sorted((self.path / "records").glob("*.json")):
            try:
                found.append(_read_record(path))
            except DamagedRecord as problem:
                warnings.warn(f"record {path.name} is damaged and was left out: {problem}", stacklevel=2)
        return found


def _read_record(path: Path) -> Record:
    try:
        record = Record.from_bytes(path.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise DamagedRecord(f"it cannot be read: {problem.strerror}") from problem
    if record.cell.id != path.stem:
        raise DamagedRecord("it belongs to another cell")
    return record


def peek(path: Path, cell: Cell) -> Record | None:
    """The record of a cell in the store at `path`, which is left as it is; None if it is not there or not whole."""
    try:
        return _read_record(path / "records" / f"{cell.id}.json")
    except (FileNotFoundError, DamagedRecord):
        return None


def tidy(records: Sequence[Record]) -> Table:
    """One row a reading, with the settings of its cell beside it."""
    import pandas

    rows = []
    for record in records:
        settings = {name: value if _scalar(value) else canonical(value) for name, value in record.cell.spec.items()}
        rows += [{"study": record.cell.study, "cell": record.cell.id, **settings, **row} for row in record.rows]
    return pandas.DataFrame(rows)


def load(path: str | os.PathLike) -> Table:
    """Everything that was measured, as a tidy pandas table: settings of the cell, reading, value."""
    return tidy(Store.open(Path(path)).records())


def query(path: str | os.PathLike, sql: str) -> Table:
    """SQL over everything that was measured; the table is called `readings`."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        # a query is the user's own, but it has no business with files
        connection.execute("SET enable_external_access=false")
        connection.register("readings", load(path))
        return connection.execute(sql).df()
    except duckdb.Error as problem:
        raise UserError(f"the query failed: {str(problem).splitlines()[0]}") from problem
    finally:
        connection.close()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as problem:  # a name that is too long, or a folder that may not be entered
        raise UserError(f"{path} cannot be used: {problem.strerror}") from None


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: a value that is undefined, or beyond all numbers, is spelled "nan"."""
    return {k: "nan" if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def _sum(body: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(body).encode()).hexdigest()
