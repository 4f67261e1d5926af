"""Sources: a file, a glob or a table in memory, as columns of text that DuckDB streams.

Nothing of the user's becomes SQL: paths, separators and JSON pointers are bound parameters, columns get names of our
own (c0, c1, ...), and the only names that must stand in a statement (columns of a Parquet file) are quoted.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..labels import listed, quoted, visible

MOST_COLUMNS = 10_000
_HEADER_BYTES = 1 << 22  # what is looked at to find the names of columns
_MEMORY = "1GB"  # of DuckDB; beyond it spills to disk
KINDS = {
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "parquet",
    "pq": "parquet",
}


@dataclass(frozen=True)
class Column:
    """A column: the user's name, what it holds ("text", "number", "decimal", "time" or "nested"), how to read it."""

    name: str
    kind: str
    sql: str  # gives text or NULL; may name the parameter below
    parameters: dict[str, Any] = field(default_factory=dict)


class Source:
    """Columns that can be queried as text. Use `open_source`."""

    def __init__(self, name: str, connection: Any, relation: str, parameters: dict[str, Any], columns: list[Column]):
        self.name, self.connection = name, connection
        self.notes: list[str] = []
        self.frame: Any = None  # the user's own table, if it is one
        self._relation, self._parameters = relation, parameters
        self.columns = {column.name: column for column in columns}

    def column(self, name: str, role: str) -> Column:
        """The column that plays a role, or an error with the near names."""
        if name not in self.columns:
            raise unknown(f"column for {role}", visible(name, 80), [visible(known, 80) for known in self.columns])
        return self.columns[name]

    def relation(self, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """SQL of a subquery with the columns v0, v1, ... as text (an empty cell is NULL), and its parameters."""
        columns = [self.columns[name] for name in names]
        shown = ", ".join(f"nullif({column.sql}, '') AS v{i}" for i, column in enumerate(columns))
        parameters = dict(self._parameters)
        for column in columns:
            parameters |= column.parameters
        return f"(SELECT {shown} FROM {self._relation})", parameters

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Executes a statement; what DuckDB says about a bad file becomes one sentence."""
        import duckdb

        try:
            return self.connection.execute(statement, dict(parameters or {}))
        except duckdb.Error as problem:
            raise _explained(problem, self.name) from problem


@contextlib.contextmanager
def open_source(data: Any) -> Iterator[Source]:
    """The source for a path, a glob, or a pandas, polars or arrow table, or a mapping of columns."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="recombine-") as spill, duckdb.connect(":memory:") as connection:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"):
            connection.execute(f"SET {setting}=false")
        connection.execute(f"SET memory_limit='{_MEMORY}'")
        connection.execute("SET temp_directory=$folder", {"folder": spill})
        connection.execute("SET enable_progress_bar=false")
        if isinstance(data, (str, os.PathLike)):
            yield _from_files(str(data), connection)
        else:
            yield _from_frame(data, connection)


# -- files ------------------------------------------------------------------------------------------------------------
def _from_files(pattern: str, connection: Any) -> Source:
    files = _matching(pattern)
    kinds = {_kind(path) for path in files}
    if len(kinds) > 1:
        raise UserError(f"{quoted(pattern)} matches files of several kinds ({', '.join(sorted(kinds))}); name one kind")
    name = files[0].name if len(files) == 1 else Path(pattern).name
    for path in files:
        if not path.stat().st_size:
            raise UserError(f"{path.name} is empty; a table needs a header and rows")
    make = {"csv": _csv, "json": _json_lines, "parquet": _parquet}[kinds.pop()]
    # DuckDB would expand brackets and stars in a name that is meant as it is
    return make(visible(name), files, [glob.escape(str(path)) for path in files], connection)


