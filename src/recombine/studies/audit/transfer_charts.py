"""Charts and headline of audit-transfer: how well failures are foreseen, and whether a risk is what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...audit import logistic
from ...charts import kinds
from ...charts.words import listed, title
from ...lab.study_table import PreconditionFailed, StudyTable
from .families import FAMILIES
from .forecasts import forecast, rank_correlation, within_auroc


def foreseen_rows(t: StudyTable) -> kinds.Rows:
    def found() -> Iterator[dict[str, Any]]:
        for family in dict.fromkeys(t.family):
            for seed, part in t.seeds():
                for words, reading in (("AUROC", within_auroc), ("Spearman", rank_correlation)):
                    try:
                        value = reading(part, family)
                    except PreconditionFailed:
                        continue
                    yield {"family": family, "series": words, "seed": seed, "value": value}

    return list(found())


def calibration_rows(t: StudyTable) -> kinds.Rows:
    rows: kinds.Rows = []
    first = t.where(seed=int(t.seed.min()))
    for family in dict.fromkeys(t.family):
        try:
            found = forecast(first, family)
        except PreconditionFailed:
            continue
        for bin in logistic.calibration(found.risk.to_numpy(), found.failed.to_numpy()):
            said = round(float(bin.said), 3)
            shared = {"family": title(family), "bin": said, "seed": int(found.seed.iloc[0])}
            shared |= {"combinations": bin.combinations}
            rows += [
                shared | {"series": "happened", "value": bin.happened},
                shared | {"series": "as said", "value": said},
            ]
    return rows


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    said = []
    for claim, holds in (("ranks", "ranks combinations"), ("tells", "tells failures")):
        for outcome, words in (("supported", holds), ("refuted", f"{holds} less well than is wanted")):
            where = [name for name in FAMILIES if outcomes.get(f"{claim}-{name}") == outcome]
            if where:
                said.append(f"{words} in {listed(where)}")
    if not said:
        return "Whether failures can be foreseen in another family is not settled."
    return f"A forecast that was learned in the other families {'; it '.join(said)}."


FORESEEN = kinds.dots(
    "How well failures are foreseen in a family that was not learned from",
    "One point per seed: AUROC and Spearman's correlation within nets, mean over nets.",
    foreseen_rows,
    y="family",
    value="value",
    series=["AUROC", "Spearman"],
    also=(0.6, 0.8),
)
CALIBRATION = kinds.curves(
    "{split}: what was said, and what happened",
    "Unseen combinations of all nets of the first seed in ten bins of risk: the share that fails, and "
    "what was said of them by a prior that was learned without this family.",
    calibration_rows,
    x="bin",
    x_title="risk that was said",
    value="share that fails",
    order=["happened", "as said"],
    split="family",
    x_format=".2f",
)
