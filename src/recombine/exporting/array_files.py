"""Arrays by name in one file, as .npz or .parquet: one row per item. Reading either runs no code.

A .npz has the arrays as they are. A .parquet has one column per array; an array of more than one axis is a list of
numbers per row, in row-major order, and its shape is said elsewhere (in the card).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..files.foreign_arrays import read_npz

FORMATS = ("npz", "parquet")


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes arrays of equally many rows; how, the ending of the path says."""
    if path.suffix == ".npz":
        np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
        return
    import duckdb
    import pandas

    flat = {
        name: values if values.ndim == 1 else list(values.reshape(len(values), -1)) for name, values in arrays.items()
    }
    with duckdb.connect(":memory:") as connection:
        connection.register("given", pandas.DataFrame(flat))
        connection.table("given").write_parquet(str(path), compression="zstd")


def read_arrays(path: Path, names: Sequence[str], shapes: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Some of the arrays of a file.

    Args:
        path: of the file.
        names: of the arrays.
        shapes: of one row of each array.
    """
    if path.suffix == ".npz":
        found = read_npz(path)
        missing = next((name for name in names if name not in found), None)
        if missing is not None:
            raise UserError(f"{path.name} has no array {missing!r}; export it again")
        return {name: found[name] for name in names}
    import duckdb

    listed = ", ".join(f'"{name}"' for name in names)
    with duckdb.connect(":memory:") as connection:
        columns: Any = connection.execute(f"SELECT {listed} FROM read_parquet(?)", [str(path)]).fetchnumpy()
    return {name: _stacked(columns[name], tuple(shapes[name])) for name in names}


def _stacked(column: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    values = np.stack([np.asarray(row) for row in column]) if column.dtype == object else np.asarray(column)
    return values.reshape(len(values), *shape)
