"""Readings of audit-truth: the audits of one seed -> a number; and what its report shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...audit.planted import planted
from ...charts import kinds
from ...charts.vega import listed
from ...lab.store import Record
from ...lab.study_table import PreconditionFailed, StudyTable

MODELS = list(planted)
RANKED = ("memorizer", "binder", "connected")  # whose failures follow from coverage without noise
SERIES = {"auroc": "AUROC", "called_fails": "called failing", "failed": "failing"}


def by_model(t: StudyTable, metric: str, models: Sequence[str]) -> dict[str, float]:
    """A reading of each model, mean over worlds; PreconditionFailed if there is none."""
    part = t.where(metric=metric, model=list(models))
    if part.empty:
        raise PreconditionFailed(f"{listed(list(models))} not run")
    return {str(name): float(values.mean()) for name, values in part.groupby("model").value}


def least_auroc(t: StudyTable) -> float:
    """AUROC on combinations without answers, mean over worlds, least over memorizer, binder and connected."""
    return min(by_model(t, "auroc", RANKED).values())


def false_alarms(t: StudyTable) -> float:
    """Share of unseen combinations called 'fails', composer."""
    return by_model(t, "called_fails", ["composer"])["composer"]


def confident(t: StudyTable) -> float:
    """Share of unseen combinations called 'fails' or 'holds', unrelated."""
    return by_model(t, "called", ["unrelated"])["unrelated"]


def beyond_rate(t: StudyTable) -> float:
    """Share of unseen combinations, unrelated; .05 is what 95 % intervals do."""
    return by_model(t, "beyond_rate", ["unrelated"])["unrelated"]


def largest_error(t: StudyTable) -> float:
    """Expected calibration error in ten bins, pooled over worlds, greatest over models."""
    part = t.where(reading="bin")
    if part.empty:
        raise PreconditionFailed("no probability was given")
    errors = []
    for _, bins in part.groupby("model"):
        total = bins.groupby("group")[["combinations", "said", "failed"]].sum()
        gaps = (total.said - total.failed).abs().sum()  # sums, so each bin counts by its size
        errors.append(float(gaps / total.combinations.sum()))
    return max(errors)


def abstained(t: StudyTable) -> float:
    """Share of unseen combinations, mean over models."""
    return float(np.mean(list(by_model(t, "abstained", MODELS).values())))


# -- the report -------------------------------------------------------------------------------------------------------
def said_rows(t: StudyTable) -> kinds.Rows:
    return [
        {"model": row.model, "series": words, "seed": int(row.seed), "value": float(row.value)}
        for metric, words in SERIES.items()
        for row in t.where(metric=metric).groupby(["model", "seed"]).value.mean().reset_index().itertuples()
    ]


def said(records: Sequence[Record]) -> dict[str, str]:
    return {r.cell.spec["at"]["model"]: r.facts["said"] for r in records if r.cell.spec["seed"] == 0 and r.facts}


planted_and_said = kinds.dots(
    "What is planted, and what is said",
    "One point per seed, mean over worlds: how well failures are ranked (where some fail and some do not), the "
    "share of unseen combinations that is said to fail, and the share that does.",
    said_rows,
    y="model",
    value="share",
    order=MODELS,
    series=list(SERIES.values()),
)
