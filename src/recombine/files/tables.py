"""Tables as files: whole or absent."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from ..errors import UserError
from .local import temporary


def write_table(path: Path, table: Any) -> None:
    """A pandas table as .parquet or .csv, by DuckDB: whole or absent."""
    import duckdb

    aside = temporary(path.parent)
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
