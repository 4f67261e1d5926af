"""Rows that two tables have in common, by their ids: the same examples, answered by two versions of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..tables import Observed, Source
from ..tables.row_answers import RowAnswers, answers_that_count, row_answers
from .covering import places_in


@dataclass(frozen=True)
class PairedRows:
    """Rows of the later table whose ids the earlier one has, too.

    Args:
        at: the position of the combination in the later table.
        change: how right the row is now, less how right it was.
        weight: how many rows it counts as, by the later table.
        notes: what could not be matched, and why.
    """

    at: np.ndarray
    change: np.ndarray
    weight: np.ndarray
    notes: list[str] = field(default_factory=list)


def pair_rows(before: tuple[Source, Observed], after: tuple[Source, Observed]) -> PairedRows | None:
    """Matches the rows of two tables by their ids; None where no row is in both."""
    (old, old_at), (new, new_at) = (_counting(row_answers(*one), one[1]) for one in (before, after))
    notes = []
    ids = []
    for rows, at, name in ((old, old_at, before[0].name), (new, new_at, after[0].name)):
        assert rows.ids is not None  # ids are asked for only where a column has them
        found, first, times = np.unique(rows.ids[at].astype(str), return_index=True, return_counts=True)
        if (twice := int(times[times > 1].sum())) > 0:
            notes.append(f"{twice:,} rows of {name} share their id with others there, and are compared with none.")
        ids.append(dict(zip(found[times == 1].tolist(), at[first[times == 1]].tolist(), strict=True)))
    both = [one for one in ids[1] if one in ids[0]]
    if not both:
        notes.append("No id is in both tables, so they are compared as two samples.")
        return PairedRows(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), notes)
    there, here = (np.array([own[one] for one in both]) for own in ids)
    moved = places_in(after[1], before[1])[old.at[there]] != new.at[here]
    if moved.any():
        notes.append(f"{int(moved.sum()):,} rows have another combination than before, and are compared with none.")
    there, here = there[~moved], here[~moved]
    alone = len(new_at) - len(here)
    if alone:
        notes.append(f"{alone:,} of {len(new_at):,} rows have no partner; where others have one, they do not count.")
    return PairedRows(new.at[here], new.right[here] - old.right[there], new.weight[here], notes)


def _counting(rows: RowAnswers, observed: Observed) -> tuple[RowAnswers, np.ndarray]:
    """The rows, and the positions of those that count and have an id."""
    counts = answers_that_count(rows, observed)
    if rows.ids is not None:
        counts &= np.array([one is not None for one in rows.ids], bool)
    return rows, np.flatnonzero(counts)