def _matching(pattern: str) -> list[Path]:
    if "\0" in pattern:
        raise UserError(f"{quoted(pattern)} is not a path: it contains a NUL")
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", pattern):
        raise UserError(f"{quoted(pattern)} is an address; the audit reads local files only: download it first")
    path = Path(pattern)
    try:
        if not pattern.strip():
            raise UserError("the path of the data is empty; name a file, such as drives.csv")
        if path.is_dir():
            inside = visible(pattern.rstrip("/"), 200)
            raise UserError(f"{visible(pattern, 200)} is a folder; name files in it, such as '{inside}/*.parquet'")
        if path.is_file():
            return [path]
        found = [Path(p) for p in sorted(glob.glob(pattern, recursive=True))]
        files = [p for p in found if p.is_file()]
    except OSError as problem:
        raise UserError(f"{quoted(pattern)} cannot be read: {problem.strerror}") from None
    if not files:
        raise UserError(f"there is no file {quoted(pattern, 300)}")
    return files


def _kind(path: Path) -> str:
    parts = path.name.lower().split(".")
    ending = parts[-2] if len(parts) > 2 and parts[-1] == "gz" else parts[-1]
    if ending not in KINDS:
        raise UserError(
            f"{visible(path.name)} is not a table that can be read; its name must end in .{', .'.join(KINDS)} (or .gz)"
        )
    return KINDS[ending]


def _csv(name: str, files: list[Path], escaped: list[str], connection: Any) -> Source:
    separator, names, records = _header(files[0])
    for path in files[1:]:
        if (other := _header(path))[:2] != (separator, names):
            differs = (
                [n for n in other[1] if n not in names] or [n for n in names if n not in other[1]] or ["their order"]
            )
            raise UserError(f"{path.name} has other columns than {files[0].name} ({visible(differs[0], 60)})")
    _refuse_headless(name, names, records)
    names, notes = _named(name, names)
    struct = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    relation = (
        "read_csv($files, auto_detect=false, header=true, delim=$separator, quote='\"', escape='\"', "
        f"null_padding=false, strict_mode=true, columns={{{struct}}})"
    )
    columns = [Column(column, "text", f"c{i}") for i, column in enumerate(names)]
    source = Source(name, connection, relation, {"files": escaped, "separator": separator}, columns)
    source.notes += notes
    return source


