"""Records: what one cell measured, or why it gave nothing, as bytes that show if they are whole; and as a table."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..files.foreign_json import parsed_json, require_fields
from .cells import Cell, canonical
from .format_1 import cell_of_format_1, rows_of_format_1

FORMAT = 2  # cells are nested data; those of format 1 were flat, and are still read
READ = (1, FORMAT)
Table = Any  # a pandas.DataFrame, whose own types are too loose to check against


class DamagedRecord(ValueError):
    """A record that cannot be trusted: truncated, changed, or not a record."""


@dataclass(frozen=True)
class Record:
    """What one cell measured."""

    cell: Cell
    rows: Sequence[dict[str, Any]]  # tidy readings
    facts: Mapping[str, Any]  # certificate, seconds, and other things to know
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
    def from_bytes(cls, data: bytes, id: str | None = None) -> Record:
        """The record that was written; `id` is that of the cell it should be of."""
        try:
            body = require_fields(parsed_json(data, once=False), {"sum": str, "format": int, "id": str})
            claimed = body.pop("sum")
            if claimed != _sum_as_written(data) and claimed != _sum(body):
                raise DamagedRecord("its content does not match its checksum")
            if body["format"] not in READ:
                raise DamagedRecord(f"it is of format {body['format']!r} and not {FORMAT}")
            if id is not None and body["id"] != id:
                raise DamagedRecord("it belongs to another cell")
            rows = [{**row, "value": float(row["value"])} for row in body["rows"]]  # "nan" is a float's spelling too
            cell = Cell.from_json(body["cell"])
            if body["format"] == 1:
                rows, cell = rows_of_format_1(rows, cell.spec), cell_of_format_1(cell)
            elif cell.id != body["id"]:  # a checksum is easily made again, and the cell is what a reading belongs to
                raise DamagedRecord("its cell is not the one that its id is the hash of")
            return cls(cell, rows, dict(body["facts"]), dict(body["provenance"]))
        except DamagedRecord:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as problem:
            raise DamagedRecord(f"it is not a record ({type(problem).__name__})") from problem


@dataclass(frozen=True)
class Failure:
    """A cell that gave no record."""

    cell: Cell
    error: str
    traceback: str
    driver: str = ""  # whose worker it was

    def to_bytes(self) -> bytes:
        body = {"format": FORMAT, "cell": self.cell.to_json(), "error": self.error, "traceback": self.traceback}
        return (canonical(body | {"driver": self.driver}) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Failure | None:
        """None if it is damaged: that its cell failed is then known by its name alone."""
        try:
            texts = {"error": str, "traceback": str, "driver": str}
            body = require_fields(parsed_json(data), texts)
            texts = [body[name] for name in texts]
            return cls(Cell.from_json(body["cell"]), *texts)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


def tidy(records: Sequence[Record]) -> Table:
    """One row per reading, with the settings of its cell beside it."""
    import pandas

    columns: dict[str, list[Any]] = {}  # by column: rows as dictionaries would take ten times the memory
    count = 0
    for record in records:
        place = {"study": record.cell.study, "cell": record.cell.id}
        for name, value in record.cell.columns().items():
            place[name] = value if _scalar(value) else canonical(value)
        for row in record.rows:
            for name, value in (place | row).items():
                column = columns.setdefault(name, [])
                if len(column) < count:
                    column += [math.nan] * (count - len(column))
                column.append(value)
            count += 1
    for column in columns.values():
        column += [math.nan] * (count - len(column))
    return pandas.DataFrame(columns)


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _finite(row: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: a value that is undefined, or beyond all numbers, is spelled "nan"."""
    return {k: "nan" if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def _sum(body: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(body).encode()).hexdigest()


def _sum_as_written(data: bytes) -> str:
    """The checksum by the bytes themselves, in our one spelling, where `sum` comes last: the faster way."""
    body, mark, _ = data.rpartition(b',"sum":"')
    return hashlib.sha256(body + b"}").hexdigest() if mark else ""
