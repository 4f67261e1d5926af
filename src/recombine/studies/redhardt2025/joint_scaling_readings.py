"""What joint-scaling reads off its map of width and stored examples, and the rows of its charts."""

from __future__ import annotations

from ...charts import kinds
from ...lab.study_table import Frame, PreconditionFailed, StudyTable
from ...statistics.intervals import over_seeds


def grid_of(t: StudyTable, stream: str = "held_out") -> Frame:
    """Scores of one stream, one row per width and one column per number of examples, both rising."""
    scores = t.scores(stream).pivot_table(index="width", columns="examples", values="value")
    scores = scores.sort_index(axis=0).sort_index(axis=1)
    whole = t.width.nunique(), t.examples.nunique()
    if scores.shape != whole or scores.isna().any(axis=None):
        raise PreconditionFailed("the map has holes: nets that were not run or diverged")
    if min(scores.shape) < 2:
        raise PreconditionFailed("it takes at least two widths and two numbers of examples")
    return scores


def both_scaled(t: StudyTable) -> float:
    """Held-out R2 of the widest net with the most examples."""
    return float(grid_of(t).iloc[-1, -1])


def width_gain(t: StudyTable) -> float:
    """Held-out R2, widest minus narrowest, with the most examples."""
    scores = grid_of(t)
    return float(scores.iloc[-1, -1] - scores.iloc[0, -1])


def examples_gain(t: StudyTable) -> float:
    """Held-out R2, most minus fewest examples, in the widest net."""
    scores = grid_of(t)
    return float(scores.iloc[-1, -1] - scores.iloc[-1, 0])


def interaction(t: StudyTable) -> float:
    """What width divides the held-out error by with the most examples, over what it divides it by with the fewest."""
    errors = 1 - grid_of(t)
    divided = errors.iloc[0] / errors.iloc[-1]
    return float(divided.iloc[-1] / divided.iloc[0])


def interaction_of_scores(t: StudyTable) -> float:
    """Held-out R2, widest minus narrowest: with the most examples minus with the fewest."""
    scores = grid_of(t)
    gained = scores.iloc[-1] - scores.iloc[0]
    return float(gained.iloc[-1] - gained.iloc[0])


def spread_of_gaps(t: StudyTable) -> float:
    """R2 on trained minus on held-out combinations, fewest minus most examples, in the widest net."""
    gaps = (grid_of(t, "test") - grid_of(t)).iloc[-1]
    return float(gaps.iloc[0] - gaps.iloc[-1])


def map_rows(t: StudyTable) -> kinds.Rows:
    rows = []
    for (examples, width), cell in sorted(t.scores().groupby(["examples", "width"])):
        found = over_seeds(list(cell.value.dropna()))
        if found.seeds:
            interval = {"value": found.mean, "low": found.low, "high": found.high, "seeds": found.seeds}
            rows.append({"width": int(width), "examples": f"{int(examples):,}", **interval})
    return rows


def curve_rows(t: StudyTable) -> kinds.Rows:
    """The error of the narrowest net over that of each, by number of examples; of seeds that have a whole map."""
    rows = []
    for seed, part in t.seeds():
        try:
            errors = 1 - grid_of(part)
        except PreconditionFailed:
            continue
        for examples, column in (errors.iloc[0] / errors).items():
            series = f"{int(examples):,} examples per combination"
            rows += [{"width": int(w), "series": series, "seed": seed, "value": float(v)} for w, v in column.items()]
    return rows
