"""Readings of audit-truth: the audits of one seed -> a number; and what its report shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...audit.planted_kinds import KINDS, NOTHING
from ...charts import kinds
from ...charts.words import listed
from ...lab.study_table import PreconditionFailed, StudyTable

NAMES = list(KINDS)
EXACT = ("binder", "level-untrained")  # whose failures are coverage and nothing else
SERIES = {"hit": "causes found", "covered": "intervals that hold the truth", "called": "combinations called"}


def by_kind(t: StudyTable, metric: str, names: Sequence[str] | None = None) -> dict[str, float]:
    """Means over worlds of each kind; PreconditionFailed if there is none."""
    part = t.where(metric=metric, **({} if names is None else {"kind": list(names)}))
    if part.empty:
        raise PreconditionFailed(f"{metric} of {'any kind' if names is None else listed(list(names))} was not read")
    return {str(name): float(values.mean()) for name, values in part.groupby("kind").value}


def mean(t: StudyTable, metric: str, names: Sequence[str] | None = None) -> float:
    """Mean over kinds of means over worlds."""
    return float(np.mean(list(by_kind(t, metric, names).values())))


def share(t: StudyTable, part: str, whole: str, names: Sequence[str] | None = None) -> float:
    """The sum of a count over that of another one, over all worlds."""
    chosen = {} if names is None else {"kind": list(names)}
    total = float(t.where(metric=whole, **chosen).value.sum())
    if not total:
        raise PreconditionFailed(f"nothing counts as {whole}")
    return float(t.where(metric=part, **chosen).value.sum()) / total


def ranks_unanswered(t: StudyTable) -> float:
    """AUROC of the risk of combinations without answers, mean over kinds but lottery."""
    return mean(t, "auroc_unanswered")


def ranks_few(t: StudyTable) -> float:
    """AUROC of the risk of combinations with 1 to 5 answers, mean over kinds but lottery."""
    return mean(t, "auroc_few", [name for name in NAMES if name != "lottery"])


def ranks_lottery(t: StudyTable) -> float:
    """AUROC of the risk of combinations with 1 to 5 answers, lottery."""
    return mean(t, "auroc_few", ["lottery"])


def error_ratio(t: StudyTable) -> float:
    """Root mean squared error of the risk by that of the overall rate, median over worlds."""
    part = t.where(metric="rmse_ratio")
    if part.empty:
        raise PreconditionFailed("no world has rates that differ")
    return float(part.value.median())


def interval_score(t: StudyTable) -> float:
    """Interval score of the 90 % intervals, mean over kinds; lower is better."""
    return mean(t, "interval_score")


def covered(t: StudyTable) -> float:
    """Share of combinations whose true rate lies in the 90 % interval, mean over kinds."""
    return mean(t, "covered")


def covered_by_kind(t: StudyTable) -> dict[str, float]:
    """Share of combinations whose true rate lies in the 90 % interval, of each kind of world."""
    return by_kind(t, "covered")


def recall(t: StudyTable) -> float:
    """Share of the planted causes that are found, all worlds together."""
    return share(t, "hit", "planted")


def precision(t: StudyTable) -> float:
    """Share of the findings that are right, all worlds together."""
    return share(t, "right", "found")


def innocent(t: StudyTable) -> float:
    """Findings per table that are part of a planted cause, and blamed by themselves."""
    return mean(t, "innocent")


def found_in_nothing(t: StudyTable) -> float:
    """Share of tables of noise and lottery with any finding."""
    return mean(t, "any_found", NOTHING)


def wrong_holds(t: StudyTable) -> float:
    """Share of the combinations that are said to hold and fail, all worlds together."""
    return share(t, "wrong_holds", "holds")


def called(t: StudyTable) -> float:
    """Share of combinations that are said to fail or to hold, mean over kinds."""
    return mean(t, "called")


def exact_error(t: StudyTable) -> float:
    """Root mean squared error of the risk where failure is coverage (binder, untrained level), mean over both."""
    return mean(t, "rmse", EXACT)


def additive_false(t: StudyTable) -> float:
    """False findings per table of additive worlds."""
    return mean(t, "found", ["additive"]) - mean(t, "right", ["additive"])


def xor_found(t: StudyTable) -> float:
    """Share of the two pairs of an xor that are found."""
    return share(t, "hit", "planted", ["xor"])


def caught(t: StudyTable) -> float:
    """Failures in the first 5 % by risk x frequency, of those that could be there, mean over kinds."""
    return mean(t, "caught")


# -- the report -------------------------------------------------------------------------------------------------------
def said_rows(t: StudyTable) -> kinds.Rows:
    rows = []
    for metric, words in SERIES.items():
        for (kind, seed), values in t.where(metric=metric).groupby(["kind", "seed"]).value:
            value = float(values.mean())
            if metric == "hit":
                planted = float(t.where(metric="planted", kind=kind, seed=seed).value.mean())
                if not planted:
                    continue
                value /= planted
            rows.append({"kind": kind, "series": words, "seed": int(seed), "value": value})
    return rows


def family(kind: str) -> str:
    """What is planted in a kind of world: its first word, or that there are several causes."""
    planted = KINDS[kind]
    if len(planted.patterns) + bool(planted.rule) > 1:
        return "several causes"
    return "coverage" if planted.rule else kind.split("-")[0]


def said_rows_by_family(t: StudyTable) -> kinds.Rows:
    """Means over kinds in which the same is planted."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in said_rows(t):
        found.setdefault((family(row["kind"]), row["series"], row["seed"]), []).append(row["value"])
    return [
        {"planted": name, "series": series, "seed": seed, "value": float(np.mean(values))}
        for (name, series, seed), values in found.items()
    ]


said_by_family = kinds.dots(
    "What is planted, and what is said",
    "One point per seed, mean over worlds in which the same is planted: the share of planted causes that is found, of "
    "combinations whose true rate lies in the 90 % interval, and of those that are said to fail or to hold.",
    said_rows_by_family,
    y="planted",
    value="share",
    order=list(dict.fromkeys(map(family, NAMES))),
    series=list(SERIES.values()),
)
planted_and_said = kinds.dots(
    "The same, kind by kind",
    "One point per kind of world and seed, mean over worlds: the share of planted causes that is found, of "
    "combinations whose true rate lies in the 90 % interval, and of those that are said to fail or to hold.",
    said_rows,
    y="kind",
    value="share",
    order=NAMES,
    series=list(SERIES.values()),
)