def _header(path: Path) -> tuple[str, list[str], list[list[str]]]:
    """The separator, the names and the first records of a CSV file."""
    name = visible(path.name)
    try:
        with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else open(path, "rb") as file:
            head = file.read(_HEADER_BYTES)
    except (OSError, EOFError) as problem:
        raise UserError(f"{name} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UserError(f"{name} is encoded in UTF-16; save it as UTF-8")
    whole = len(head) < _HEADER_BYTES
    if not whole:
        head = head[: head.rfind(b"\n") + 1]
        if not head:
            raise UserError(f"the first line of {name} is longer than {_HEADER_BYTES:,} bytes; is it a table?")
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = head.count(b"\n", 0, problem.start) + 1
        raise UserError(f"{name} is not UTF-8 (line {line}); save it as UTF-8") from None
    if not text.strip():
        raise UserError(f"{name} is empty; a table needs a header and rows")
    candidates = "\t" if _ends(path, "tsv", "tab") else ",;\t|"
    # the separator that cuts the header into most cells, if the next record has as many
    parsed = {separator: _records(text, separator) for separator in candidates}
    separator = max(candidates, key=lambda s: (_agree(parsed[s]), len(parsed[s][0]), -candidates.index(s)))
    return separator, parsed[separator][0], parsed[separator][1:]


def _records(text: str, separator: str, most: int = 500) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # the first record is what counts; DuckDB judges the others
        for record in reader:
            if record:
                records.append(record)
            if len(records) >= most:
                break
    return records or [[text.splitlines()[0]]]


def _agree(records: list[list[str]]) -> bool:
    return len(records[0]) > 1 and (len(records) < 2 or len(records[1]) == len(records[0]))


def _ends(path: Path, *endings: str) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(tuple(f".{e}" for e in endings))


def _refuse_headless(name: str, names: list[str], records: list[list[str]]) -> None:
    """A first line that is data: only numbers, or names that turn up again as values of their own columns."""
    again = sum(any(i < len(r) and r[i] == column for r in records) for i, column in enumerate(names) if column)
    if all(_is_number(column) for column in names) or (again * 2 > len(names)):
        shown = ", ".join(visible(n, 20) for n in names[:4])
        raise UserError(
            f"the first line of {name} looks like data and not like names of columns ({shown}); add a header line"
        )


def _named(name: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Names of columns: none twice; those without one get one, which is said."""
    _refuse_wide(name, len(names))
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


def _refuse_wide(name: str, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise UserError(f"{name} has {columns:,} columns, more than {MOST_COLUMNS:,}; select those that matter first")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_lines(name: str, files: list[Path], escaped: list[str], connection: Any) -> Source:
    source = Source(name, connection, "read_ndjson_objects($files)", {"files": escaped}, [])
    odd, twice = source.run(
        "SELECT count(*) FILTER (json_type(json) <> 'OBJECT'), "
        "min(json) FILTER (len(json_keys(json)) <> len(list_distinct(json_keys(json)))) "
        "FROM read_ndjson_objects($files)",
        {"files": escaped},
    ).fetchone()
    if odd:
        wanted = '{"color": "red"}'
        raise UserError(f"{name} has lines that are no JSON objects ({odd:,}); each line must be one, such as {wanted}")
    if twice is not None:
        raise UserError(f"{name} has an object that names a key twice: {visible(twice, 60)}")
    keys = source.run(
        "SELECT count(DISTINCT k) FROM (SELECT unnest(json_keys(json)) AS k FROM read_ndjson_objects($files))",
        {"files": escaped},
    ).fetchone()[0]
    _refuse_wide(name, keys)
    rows = source.run(
        "SELECT k, list(DISTINCT json_type(json, '/' || replace(replace(k, '~', '~0'), '/', '~1'))) "
        "FROM (SELECT json, unnest(json_keys(json)) AS k FROM read_ndjson_objects($files)) GROUP BY k ORDER BY k",
        {"files": escaped},
    ).fetchall()
    names, notes = _named(name, [row[0] for row in rows])
    columns = []
    for i, (key, types) in enumerate(rows):
        pointer = "/" + key.replace("~", "~0").replace("/", "~1")
        columns.append(Column(names[i], _json_kind(types), f"json_extract_string(json, $p{i})", {f"p{i}": pointer}))
    source.columns = {column.name: column for column in columns}
    source.notes += notes
    return source


def _json_kind(types: list[str | None]) -> str:
    found = {t for t in types if t and t != "NULL"}
    if found & {"ARRAY", "OBJECT"}:
        return "nested"
    if found and found <= {"UBIGINT", "BIGINT", "HUGEINT", "UHUGEINT"}:
        return "number"
    return "decimal" if found and found <= {"UBIGINT", "BIGINT", "DOUBLE"} else "text"


def _parquet(name: str, files: list[Path], escaped: list[str], connection: Any) -> Source:
    import pyarrow
    from pyarrow import parquet

    # names of folders (user=ann/t.parquet) are no columns: one of the same name would hide that of the file
    relation = "read_parquet($files, hive_partitioning=false)"
    source = Source(name, connection, relation, {"files": escaped}, [])
    described = source.run(f"DESCRIBE SELECT * FROM {relation}", {"files": escaped}).fetchall()
    try:
        names = parquet.read_schema(files[0]).names  # as the file has them: DuckDB renames those it takes for the same
    except (pyarrow.ArrowException, OSError) as problem:
        raise UserError(f"{name} cannot be read: {visible(str(problem).splitlines()[0], 200)}") from None
    source.columns = {column.name: column for column in _typed(name, described, names)}
    return source


# -- tables in memory -------------------------------------------------------------------------------------------------
def _from_frame(data: Any, connection: Any) -> Source:
    import duckdb

    frame, names = _as_frame(data)
    try:
        connection.register("given", frame)
    except duckdb.Error as problem:
        raise _explained(problem, "the table") from problem
    source = Source("the table", connection, "given", {}, [])
    described = source.run("DESCRIBE SELECT * FROM given").fetchall()
    source.columns = {column.name: column for column in _typed("the table", described, names)}
    source.frame = data
    return source


def _as_frame(data: Any) -> tuple[Any, list[str]]:
    """A pandas or arrow table whose columns are called c0, c1, ..., and what the user calls them."""
    import pandas

    if hasattr(data, "to_arrow") and not isinstance(data, pandas.DataFrame):  # polars
        data = data.to_arrow()
    if hasattr(data, "rename_columns") and hasattr(data, "column_names"):  # pyarrow
        names, _ = _named("the table", [str(column) for column in data.column_names])
        return data.rename_columns([f"c{i}" for i in range(len(names))]), names
    if isinstance(data, Mapping):
        try:
            data = pandas.DataFrame(dict(data))
        except ValueError as problem:
            raise UserError(f"the mapping is not a table: {problem}") from None
    if not isinstance(data, pandas.DataFrame):
        raise UserError(
            f"a {type(data).__name__} is not a table; give a path, a pandas, polars or arrow table, "
            "or a mapping of columns"
        )
    names, _ = _named("the table", [str(column) for column in data.columns])
    if not names:
        raise UserError("the table has no columns")
    columns = {f"c{i}": _plain(name, data.iloc[:, i]) for i, name in enumerate(names)}
    return pandas.DataFrame(columns), names


def _plain(name: str, series: Any) -> Any:
    """A column that DuckDB need not guess the type of; what it does not know goes as text."""
    import pandas

    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    unknown_types = (pandas.CategoricalDtype, pandas.PeriodDtype, pandas.IntervalDtype)
    if series.dtype != object and series.dtype.kind != "c" and not isinstance(series.dtype, unknown_types):
        return series.array
    cells = series.astype(object).to_numpy()
    missing = pandas.isna(pandas.Series(cells, dtype=object)).to_numpy()
    if any(isinstance(cell, (list, tuple, set, dict)) or getattr(cell, "ndim", 0) for cell in cells[~missing][:1000]):
        return pandas.array([None if m else [str(c)] for c, m in zip(cells, missing, strict=True)], dtype=object)
    try:
        return pandas.array([None if m else str(c) for c, m in zip(cells, missing, strict=True)], dtype="str")
    except UnicodeError:
        raise UserError(
            f"a cell of the column {quoted(name)} is no valid text: half of a character is missing"
        ) from None


def _typed(name: str, described: list[tuple], names: Sequence[str]) -> list[Column]:
    """Columns by the names the user knows them by, in the order DuckDB describes them."""
    names, _ = _named(name, list(names))
    columns = []
    for column, row in zip(names, described, strict=True):
        there = '"' + row[0].replace('"', '""') + '"'
        kind = _sql_kind(str(row[1]))
        text = f"CAST({there} AS VARCHAR)"
        if kind == "decimal":
            text = f"CASE WHEN isnan(CAST({there} AS DOUBLE)) THEN NULL ELSE {text} END"
        columns.append(Column(column, kind, text))
    return columns


def _sql_kind(type_name: str) -> str:
    if type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION", "BLOB", "LIST", "BIT", "VARIANT")):
        return "nested"
    if type_name.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return "decimal"
    if type_name.startswith(("DATE", "TIME", "INTERVAL")):
        return "time"
    return "number" if "INT" in type_name else "text"


# -- what can be wrong with a file ------------------------------------------------------------------------------------
def _explained(problem: Exception, name: str) -> UserError:
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
            f"{name} has too many different combinations, or keys, for {_MEMORY} of memory; name fewer --factors"
        )
    first = re.sub(r"^[A-Za-z ]+ Error: ", "", text.splitlines()[0])
    return UserError(f"{name} cannot be read: {visible(first, 200)}")
