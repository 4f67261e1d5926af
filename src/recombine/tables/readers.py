"""Readers of files: CSV, JSON lines and Parquet, one or many by a glob, as a source."""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..labels import quoted, visible
from .base import Column, Origin, Source, named, typed
from .nested import json_columns, struct_columns

_HEADER_BYTES = 1 << 22  # what is looked at to find the names of columns
KINDS = {
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "parquet",
    "pq": "parquet",
}


def from_patterns(patterns: Sequence[str], connection: Any) -> Source:
    """The source for one file, or for all that some paths and globs name, in their order."""
    if not patterns:
        raise UserError("no data are named; give a file, such as drives.csv")
    files = [path for pattern in patterns for path in _matching(pattern)]
    places = [path.resolve() for path in files]
    twice = next((path for path, place in zip(files, places) if places.count(place) > 1), None)
    if twice is not None:
        raise UserError(f"{quoted(twice, 300)} is named twice, and its rows would count twice; name each file once")
    kinds = {_kind(path) for path in files}
    if len(kinds) > 1:
        named_so = quoted(patterns[0]) if len(patterns) == 1 else "what is named"
        raise UserError(f"{named_so} matches files of several kinds ({', '.join(sorted(kinds))}); name one kind")
    if len(files) == 1:
        name = files[0].name
    else:
        name = Path(patterns[0]).name if len(patterns) == 1 else f"{files[0].name} and {len(files) - 1:,} more"
    return from_files(files, name, connection)


def from_files(files: list[Path], name: str, connection: Any) -> Source:
    """The source for files of one kind, in this order."""
    for path in files:
        if not path.stat().st_size:
            raise UserError(f"{path.name} is empty; a table needs a header and rows")
    kind = _kind(files[0])
    make = {"csv": _csv, "json": _json_lines, "parquet": _parquet}[kind]
    # DuckDB would expand brackets and stars in a name that is meant as it is
    source = make(visible(name), files, [glob.escape(str(path)) for path in files], connection)
    source.origin = Origin(kind, tuple(files), source.origin.separator)
    return source


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
            raise UserError(
                f"{visible(path.name)} has other columns than {visible(files[0].name)} ({visible(differs[0], 60)}); "
                "files that are read together have the same columns in the same order"
            )
    _refuse_headless(name, names, records)
    names, notes = named(name, names)
    struct = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    relation = (
        "read_csv($files, auto_detect=false, header=true, delim=$separator, quote='\"', escape='\"', "
        f"null_padding=false, strict_mode=true, columns={{{struct}}})"
    )
    columns = [Column(column, "text", f"c{i}") for i, column in enumerate(names)]
    source = Source(name, connection, relation, {"files": escaped, "separator": separator}, columns)
    source.notes += notes
    source.origin = Origin("csv", separator=separator)
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
    if not text.splitlines()[0].strip():
        raise UserError(f"the first line of {name} is empty; it must hold the names of the columns")
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
    columns, source.notes = json_columns(source, "read_ndjson_objects($files)", "json", {"files": escaped})
    source.columns = {column.name: column for column in columns}
    return source


def _parquet(name: str, files: list[Path], escaped: list[str], connection: Any) -> Source:
    # names of folders (user=ann/t.parquet) are no columns: one of the same name would hide that of the file
    relation = "read_parquet($files, hive_partitioning=false)"
    source = Source(name, connection, relation, {"files": escaped}, [])
    described = source.run(f"DESCRIBE SELECT * FROM {relation}", {"files": escaped}).fetchall()
    names = _parquet_names(source, escaped[0])
    for path, other in zip(files[1:], escaped[1:]):
        own = _parquet_names(source, other)
        if differs := [n for n in own if n not in names] or [n for n in names if n not in own]:
            raise UserError(
                f"{visible(path.name)} has other columns than {visible(files[0].name)} ({visible(differs[0], 60)}); "
                "files that are read together have the same columns"
            )
    columns = struct_columns(source, relation, {"files": escaped}, typed(name, described, names), described)
    source.columns = {column.name: column for column in columns}
    return source


def _parquet_names(source: Source, file: str) -> list[str]:
    """Columns as the file calls them: a query would rename those that DuckDB takes for the same."""
    schema = "SELECT name, coalesce(num_children, 0) FROM parquet_schema($file)"
    (_, columns), *nodes = source.run(schema, {"file": file}).fetchall()  # the root first, then depth first
    names, at = [], 0
    for _ in range(columns):
        names.append(nodes[at][0])
        below = 1  # nodes of this column that are still to come, itself included
        while below:
            below += nodes[at][1] - 1
            at += 1
    return names
