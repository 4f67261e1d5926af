"""Sources: a table of the user's as columns of text that DuckDB streams, whatever it came as.

Nothing of the user's becomes SQL: paths, separators and JSON pointers are bound parameters, columns get names of our
own (c0, c1, ...), and the only names that must stand in a statement (columns of a Parquet file) are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..labels import listed, quoted, visible

MOST_COLUMNS = 10_000
MEMORY = "1GB"  # of DuckDB; beyond it spills to disk


@dataclass(frozen=True)
class Column:
    """A column: the user's name, what it holds ("text", "number", "decimal", "time" or "nested"), how to read it."""

    name: str
    kind: str
    sql: str  # gives text or NULL; may name the parameter below
    parameters: dict[str, Any] = field(default_factory=dict)
    number: str = ""  # gives a DOUBLE or NULL, where the source has numbers; else the text is read as one
    levels: tuple[str, ...] = ()  # in the order that they have, where it is not the natural one

    @property
    def cell(self) -> str:
        """SQL of its text; an empty cell is NULL."""
        return f"nullif({self.sql}, '')"

    @property
    def numeric(self) -> str:
        """SQL of its value as a number; NULL where there is none, and for NaN."""
        return f"nullif({self.number or f'TRY_CAST({self.sql} AS DOUBLE)'}, CAST('nan' AS DOUBLE))"


@dataclass(frozen=True)
class Origin:
    """What a source was made of, so that its rows can be copied as they came."""

    kind: str  # "csv", "json", "parquet" or "memory"
    files: tuple[Path, ...] = ()
    separator: str = ","
    frame: Any = None  # the user's own table, if it is one


class Source:
    """Columns that can be queried as text. Use `open_source`."""

    def __init__(self, name: str, connection: Any, relation: str, parameters: dict[str, Any], columns: list[Column]):
        self.name, self.connection = name, connection
        self.notes: list[str] = []
        self.origin = Origin("memory")
        self._relation, self._parameters = relation, parameters
        self.columns = {column.name: column for column in columns}
        self.derived: dict[
            str, Column
        ] = {}  # how a column is read as a factor: in bins, as dates, with a level for none

    def reads(self, name: str) -> Column:
        """A column as factors read it."""
        return self.derived.get(name) or self.columns[name]

    def column(self, name: str, role: str) -> Column:
        """The column that plays a role, or an error with the near names."""
        if name not in self.columns:
            raise unknown(f"column for {role}", visible(name, 80), [visible(known, 80) for known in self.columns])
        return self.columns[name]

    def relation(
        self, names: Sequence[str], *, plain: bool = False, more: Sequence[str] = (), of: Iterable[Column] = ()
    ) -> tuple[str, dict[str, Any]]:
        """SQL of a subquery with the columns v0, v1, ... as text (an empty cell is NULL), and its parameters.

        Args:
            names: of the columns.
            plain: as the cells are, not as factors read them.
            more: further SQL to select, with its own names.
            of: the columns that it reads.
        """
        columns = [self.columns[name] if plain else self.reads(name) for name in names]
        shown = ", ".join([*(f"{column.cell} AS v{i}" for i, column in enumerate(columns)), *more])
        parameters = dict(self._parameters)
        for column in (*columns, *of):
            parameters |= column.parameters
        return f"(SELECT {shown} FROM {self._relation})", parameters

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Executes a statement; what DuckDB says about a bad file becomes one sentence."""
        import duckdb

        try:
            return self.connection.execute(statement, dict(parameters or {}))
        except duckdb.Error as problem:
            raise explained(problem, self.name) from problem


# -- names and kinds of columns --------------------------------------------------------------------------------------
def named(name: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Names of columns: none twice; those without one get one, which is said."""
    refuse_wide(name, len(names))
    notes = []
    nameless = [i for i, column in enumerate(names) if not column.strip()]
    names = [f"column {i + 1}" if i in nameless else column for i, column in enumerate(names)]
    if nameless:
        called = listed([quoted(names[i]) for i in nameless])
        notes.append(
            f"columns without a name are called {called}"
            if len(nameless) > 1
            else f"a column without a name is called {called}"
        )
    seen: set[str] = set()
    for column in names:
        if column in seen:
            raise UserError(f"{name} has two columns called {quoted(column)}; rename one of them")
        if any("\ud800" <= c <= "\udfff" for c in column):
            raise UserError(f"the name of the column {quoted(column)} is no valid text; rename it")
        seen.add(column)
    return names, notes


def refuse_wide(name: str, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise UserError(f"{name} has {columns:,} columns, more than {MOST_COLUMNS:,}; select those that matter first")


def typed(name: str, described: list[tuple], names: Sequence[str]) -> list[Column]:
    """Columns by the names the user knows them by, in the order DuckDB describes them."""
    names, _ = named(name, list(names))
    columns = []
    for column, row in zip(names, described, strict=True):
        there = '"' + row[0].replace('"', '""') + '"'
        columns.append(sql_column(column, there, str(row[1])))
    return columns


def sql_column(name: str, there: str, type_name: str) -> Column:
    """The column that SQL gives, by what DuckDB calls its type."""
    kind = _sql_kind(type_name)
    text, number = f"CAST({there} AS VARCHAR)", ""
    if kind in ("decimal", "number"):
        number = f"CAST({there} AS DOUBLE)"
    if kind == "decimal":
        text = f"CASE WHEN isnan({number}) THEN NULL ELSE {text} END"
    return Column(name, kind, text, number=number)


_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}


def _sql_kind(type_name: str) -> str:
    if type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION", "BLOB", "LIST", "BIT", "VARIANT")):
        return "nested"
    if type_name.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return "decimal"
    if type_name.startswith(("DATE", "TIME", "INTERVAL")):
        return "time"
    return "number" if type_name.removeprefix("U") in _WHOLE else "text"


# -- what can be wrong with a table ----------------------------------------------------------------------------------
def explained(problem: Exception, name: str) -> UserError:
    text = str(problem)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {line[1]} of {name}" if line else name
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if cells:
        return UserError(
            f"{where} has {cells[2]} cells where the header has {cells[1]}; quote cells that hold the separator"
        )
    if "nvalid unicode" in text or "not utf-8" in text:
        return UserError(f"{where} is not UTF-8; save the file as UTF-8")
    if "unterminated quote" in text:
        return UserError(f"{where} opens a quote and does not close it as CSV asks; write a quote inside a cell as two")
    if "Maximum line size" in text:
        return UserError(f"{where} is longer than a line may be; is a quote left open?")
    if "state machine reached an invalid state" in text:
        return UserError(
            f"{where} has lines that end in different ways (LF and CRLF); save it with one kind of line end"
        )
    if "Malformed JSON" in text:  # DuckDB's number of the line is one too many, in some versions
        found = re.search(r"in line \d+: ([^.\n]+)", text)
        why = f" ({visible(found[1], 80)})" if found else ""
        return UserError(f"{name} has a line that is not JSON{why}; each line must be one object")
    if "Out of Memory" in text:
        return UserError(
            f"{name} has too many different combinations, or keys, for {MEMORY} of memory; name fewer --factors"
        )
    first = re.sub(r"^[A-Za-z ]+ Error: ", "", text.splitlines()[0])
    return UserError(f"{name} cannot be read: {visible(first, 200)}")
