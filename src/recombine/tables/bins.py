"""Bins: columns of numbers as factors, by quantiles or by edges. A bin holds its lower edge and not its upper one."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UserError, require_int
from ..labels import listed, quoted, visible
from .base import Column, Source

MOST_BINS = 50


def edges_or_count(name: str, given: Any) -> int | tuple[float, ...]:
    """How many bins a column gets, or the edges between them: 4, "4", (18, 30, 65) or "18,30,65"."""
    if isinstance(given, str):
        parts = given.split(",")
        given = parts[0] if len(parts) == 1 else parts
    if isinstance(given, Sequence) and not isinstance(given, str) or hasattr(given, "tolist"):
        edges = tuple(_edge(name, one) for one in given)
        if not edges or any(a >= b for a, b in zip(edges, edges[1:])):
            raise UserError(f"the edges of {quoted(name)} must go up, as in 18,30,65; they are {_spelled(edges)}")
        if len(edges) >= MOST_BINS:
            raise UserError(f"{quoted(name)} has {len(edges):,} edges; at most {MOST_BINS - 1} would do")
        return edges
    try:
        count = int(given) if isinstance(given, str) else given
    except ValueError:
        raise UserError(
            f"bin {quoted(f'{name}={given}')} is neither a number of bins (age=4) nor edges between them (age=18,30,65)"
        ) from None
    return require_int(f"the number of bins of {quoted(name)}", count, at_least=2, at_most=MOST_BINS)


def _edge(name: str, given: Any) -> float:
    try:
        edge = float(given)
    except (TypeError, ValueError):
        edge = math.nan
    if not math.isfinite(edge):
        raise UserError(f"the edge {quoted(given)} of {quoted(name)} is not a number; edges are written as 18,30,65")
    return edge


def _spelled(edges: Sequence[float]) -> str:
    return ",".join(f"{edge:g}" for edge in edges) or "none"


def edges_of(source: Source, bins: Mapping[str, int | tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """The edges of all bins. Quantiles are those of NumPy, between rows where they fall there."""
    if not bins:
        return {}
    columns = [source.columns[name] for name in bins]
    asked, of = [], []
    for i, (column, own) in enumerate(zip(columns, bins.values(), strict=True)):
        of += [f"{column.cell} AS t{i}", f"{column.numeric} AS d{i}"]
        shares = [] if isinstance(own, tuple) else [part / own for part in range(1, own)]
        quantiles = f"quantile_cont(d{i}, {shares}) FILTER (isfinite(d{i}))" if shares else "NULL"
        asked += [f"count(t{i})", f"count(d{i})", f"min(t{i}) FILTER (TRY_CAST(t{i} AS DOUBLE) IS NULL)", quantiles]
    relation, parameters = source.relation([], more=of, of=columns)
    found = source.run(f"SELECT {', '.join(asked)} FROM {relation}", parameters).fetchone()
    edges = {}
    for i, (name, own) in enumerate(bins.items()):
        cells, numbers, text, quantiles = found[4 * i : 4 * i + 4]
        _refuse_text(name, cells, numbers, text)
        edges[name] = own if isinstance(own, tuple) else _distinct(source, name, own, quantiles)
    return edges


def _refuse_text(name: str, cells: int, numbers: int, text: str | None) -> None:
    if not cells:
        raise UserError(f"{quoted(name)} is empty in every row; bins need numbers")
    if text is None:
        return
    if not numbers:
        raise UserError(
            f"{quoted(name)} holds text such as {quoted(text)}; bins are for numbers: leave it out of bin, and its "
            "values are its levels"
        )
    raise UserError(
        f"{quoted(name)} has the value {quoted(text)}, which is no number and lies in no bin; empty such cells "
        "(missing=level keeps them as a level)"
    )


def _distinct(source: Source, name: str, count: int, quantiles: Sequence[float] | None) -> tuple[float, ...]:
    """Edges of which no two are the same: many rows of one value lie in one bin."""
    if quantiles is None:
        raise UserError(f"{quoted(name)} has no finite number; bins need some")
    relation, parameters = source.relation([], more=[f"{source.columns[name].numeric} AS d"], of=[source.columns[name]])
    low = source.run(f"SELECT min(d) FROM {relation}", parameters).fetchone()[0]
    edges = tuple(edge for edge in dict.fromkeys(quantiles) if edge > low)  # nothing lies below the least
    if not edges:
        raise UserError(
            f"more than {1 - 1 / count:.0%} of the rows of {quoted(name)} have the value {low:g}, so {count} bins of "
            f"equally many rows are one; give edges, such as {visible(name, 40)}={low + 1:g}"
        )
    if len(edges) < count - 1:
        source.notes.append(
            f"{quoted(name)} has {len(edges) + 1} bins and not {count}, since many rows have the same value "
            f"(edges: {listed([f'{edge:g}' for edge in edges], 8)})"
        )
    return edges


def names_of(edges: Sequence[float]) -> tuple[str, ...]:
    """What bins are called: under 18, 18 to under 30, 30 and over."""
    digits = next((n for n in range(4, 17) if len({f"{edge:.{n}g}" for edge in edges}) == len(edges)), 17)
    said = [_plainly(edge, digits) for edge in edges]
    between = [f"{a} to under {b}" for a, b in zip(said, said[1:])]
    return (f"under {said[0]}", *between, f"{said[-1]} and over")


def _plainly(edge: float, digits: int) -> str:
    if edge == int(edge) and abs(edge) < 1e15:
        return str(int(edge))
    return f"{edge:.{digits}g}"


def binned(column: Column, edges: Sequence[float]) -> Column:
    """A column whose levels are bins, found by halves."""
    names = names_of(edges)
    prefix = f"bin_{zlib.crc32(column.name.encode()):08x}_"  # parameters of several columns stand in one statement
    bound = {f"{prefix}e{i}": edge for i, edge in enumerate(edges)} | {f"{prefix}n{i}": n for i, n in enumerate(names)}

    def among(low: int, high: int) -> str:
        """SQL for the bins low, ..., high."""
        if low == high:
            return f"${prefix}n{low}"
        middle = (low + high + 1) // 2
        below = f"{column.numeric} < ${prefix}e{middle - 1}"
        return f"CASE WHEN {below} THEN {among(low, middle - 1)} ELSE {among(middle, high)} END"

    sql = f"CASE WHEN {column.numeric} IS NOT NULL THEN {among(0, len(edges))} END"
    return Column(column.name, "text", sql, {**column.parameters, **bound}, levels=names)
