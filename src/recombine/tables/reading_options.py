"""Reading: how columns become factors: numbers in bins, dates by month or weekday, missing values as a level.

One class serves the audit, the plan and the split. Applied to a source, it says what it came to: quantiles become
edges, so that the same reading can be applied to another table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError, unknown
from ..labels import quoted, visible
from .base import Column, Source
from .bins import binned, edges_of, edges_or_count
from .dates import UNITS, dated, dates_in, refuse_undated
from .levels import MISSING
from .outcome_forms import paired

KEPT = ("left out", "level")  # what can be done with missing values


@dataclass(frozen=True)
class Reading:
    """How columns are read as factors.

    Args:
        bins: column -> how many bins of equally many rows, or the edges between bins.
        dates: column -> a unit of `UNITS`.
        date: a unit for all columns that hold dates; None for none.
        missing: "left out", or "level": what rows without a value are.
    """

    bins: Mapping[str, int | tuple[float, ...]] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None
    missing: str = "left out"

    def apply(self, source: Source, roles: Collection[str] = ()) -> Reading:
        """Has the source read its columns so; returns the reading with the edges of all bins.

        Args:
            source: the table.
            roles: columns that are no factors, and stay as they are.
        """
        for option, names in (("bin", self.bins), ("date", self.dates)):
            for name in names:
                column = source.column(name, option)
                if name in roles:
                    raise UserError(
                        f"{option} names {quoted(name)}, which is the split, an outcome, a weight or an id; "
                        "it is for factors"
                    )
                if column.kind == "nested":
                    raise UserError(f"{quoted(name)} holds lists or records; {option} is for plain values")
        twice = next((name for name in self.bins if name in self.dates), None)
        if twice is not None:
            raise UserError(f"{quoted(twice)} is in bin and in date; a column is read in one way")
        edges = edges_of(source, self.bins)
        dates = dict(self.dates)
        refuse_undated(source, dates)
        if self.date is not None:
            rest = [name for name in source.columns if name not in {*roles, *self.bins, *dates}]
            found = dates_in(source, rest)
            if not found and not dates:
                raise UserError(
                    f"date={self.date} finds no column of dates; name one, as in when={self.date}; dates are written "
                    "as 2024-03-31"
                )
            dates |= dict.fromkeys(found, self.date)
        source.derived = {name: binned(source.columns[name], own) for name, own in edges.items()}
        source.derived |= {name: dated(source.columns[name], unit) for name, unit in dates.items()}
        if self.missing == "level":
            plain = [name for name in source.columns if name not in roles and source.columns[name].kind != "nested"]
            source.derived |= {name: _with_missing(source.reads(name)) for name in plain}
        return Reading(edges, dates, None, self.missing)

    def words(self) -> list[str]:
        """The options of the command line that say the same."""
        found: list[str] = []
        if self.bins:
            found += ["--bin", *(f"{name}={_shown(own)}" for name, own in self.bins.items())]
        if self.dates or self.date:
            found += ["--date", *([self.date] if self.date else []), *(f"{n}={unit}" for n, unit in self.dates.items())]
        return found + (["--missing", "level"] if self.missing == "level" else [])

    def to_json(self) -> dict[str, Any]:
        bins = {name: list(own) if isinstance(own, tuple) else own for name, own in self.bins.items()}
        return {"bin": bins, "date": dict(self.dates), "missing": self.missing}


def reading_of(bin: Any = None, date: Any = None, missing: Any = None) -> Reading:
    """The reading that a user asks for.

    Args:
        bin: {"age": 4, "income": (18, 30, 65)}, or texts such as "age=4" and "income=18,30,65".
        date: "month", {"when": "month"}, or texts such as "when=month".
        missing: "level" for a level of its own; rows without a value are left out otherwise.
    """
    if missing not in (None, *KEPT):
        raise UserError(f"missing={visible(repr(missing), 60)} is none of 'level' and 'left out'")
    given = [bin] if isinstance(bin, str) else bin
    pairs: Mapping[str, Any] = {}
    if given:
        pairs = given if isinstance(given, Mapping) else paired(given, "bin", "age=4")
    bins = {str(name): edges_or_count(str(name), one) for name, one in pairs.items()}
    every, dates = _dates(date)
    return Reading(bins, dates, every, missing or "left out")


def _dates(given: Any) -> tuple[str | None, dict[str, str]]:
    """The unit for all dates, and those of some columns."""
    if given is None:
        return None, {}
    if isinstance(given, Mapping):
        return None, {str(name): _unit(unit) for name, unit in given.items()}
    texts = [given] if isinstance(given, str) else list(given)
    every = [_unit(one) for one in texts if "=" not in str(one)]
    if len(every) > 1:
        raise UserError(f"date names {every[0]!r} and {every[1]!r} for all dates; name columns, as in when={every[0]}")
    pairs = paired([one for one in texts if "=" in str(one)], "date", "when=month")
    return (every[0] if every else None), {name: _unit(unit) for name, unit in pairs.items()}


def _unit(given: Any) -> str:
    if given not in UNITS:
        raise unknown("unit of dates", given, UNITS)
    return given


def _with_missing(column: Column) -> Column:
    """The column with a level for empty cells."""
    levels = (*column.levels, MISSING) if column.levels else ()
    kind = "text" if column.kind == "time" else column.kind
    return Column(column.name, kind, f"coalesce({column.cell}, '{MISSING}')", column.parameters, levels=levels)


def _shown(own: int | tuple[float, ...]) -> str:
    return str(own) if isinstance(own, int) else ",".join(f"{edge:.17g}" for edge in own)
