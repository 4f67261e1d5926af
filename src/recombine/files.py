"""Files that are whole or absent: written aside, fsynced, renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from pathlib import Path
from typing import Any

from .errors import UserError

TEMPORARY = ".recombine-tmp-"  # our own marker, by which what a crash left behind can be told from other files


def write_whole(path: Path, data: bytes) -> None:
    """Puts `data` at `path` so that no reader, and no crash, ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{TEMPORARY}{uuid.uuid4().hex}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    with contextlib.suppress(OSError):  # the rename itself is made durable where directories can be synced
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_or_refuse(path: Path, data: bytes) -> None:
    """`write_whole` for what a user asked to have written: one sentence on what is in the way."""
    try:
        write_whole(path, data)
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full" if full else (problem.strerror or str(problem))
        raise UserError(f"cannot write {path}: {why}; what was stored before is whole") from problem


def write_table(path: Path, table: Any) -> None:
    """A pandas table as .parquet or .csv, by DuckDB: whole or absent."""
    import duckdb

    aside = path.parent / f"{TEMPORARY}{uuid.uuid4().hex}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(":memory:") as connection:
            connection.register("given", table)
            relation = connection.table("given")
            if path.suffix.lower() == ".parquet":
                relation.write_parquet(str(aside), compression="zstd")
            else:
                relation.write_csv(str(aside), header=True)
        os.replace(aside, path)
    except (OSError, duckdb.Error) as problem:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}: {str(problem).splitlines()[0]}") from problem
