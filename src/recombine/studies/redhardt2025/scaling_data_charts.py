"""What the report of scaling-data draws: scores against coverage."""

from __future__ import annotations

from functools import partial

from ...charts import kinds
from ...charts.words import SCORES, title
from ...lab.study_table import StudyTable
from .scaling_data_settings import WORDS


def coverage_rows(t: StudyTable, setting: str = "mlp") -> kinds.Rows:
    part = (t.where(setting=setting) if "setting" in t.frame else t).above_floor()
    return [
        {"trained": 1 - row.held_out, "series": f"M = {row.modules}", "seed": int(row.seed), "value": row.value, "K": k}
        for k in sorted(part.at_most.unique(), reverse=True)
        for row in part[part.at_most == k].sort_values("modules", kind="stable").itertuples()
    ]


def chart(metric: str, floor: str = "", setting: str = "mlp") -> kinds.Chart:
    name = SCORES[metric] + floor
    return kinds.curves(
        f"Held-out score against coverage, at most {{split}} active{WORDS[setting]}",
        f"{title(name)} on combinations never trained, by the share of all combinations that was trained: "
        "one point per seed, a line through their means. Scores below the axis are drawn at its end.",
        partial(coverage_rows, setting=setting),
        x="trained",
        x_title="share of combinations trained",
        value=name,
        split="K",
        low=-0.2,
        x_format=".3~p",
    )
