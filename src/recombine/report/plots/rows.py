"""The rows that a layer draws: its data after its transforms."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import unknown
from .expressions import evaluate

Row = dict[str, Any]
SUMMARIES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "mean": statistics.fmean, "median": statistics.median, "min": min, "max": max, "sum": sum, "count": len,
}  # fmt: skip
TRANSFORMS = ("calculate", "filter", "aggregate")


def transformed(rows: list[Row], transforms: Sequence[dict[str, Any]]) -> list[Row]:
    """Rows after each transform in turn."""
    for step in transforms:
        kind = next((name for name in TRANSFORMS if name in step), None)
        if kind == "calculate":
            rows = [{**row, step["as"]: evaluate(step["calculate"], {"datum": row})} for row in rows]
        elif kind == "filter":
            rows = [row for row in rows if evaluate(step["filter"], {"datum": row})]
        elif kind == "aggregate":
            rows = aggregated(rows, step["aggregate"], step.get("groupby", ()))
        else:
            raise unknown("transform of a chart", next(iter(step), ""), TRANSFORMS)
    return rows


def aggregated(rows: list[Row], wanted: Sequence[dict[str, Any]], by: Sequence[str]) -> list[Row]:
    """One row a group, in the order in which groups first occur."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in by), []).append(row)
    return [
        dict(zip(by, key, strict=True)) | {one["as"]: summary(one["op"], one.get("field"), group) for one in wanted}
        for key, group in groups.items()
    ]


def summary(op: str, field: str | None, group: list[Row]) -> Any:
    """One number for a group; missing and undefined values do not count."""
    if op not in SUMMARIES:
        raise unknown("summary of a chart", op, SUMMARIES)
    values = (
        [row[field] for row in group if row.get(field) is not None and row[field] == row[field]] if field else group
    )
    return SUMMARIES[op](values) if values or op in ("count", "sum") else None
