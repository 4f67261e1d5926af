"""What the report of phase draws: the map."""

from __future__ import annotations

from ...charts import kinds
from ...lab.study_table import StudyTable
from ...statistics.intervals import over_seeds
from .phase_readings import BEGINS


def map_rows(t: StudyTable) -> kinds.Rows:
    rows = []
    for (share, width), cell in sorted(t.scores().groupby(["held_out", "width"]), key=lambda item: -item[0][0]):
        interval = over_seeds(list(cell.value.dropna()))
        rows.append(
            {
                "width": int(width),
                "trained": _percent(round(1 - share, 6)),
                "value": interval.mean,
                "low": interval.low,
                "high": interval.high,
                "seeds": interval.seeds,
            }
        )
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:g} %" if share >= 0.1 else f"{100 * share:.1f} %"


def caption(rows: kinds.Rows) -> str:
    reached = any(row["value"] >= BEGINS for row in rows)
    return (
        "Held-out R² (mean over seeds) by how much was trained and how wide the net is. The line runs where it "
        f"reaches {BEGINS}: composition lies above it and to its right."
    ) + ("" if reached else " It is reached nowhere here.")
