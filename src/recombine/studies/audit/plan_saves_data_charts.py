"""Charts of plan-saves-data: held-out scores by how many combinations are trained, and how these were chosen."""

from __future__ import annotations

from ...charts import kinds
from ...charts.words import title
from ...lab.study_table import StudyTable
from .choosing import METHODS


def chart(metric: str, words: str) -> kinds.Chart:
    def rows(t: StudyTable) -> kinds.Rows:
        return [
            {
                "n": int(row.n),
                "series": row.method,
                "seed": int(row.seed),
                "value": float(row.value),
                "family": title(row.family),
            }
            for row in t.where(metric=metric).itertuples()
        ]

    return kinds.curves(
        f"{{split}}: {words} over held-out combinations",
        f"The {words} of the score over combinations set aside, the same for all ways, by the number trained and by "
        "how these were chosen; one point per seed, a line through the means.",
        rows,
        x="n",
        x_title="combinations trained",
        value=f"held-out score, {words}",
        order=METHODS,
        split="family",
        log=True,
    )
