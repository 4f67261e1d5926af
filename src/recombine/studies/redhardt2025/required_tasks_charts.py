"""What the report of required-tasks draws: what was needed against what there is, and the search itself."""

from __future__ import annotations

import math

from ...charts.curve_chart import search as search_chart
from ...charts.figure import Figure
from ...charts.power_law_chart import needed as needed_chart
from ...charts.tidy_rows import Rows
from ...charts.words import SCORES
from ...lab.study_table import PreconditionFailed, StudyTable
from .required_tasks_readings import required


def figures(t: StudyTable) -> list[Figure]:
    """Combinations needed, where some number was enough, and what was tried in the largest space."""
    rows, lost = needed_rows(t)
    if not rows:
        return search(t)
    return [
        Figure(
            "Combinations needed against combinations there are",
            "Each point is a family and a seed: the smallest number of trained combinations that was enough for a "
            f"held-out {asked(t)}. Both axes are logarithmic; the dashed line would be all of them."
            + (f" {lost} searches found no number that was enough, and are not shown." if lost else ""),
            needed_chart(rows),
        ),
        *search(t),
    ]


def needed_rows(t: StudyTable) -> tuple[Rows, int]:
    """What was needed by family, net and seed, and how many searches found no number."""
    rows: Rows = []
    lost = 0
    for seed, part in t.seeds():
        try:
            found = required(part)
        except PreconditionFailed:
            continue
        lost += int(found.needed.isna().sum())
        rows += [
            {
                "size": row.size,
                "series": row.net,
                "seed": seed,
                "value": row.needed,
                "family": f"M = {row.modules}, K = {row.at_most}",
            }
            for row in found[found.needed.notna()].itertuples(index=False)
        ]
    return rows, lost


def search(t: StudyTable) -> list[Figure]:
    """What was tried in the largest space."""
    tried = t[t.reading == "tried"].frame if len(t) else t.frame
    if not len(tried):
        return []
    modules, most = max(zip(tried.modules, tried.at_most, strict=True))
    rows: Rows = []
    turns: dict[tuple[str, int], int] = {}
    for row in tried[(tried.modules == modules) & (tried.at_most == most)].itertuples():
        who = (str(row.net), int(row.seed))
        turns[who] = turns.get(who, 0) + 1
        if math.isfinite(row.value):
            rows.append(
                {
                    "trained_on": int(row.trained_on),
                    "series": who[0],
                    "seed": who[1],
                    "turn": turns[who],
                    "value": row.value,
                }
            )
    if not rows:
        return []
    rows.sort(key=lambda row: (row["series"], row["seed"], row["trained_on"]))
    score = SCORES[t.metric]
    return [
        Figure(
            f"The search, M = {modules} and K = {most}",
            f"Held-out {score} of every net that was trained to find the number, against the combinations it was "
            f"trained on; one line per seed. The number needed is the smallest with {asked(t)} (dashed).",
            search_chart(rows, threshold=threshold(t), value=score),
        )
    ]


def threshold(t: StudyTable) -> float:
    return float(t.threshold.dropna().iloc[0])


def asked(t: StudyTable) -> str:
    """The score that was asked for, in words."""
    return f"{SCORES[t.metric]} above {threshold(t):g}"
