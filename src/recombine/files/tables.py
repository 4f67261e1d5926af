"""Tables as files: whole or absent."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from ..errors import UserError
from .local import temporary
from .marks import NOTE, refuse_foreign


def write_table(path: Path, table: Any, force: bool = False, ours: bool = False) -> None:
    """A pandas table as .parquet or .csv, by DuckDB: whole or absent.

    Args:
        path: of the file; one that we did not write is not replaced.
        table: what it holds.
        force: replace whatever is there.
        ours: something else vouches for what is there.
    """
    import duckdb

    refuse_foreign(path, force, ours)
    aside = temporary(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(":memory:") as connection:
            connection.register("given", table)
            if path.suffix.lower() == ".parquet":
                place = str(aside).replace("'", "''")  # COPY binds no parameters before DuckDB 1.3
                noted = f"KV_METADATA {{{NOTE}: 'table'}}"
                connection.execute(f"COPY given TO '{place}' (FORMAT parquet, COMPRESSION zstd, {noted})")
            else:
                connection.table("given").write_csv(str(aside), header=True)
        os.replace(aside, path)
    except (OSError, duckdb.Error) as problem:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}: {str(problem).splitlines()[0]}") from problem
