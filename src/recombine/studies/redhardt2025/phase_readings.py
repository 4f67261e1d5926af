"""What the study of phases reads off the map of coverage and width."""

from __future__ import annotations

from ...lab.study_table import Frame, PreconditionFailed, StudyTable

BEGINS = 0.8  # the score at which composition is said to begin, on the map


def grid_of(t: StudyTable) -> Frame:
    """Held-out scores, one row per width (rising) and one column per share of trained combinations (rising)."""
    part = t.composition()
    part = part.assign(trained=(1 - part.held_out).round(4))
    scores = part.pivot_table(index="width", columns="trained", values="value").sort_index(axis=0).sort_index(axis=1)
    if scores.empty or scores.isna().any(axis=None):
        raise PreconditionFailed("the map has holes: cells that were not run, diverged or are impossible")
    if min(scores.shape) < 2:
        raise PreconditionFailed("a map takes at least two coverages and two widths")
    return scores


def best_at_lowest(t: StudyTable) -> float:
    """Best held-out R2 of any width at the lowest coverage."""
    return float(grid_of(t).iloc[:, 0].max())


def spread_at_highest(t: StudyTable) -> float:
    """Held-out R2, widest minus narrowest, at the highest coverage."""
    column = grid_of(t).iloc[:, -1]
    return float(column.iloc[-1] - column.iloc[0])


def coverage_where_it_begins(t: StudyTable) -> float:
    """Smallest coverage tried at which the widest net reaches it."""
    row = grid_of(t).iloc[-1]
    above = row.index[row >= BEGINS]
    if above.empty:
        raise PreconditionFailed(f"the widest net never reaches {BEGINS}")
    return float(above[0])
