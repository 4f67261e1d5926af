"""Readings of one kind as plain rows: what claims ask for, thousands of times, without cutting a frame each time."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

SEVERAL = (list, tuple, set)


class PlainRows:
    """Rows of readings, one per reading; which columns the table has is known where there are no rows, too.

    Args:
        rows: values in the order of the columns.
        columns: all columns of the table, in order.

    Example:
        >>> scored = PlainRows([(0, "r2", "test", "", 0.9)], ["seed", "metric", "stream", "group", "value"])
        >>> scored.where({"seed": 0}).values("test", None, "r2"), scored.where({"seed": 1}).values("test", None, "r2")
        ([0.9], [])
    """

    def __init__(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]):
        self._rows, self.columns = rows, tuple(columns)

    @property
    def _place(self) -> dict[str, int]:
        """Where each column stands in a row."""
        return _places(self.columns)

    @classmethod
    def of(cls, frame: Any, reading: str) -> PlainRows:
        """The readings of a frame that are called so."""
        names = list(frame.columns)
        if "reading" not in names:
            return cls([], names)
        part = frame[frame.reading == reading]
        by_column = ([_shared(value) for value in part[name].tolist()] for name in names)
        return cls(list(zip(*by_column, strict=True)), names)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._rows]

    def where(self, at: Mapping[str, Any]) -> PlainRows:
        """Those at some places of axes; a list names several."""
        rows = self._rows
        for axis, value in at.items():
            place = self._place.get(axis)
            if place is None:
                return PlainRows([], self.columns)
            if isinstance(value, SEVERAL):
                rows = [row for row in rows if row[place] in value]
            else:
                rows = [row for row in rows if row[place] is not None and row[place] == value]
        return PlainRows(rows, self.columns)

    def by(self, axis: str) -> Callable[[Any], PlainRows]:
        """What gives the rows at a value of an axis."""
        found: dict[Any, list[tuple[Any, ...]]] = {}
        place = self._place[axis]
        for row in self._rows:
            found.setdefault(row[place], []).append(row)
        return lambda value: PlainRows(found.get(value, []), self.columns)

    def values(self, stream: str, group: str | None, metric: str) -> list[Any]:
        """Of scores: those of a stream. group=None: those that the score of the stream is about."""
        if not self._rows:
            return []
        place = self._place
        at_metric, at_stream, at_value = place["metric"], place["stream"], place["value"]
        rows = [row for row in self._rows if row[at_metric] == metric and row[at_stream] == stream]
        if group is None and stream == "held_out" and "asked" in place:
            asked = place["asked"]
            return [row[at_value] for row in rows if row[asked] is True or row[asked] == 1]  # NaN: it is not said
        return [row[at_value] for row in rows if row[place["group"]] == (group or "")]


@functools.lru_cache(64)  # of the same columns for all parts of a table
def _places(columns: tuple[str, ...]) -> dict[str, int]:
    return {name: at for at, name in enumerate(columns)}


def _shared(value: Any) -> Any:
    """Words are there once, however many rows have them."""
    return sys.intern(value) if type(value) is str else value
