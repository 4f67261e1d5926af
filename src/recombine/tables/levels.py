"""Levels: the distinct values of one column, in their natural order, and the code of every group of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import listed, quoted, visible
from .base import Source

MOST_LEVELS = 5_000  # of one factor
MISSING = "(missing)"  # the level of empty cells, where they have one; a cell that says so itself means the same
CONTINUOUS_LEVELS = 50  # a factor of decimal numbers with more levels than this is a measurement


def encode(source: Source, column: str, name: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Levels in their natural order, and the code of every group."""
    count = source.run(f"SELECT count(DISTINCT {column}) FROM grouped").fetchone()[0]
    if count > MOST_LEVELS:
        raise UserError(
            f"{quoted(name)} has {count:,} levels, more than {MOST_LEVELS:,}; leave it out, or put numbers in bins "
            "(--bin)"
        )
    if not count:
        return (), np.full(source.run("SELECT count(*) FROM grouped").fetchone()[0], -1, np.int32)
    kind = enum_of(source, name)
    source.run(f"DROP TYPE IF EXISTS {kind}")
    source.run(
        f"CREATE TYPE {kind} AS ENUM (SELECT DISTINCT {column} FROM grouped WHERE {column} IS NOT NULL ORDER BY 1)"
    )
    levels = [row[0] for row in source.run(f"SELECT unnest(enum_range(CAST(NULL AS {kind})))").fetchall()]
    order = sorted(range(len(levels)), key=_natural(levels, source.reads(name).levels))
    codes = fetch_codes(source.run(f"SELECT enum_code(CAST({column} AS {kind})) AS k FROM grouped").fetchnumpy()["k"])
    return tuple(levels[i] for i in order), np.append(np.argsort(order), -1).astype(np.int32)[codes]


def enum_of(source: Source, name: str) -> str:
    """The DuckDB type that holds the levels of a column, in DuckDB's order."""
    return f"levels_{list(source.columns).index(name)}"


def declare(source: Source, name: str, levels: Sequence[str]) -> None:
    """Makes known levels of a column the type that holds them, in a source that was opened again.

    Args:
        source: the table.
        name: of the column.
        levels: as text.
    """
    kind = enum_of(source, name)
    source.run(f"DROP TYPE IF EXISTS {kind}")
    source.run("DROP TABLE IF EXISTS declared")
    source.run(
        "CREATE TEMP TABLE declared AS SELECT unnest($levels) AS level", {"levels": [str(one) for one in levels]}
    )
    source.run(f"CREATE TYPE {kind} AS ENUM (SELECT level FROM declared)")


def fetch_codes(column: Any) -> np.ndarray:
    """Codes of an enumeration; -1 where there is none."""
    return np.ma.filled(np.ma.asarray(column).astype(np.int64), -1)


def _natural(levels: list[str], declared: Sequence[str] = ()) -> Any:
    """Numbers by size, text by its characters, bins as they follow each other; what is missing comes last."""
    if declared:
        place = {level: i for i, level in enumerate(declared)}
        return lambda i: (place.get(levels[i], len(place)), levels[i])
    try:
        numbers = [math.inf if level == MISSING else float(level) for level in levels]
    except ValueError:
        return lambda i: (levels[i] == MISSING, levels[i])
    if any(math.isnan(number) for number in numbers):
        return lambda i: (levels[i] == MISSING, levels[i])
    return lambda i: (levels[i] == MISSING, numbers[i], levels[i])


def refuse_unfit(name: str, levels: Sequence[str], rows: int) -> None:
    levels = [level for level in levels if level != MISSING] or levels
    if not levels:
        raise UserError(f"the factor {quoted(name)} is empty in every row")
    if len(levels) > max(50, rows / 2):
        raise UserError(
            f"{quoted(name)} has {len(levels):,} levels in {rows:,} rows: it looks like an id and not like a factor"
        )
    if len(levels) > CONTINUOUS_LEVELS and any(not level.lstrip("-").isdigit() for level in levels):
        try:
            [float(level) for level in levels]
        except ValueError:
            return
        raise UserError(
            f"{quoted(name)} has {len(levels):,} different decimal numbers: it is a measurement; put it in bins, as "
            f"in --bin {visible(name, 40)}=4"
        )


def lookalikes(name: str, levels: Sequence[str]) -> list[str]:
    """Levels that differ only in case, spaces or the spelling of a number: kept apart, and said."""
    groups: dict[Any, list[str]] = {}
    for level in levels:
        try:
            key: Any = float(level)
            key = level.strip().casefold() if not math.isfinite(key) else key
        except ValueError:
            key = " ".join(level.split()).casefold()
        groups.setdefault(key, []).append(level)
    same = [group for group in groups.values() if len(group) > 1]
    if not same:
        return []
    first = listed([quoted(level) for level in same[0]])
    more = f", and {len(same) - 1:,} more such groups" if len(same) > 1 else ""
    return [f"{quoted(name)} has levels that differ only in spelling ({first}{more}); they are kept apart"]
