"""Copies: the rows of a table, as they came, into several new files, each row into one of them at most.

Text files are copied byte by byte, Parquet by its own schema, and tables in memory as Parquet. Rows keep their order.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import visible
from .arrows import as_arrow, is_dataset
from .base import Origin, Source
from .records import blank, records_of

_BATCH = 1 << 16  # rows of a Parquet file at a time


def ending_of(origin: Origin) -> str:
    """How the names of copies end: as that of the first file, or .parquet for tables in memory."""
    if origin.kind == "memory":
        return ".parquet"
    parts = origin.files[0].name.lower().split(".")
    return f".{parts[-2]}.gz" if parts[-1] == "gz" else f".{parts[-1]}"


def copy_rows(source: Source, chosen: np.ndarray, paths: Sequence[Path]) -> None:
    """Writes row i to paths[chosen[i]], or nowhere where that is negative.

    Args:
        source: an open table.
        chosen: (rows,) one number per row of the table.
        paths: the files to write, which are not there yet.
    """
    origin = source.origin
    if origin.kind in ("csv", "json"):
        copied = _copy_text(origin, len(source.columns), chosen, paths)
    else:
        copied = _copy_arrow(origin, chosen, paths)
    if copied != len(chosen):
        raise UserError(
            f"{source.name} was read as {len(chosen):,} rows and has {copied:,} to copy; was it changed meanwhile, "
            "or does a cell hold a quote that CSV would write as two?"
        )


# -- text -------------------------------------------------------------------------------------------------------------
def _copy_text(origin: Origin, columns: int, chosen: np.ndarray, paths: Sequence[Path]) -> int:
    """How many rows there were. The first record of a CSV, its header, goes into every file."""
    separator = origin.separator if origin.kind == "csv" else None
    at = 0
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(_new_text(path)) for path in paths]
        for number, path in enumerate(origin.files):
            header = origin.kind == "csv"
            for part, ends in records_of(path, separator):
                sides = _sides(part, ends, origin.kind, columns, header, chosen[at:])
                at += int((sides > _HEADER).sum())
                for side, file in enumerate(files):
                    wanted = (sides == side) | ((sides == _HEADER) & (number == 0))
                    file.write(_joined(part, ends, wanted))
                header = False
    return at


_HEADER, _NOWHERE, _BLANK = -3, -2, -4  # what a record is that goes into no file by its number


def _sides(part: bytes, ends: np.ndarray, kind: str, columns: int, header: bool, chosen: np.ndarray) -> np.ndarray:
    """(records,) the file of each record; below `_NOWHERE` what is no row."""
    empty = blank(part, ends, b"\r\n" if kind == "csv" else b"\r\n \t")
    rows = np.ones(len(ends), bool) if kind == "csv" and columns == 1 else ~empty
    sides = np.full(len(ends), _BLANK)
    if header and len(rows):
        rows[0], sides[0] = False, _HEADER
    own = np.full(int(rows.sum()), _NOWHERE)
    known = np.maximum(chosen[: len(own)], _NOWHERE)
    own[: len(known)] = known
    sides[rows] = own
    return sides


def _joined(part: bytes, ends: np.ndarray, wanted: np.ndarray) -> bytes:
    """The bytes of the chosen records; one that lacks its line end, the last of a file, gets one."""
    if not wanted.any():
        return b""
    lengths = np.diff(ends, prepend=0)
    taken = np.frombuffer(part, np.uint8)[np.repeat(wanted, lengths)].tobytes()
    if wanted[-1] and taken[-1:] not in (b"\n", b"\r"):
        first = part[: ends[0]]
        taken += b"\r\n" if first.endswith(b"\r\n") else b"\r" if first.endswith(b"\r") else b"\n"
    return taken


@contextlib.contextmanager
def _new_text(path: Path) -> Iterator[Any]:
    with open(path, "xb") as file:
        if path.name.endswith(".gz"):  # without a date and a name, so that the same rows are the same bytes
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                yield packed
        else:
            yield file


# -- Parquet, and tables in memory ------------------------------------------------------------------------------------
def _copy_arrow(origin: Origin, chosen: np.ndarray, paths: Sequence[Path]) -> int:
    arrow, parquet = _arrow()
    at, schema, codec = 0, None, "zstd"
    with contextlib.ExitStack() as stack:
        files: list[Any] = []
        try:
            if origin.files:
                codec = _codec(parquet.ParquetFile(origin.files[0]))
            for batch in _batches(origin, arrow, parquet):
                if schema is None:
                    schema = batch.schema
                    files = [
                        stack.enter_context(parquet.ParquetWriter(path, schema, compression=codec)) for path in paths
                    ]
                table = arrow.Table.from_batches([batch]).cast(schema)
                sides = chosen[at : at + len(table)]
                at += len(table)
                for side, file in enumerate(files):
                    mask = np.zeros(len(table), bool)
                    mask[: len(sides)] = sides == side
                    if mask.any():
                        file.write_table(table.filter(arrow.array(mask)))
        except (arrow.ArrowException, ValueError, TypeError) as problem:
            why = visible(str(problem).splitlines()[0], 160)
            raise UserError(f"rows cannot be copied into Parquet files: {why}") from None
    return at


def _codec(file: Any) -> str:
    """How the columns of a Parquet file are compressed."""
    if not file.metadata.num_row_groups or not file.metadata.num_columns:
        return "zstd"
    name = file.metadata.row_group(0).column(0).compression.lower()
    return "none" if name == "uncompressed" else name


def _batches(origin: Origin, arrow: Any, parquet: Any) -> Iterator[Any]:
    for path in origin.files:
        yield from parquet.ParquetFile(path).iter_batches(batch_size=_BATCH)
    if origin.files:
        return
    frame = origin.frame
    if isinstance(frame, Mapping):
        frame = arrow.table({str(name): arrow.array(values) for name, values in frame.items()})
    elif hasattr(frame, "iloc"):
        frame = arrow.Table.from_pandas(frame)
    else:
        frame = as_arrow(frame)
    yield from frame.to_batches(max_chunksize=_BATCH)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError(
            "Parquet files are written by pyarrow, which is not installed; `pip install pyarrow` brings it"
        ) from None
    return pyarrow, parquet


def taken(frame: Any, wanted: np.ndarray) -> Any:
    """The chosen rows of a table in memory, as a table of the same kind. wanted: (rows,) booleans."""
    if isinstance(frame, Mapping):
        return {name: _taken_values(values, wanted) for name, values in frame.items()}
    if hasattr(frame, "iloc"):
        return frame.iloc[np.flatnonzero(wanted)]
    if is_dataset(frame):
        return frame.select(np.flatnonzero(wanted).tolist())
    if hasattr(frame, "column_names"):
        return frame.take(np.flatnonzero(wanted))
    return frame[np.flatnonzero(wanted)]


def _taken_values(values: Any, wanted: np.ndarray) -> Any:
    if hasattr(values, "iloc"):
        return values.iloc[np.flatnonzero(wanted)]
    if isinstance(values, np.ndarray):
        return values[wanted]
    return type(values)(value for value, own in zip(values, wanted.tolist(), strict=True) if own)
