"""Rows of a chart: tidy, defined, and few enough to be drawn; what is left out is counted."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]
Table = Any  # a pandas.DataFrame, or rows; its columns are not in its type

MOST = 4_000  # points that are drawn: with more, no point can be told from another and a browser is slow
FARTHEST = sys.float_info.max  # JSON has no infinity; beyond any axis it is drawn as any point beyond it


def tidy(table: Table) -> Rows:
    """The rows of a table, or of a list of rows, with plain values."""
    rows = table.to_dict("records") if hasattr(table, "to_dict") else [dict(row) for row in table]
    return [{str(name): plain(value) for name, value in row.items()} for row in rows]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return value.item() if isinstance(value, np.generic) else value


def defined(rows: Rows, fields: Sequence[str] = ("value",)) -> tuple[Rows, int]:
    """Rows whose values are numbers, and how many are not: drawn, an undefined value would lie at zero."""
    known = [row for row in rows if all(row[name] is not None and not math.isnan(row[name]) for name in fields)]
    return known, len(rows) - len(known)


def finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def bounded(rows: Rows, fields: Sequence[str] = ("value",)) -> Rows:
    """The rows with the farthest number there is in place of an infinite one, and what to say of it as `said`."""
    if all(math.isfinite(row[name]) for row in rows for name in fields):
        return rows
    return [
        row
        | {name: float(np.clip(row[name], -FARTHEST, FARTHEST)) for name in fields}
        | {"said": spelled(row[fields[-1]])}
        for row in rows
    ]


def spelled(value: float) -> str:
    """A number as the pointer is told it."""
    return f"{value:.3f}".replace("inf", "∞").replace("-", "\N{MINUS SIGN}")


def thinned(rows: Rows, most: int = MOST) -> Rows:
    """At most so many rows, drawn without replacement; the same rows give the same ones, in their order."""
    if len(rows) <= most:
        return rows
    kept = np.sort(np.random.default_rng(0).choice(len(rows), most, replace=False))
    return [rows[i] for i in kept.tolist()]


def means(rows: Rows, by: Sequence[str]) -> Rows:
    """The mean value of each group, in the order in which groups occur. Of all rows, however few are drawn."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row["value"])
    found = [dict(zip(by, at, strict=True)) | {"value": _mean(values)} for at, values in groups.items()]
    return bounded([row for row in found if not math.isnan(row["value"])])


def _mean(values: list[float]) -> float:
    infinite = {value for value in values if math.isinf(value)}
    if infinite:  # of both signs there is none
        return infinite.pop() if len(infinite) == 1 else math.nan
    return math.fsum(values) / len(values)


def in_order(rows: Rows, column: str, order: Iterable[Any] | None = None) -> list[Any]:
    """The values of a column: those of `order` that are there, or all as they come."""
    there = list(dict.fromkeys(row[column] for row in rows))
    return there if order is None else [value for value in order if value in there]
