"""What must stay together: combinations that share a group of rows can only be held out with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from ..errors import UserError
from ..labels import quoted


@dataclass(frozen=True)
class Groups:
    """The groups of the rows of a table, such as drives or patients, none of which may be cut.

    Args:
        column: its name.
        names: of the groups.
        of_row: (rows,) the group of each row; a row that has none is a group of its own.
    """

    column: str
    names: tuple[str, ...]
    of_row: np.ndarray

    @property
    def count(self) -> int:
        return int(self.of_row.max(initial=-1)) + 1

    def name(self, group: int) -> str:
        return quoted(self.names[group]) if group < len(self.names) else "a row without a group"


def groups_of(column: str, values: np.ndarray) -> Groups:
    """Groups by the text in a column, None where a row has none."""
    import pandas

    codes, names = pandas.factorize(values, use_na_sentinel=True)
    codes = codes.astype(np.int64)
    alone = codes < 0
    codes[alone] = len(names) + np.arange(int(alone.sum()))
    return Groups(column, tuple(str(name) for name in names), codes)


def units_of(combinations: np.ndarray, count: int, groups: Groups | None) -> np.ndarray:
    """(count,): the unit of each combination; those of one unit are joined by groups and stay on one side.

    Args:
        combinations: (rows,) the combination of each row, negative where it has none.
        count: how many combinations there are.
        groups: of the rows; each combination is a unit of its own where there are none.
    """
    if groups is None:
        return np.arange(count)
    there = combinations >= 0
    at, group = combinations[there], groups.of_row[there]
    size = count + groups.count  # combinations and groups are the nodes, rows the edges
    edges = scipy.sparse.coo_array((np.ones(len(at)), (at, count + group)), shape=(size, size))
    labels: Any = connected_components(edges, directed=False)[1][:count]
    _, units = np.unique(labels, return_inverse=True)
    if units.max() == 0:
        counts = np.bincount(np.unique(np.stack([group, at], 1), axis=0)[:, 0], minlength=groups.count)
        largest = int(np.argmax(counts))
        raise UserError(
            f"all {count:,} combinations hang together by the groups of {quoted(groups.column)} (that of "
            f"{groups.name(largest)} has {counts[largest]:,} of them), so none can be held out without cutting one; "
            "leave --group out, or name a column with smaller groups"
        )
    return units


def refuse_cut(held: np.ndarray, combinations: np.ndarray, groups: Groups | None, design: str, able: str) -> None:
    """Raises if rows of one group lie on both sides. held: (combinations,) which are held out."""
    if groups is None:
        return
    there = combinations >= 0
    side, group = held[combinations[there]], groups.of_row[there]
    counts = [np.bincount(group[one], minlength=groups.count) for one in (side, ~side)]
    both = np.flatnonzero((counts[0] > 0) & (counts[1] > 0))
    if len(both):
        first = int(both[0])
        raise UserError(
            f"the design {design!r} cuts {len(both):,} of {groups.count:,} groups of {quoted(groups.column)}: that "
            f"of {groups.name(first)} has {counts[0][first]:,} rows to hold out and {counts[1][first]:,} to train on; "
            f"{able} keep groups together"
        )
