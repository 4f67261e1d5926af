"""What the report of scaling-model draws: scores against width."""

from __future__ import annotations

from ...charts import kinds
from ...charts.words import SCORES, title
from ...encodings import encodings
from ...lab.study_table import StudyTable


def width_rows(t: StudyTable) -> kinds.Rows:
    return [
        {
            "width": int(row.width),
            "series": row.encoding,
            "seed": int(row.seed),
            "value": row.value,
            "depth": int(row.depth),
        }
        for row in t.above_floor().sort_values("depth", kind="stable").itertuples()
    ]


def chart(target: float, metric: str, floor: str = "") -> kinds.Chart:
    name = SCORES[metric] + floor
    return kinds.curves(
        "Held-out score against width, {split} hidden layers",
        f"{title(name)} on combinations never trained, by encoding: one point per seed, a line through their means. "
        "Widths are compared at the dashed line.",
        width_rows,
        x="width",
        x_title="hidden units per layer",
        value=name,
        order=list(encodings),
        split="depth",
        log=True,
        reference=(target,),
        low=-0.2,
    )
