"""Tables in memory: pandas tables, mappings of columns, and whatever gives an arrow table, as a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from ..labels import quoted
from .arrows import as_arrow, is_dataset, refuse_stream
from .base import Origin, Source, explained, named, typed
from .nested import struct_columns


def from_frame(data: Any, connection: Any) -> Source:
    import duckdb

    refuse_stream(data)
    if not is_pandas(data) and (table := as_arrow(data)) is not None:
        # what is read once, or has its rows in parts, is copied from the arrow table as well
        data = data if hasattr(data, "to_arrow") or is_dataset(data) else table
        frame, names = _renamed(table)
    else:
        frame, names = _as_frame(data)
    try:
        connection.register("given", frame)
    except duckdb.Error as problem:
        raise explained(problem, "the table") from problem
    source = Source("the table", connection, "given", {}, [])
    described = source.run("DESCRIBE SELECT * FROM given").fetchall()
    columns = struct_columns(source, "given", {}, typed("the table", described, names), described)
    source.columns = {column.name: column for column in columns}
    source.origin = Origin("memory", frame=data)
    return source


def is_pandas(data: Any) -> bool:
    import pandas

    return isinstance(data, pandas.DataFrame)


def _renamed(table: Any) -> tuple[Any, list[str]]:
    """An arrow table whose columns are called c0, c1, ..., and what the user calls them."""
    names, _ = named("the table", [str(column) for column in table.column_names])
    if not names:
        raise UserError("the table has no columns")
    return table.rename_columns([f"c{i}" for i in range(len(names))]), names


def _as_frame(data: Any) -> tuple[Any, list[str]]:
    """A pandas table whose columns are called c0, c1, ..., and what the user calls them."""
    import pandas

    if isinstance(data, Mapping):
        try:
            data = pandas.DataFrame(dict(data))
        except ValueError as problem:
            raise UserError(f"the mapping is not a table: {problem}") from None
    if not isinstance(data, pandas.DataFrame):
        raise UserError(
            f"a {type(data).__name__} is not a table; give a path, a pandas, polars or arrow table, "
            "a data set of Hugging Face, or a mapping of columns"
        )
    names, _ = named("the table", [str(column) for column in data.columns])
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
