"""Tables in memory as arrow tables: whatever has an Arrow C stream, polars, and data sets of Hugging Face.

None of these packages is imported: each is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UserError, describe
from ..labels import listed, quoted, visible

PART = "split"  # the column that says which part of a data set a row is of


def as_arrow(data: Any) -> Any:
    """The arrow table for a table in memory; None for what is none.

    Args:
        data: an arrow table or record batch; a polars table; an object with `__arrow_c_stream__` (such as a relation of
            DuckDB); a `Dataset` of Hugging Face, or a `DatasetDict`, whose parts get a column "split".
    """
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([data])
    if is_parted(data):
        return _joined(data)
    if is_dataset(data):
        return data.with_format("arrow")[:]
    if hasattr(data, "collect") and hasattr(data, "collect_schema") and not hasattr(data, "to_arrow"):
        raise UserError(f"a {type(data).__name__} holds a query and no rows; give what its collect() returns")
    try:
        if hasattr(data, "to_arrow") and hasattr(data, "columns"):  # polars; its own way keeps text as all can read it
            return data.to_arrow()
        if hasattr(data, "__arrow_c_stream__"):
            return pyarrow.RecordBatchReader.from_stream(data).read_all()
    except Exception as problem:  # of a package that we do not know
        raise UserError(f"the {type(data).__name__} gives no arrow table: {visible(describe(problem), 160)}") from None
    return None


def is_dataset(data: Any) -> bool:
    """Whether data are a `Dataset` of Hugging Face, which has its rows."""
    return hasattr(data, "with_format") and hasattr(data, "features") and hasattr(data, "__getitem__")


def is_parted(data: Any) -> bool:
    """Whether data map names of parts to data sets, as a `DatasetDict` does."""
    return isinstance(data, Mapping) and bool(data) and all(is_dataset(part) for part in data.values())


def refuse_stream(data: Any) -> None:
    """Raises for data whose rows are not there."""
    if hasattr(data, "with_format") and not is_dataset(data):
        raise UserError(
            f"a {type(data).__name__} has its rows elsewhere and gives them one by one; load it without "
            "streaming=True, or save it as Parquet and name the file"
        )


def _joined(parts: Mapping[Any, Any]) -> Any:
    import pyarrow

    tables = {str(name): as_arrow(part) for name, part in parts.items()}
    names = list(next(iter(tables.values())).column_names)
    for part, table in tables.items():
        if differs := set(table.column_names) ^ set(names):
            raise UserError(
                f"the part {quoted(part)} has other columns than the first "
                f"({listed([quoted(n) for n in sorted(differs)])}); give the parts the same columns"
            )
    if PART in names:
        return pyarrow.concat_tables([table.select(names) for table in tables.values()], promote_options="permissive")
    marked = [
        table.select(names).append_column(PART, pyarrow.array([part] * len(table), pyarrow.string()))
        for part, table in tables.items()
    ]
    return pyarrow.concat_tables(marked, promote_options="permissive")
