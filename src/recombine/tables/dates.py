"""Dates: columns of dates or times as factors: by month, by weekday, by hour. A date is taken as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..errors import UserError
from ..labels import quoted
from .base import Column, Source

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (  # unlike DuckDB's, in no locale
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

#: unit -> SQL of its name for a time {t}, and its levels in order where the names do not sort
UNITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "year": ("strftime({t}, '%Y')", ()),
    "quarter": ("concat(year({t}), '-Q', quarter({t}))", ()),
    "month": ("strftime({t}, '%Y-%m')", ()),
    "day": ("strftime({t}, '%Y-%m-%d')", ()),
    "month-of-year": ("list_extract($months, month({t}))", tuple(_MONTHS)),
    "weekday": ("list_extract($days, isodow({t}))", _DAYS),
    "hour": ("strftime({t}, '%H')", ()),
}
_LOOKED_AT = 1_000  # rows by which columns that hold no dates are told, before all rows are asked


def dated(column: Column, unit: str) -> Column:
    """A column whose levels are units of time."""
    sql, levels = UNITS[unit]
    words = {name: list(values) for name, values in (("months", _MONTHS), ("days", _DAYS)) if f"${name}" in sql}
    time = f"TRY_CAST({column.cell} AS TIMESTAMP)"
    return Column(column.name, "text", sql.replace("{t}", time), column.parameters | words, levels=levels)


def refuse_undated(source: Source, dates: Mapping[str, str]) -> None:
    """Raises if a column that is to be read as dates holds something else."""
    for name, (cells, found, odd) in _counted(source, list(dates)).items():
        if not cells:
            raise UserError(f"{quoted(name)} is empty in every row; date needs dates")
        if found < cells:
            raise UserError(
                f"{quoted(name)} has the value {quoted(odd)}, which is no date; write dates as 2024-03-31 or "
                "2024-03-31 14:05"
            )


def dates_in(source: Source, names: Iterable[str]) -> list[str]:
    """Columns whose every value is a date."""
    likely = [name for name in names if source.columns[name].kind in ("time", "text")]
    few = _counted(source, likely, _LOOKED_AT)
    likely = [name for name in likely if few[name][1] == few[name][0]]
    return [name for name, (cells, found, _) in _counted(source, likely).items() if cells and found == cells]


def _counted(source: Source, names: Sequence[str], rows: int | None = None) -> dict[str, tuple[int, int, str | None]]:
    """Of each column: cells that are not empty, dates among them, and a cell that is none."""
    if not names:
        return {}
    columns = [source.columns[name] for name in names]
    more = [f"{column.cell} AS t{i}" for i, column in enumerate(columns)]
    relation, parameters = source.relation([], more=more, of=columns)
    asked = ", ".join(
        f"count(t{i}), count(TRY_CAST(t{i} AS TIMESTAMP)), min(t{i}) FILTER (TRY_CAST(t{i} AS TIMESTAMP) IS NULL)"
        for i in range(len(names))
    )
    some = f"(SELECT * FROM {relation} LIMIT {rows})" if rows else relation
    found = source.run(f"SELECT {asked} FROM {some}", parameters).fetchone()
    return {name: tuple(found[3 * i : 3 * i + 3]) for i, name in enumerate(names)}
