"""How many combinations a way of choosing needs, read off its curve: what the claims of plan-saves-data are made of."""

from __future__ import annotations

import math

import numpy as np

from ...lab.study_table import LEARNED, RESOLUTION, PreconditionFailed, StudyTable, mean_of
from ...lab.verdicts import Measurement
from .choosing import METHODS

ENOUGH = 0.9  # the score of "combinations needed"
Curve = tuple[np.ndarray, np.ndarray]


def curve(t: StudyTable, family: str, method: str, metric: str) -> Curve:
    """Numbers of combinations, rising, and scores; a score once reached is kept."""
    part = t.where(family=family, method=method, metric=metric).sort_values("n")
    if part.empty:
        raise PreconditionFailed(f"{method} has no scores in {family} (not run, failed or diverged)")
    return part.n.to_numpy(float), np.maximum.accumulate(part.value.to_numpy(float))


def needed(found: Curve, score: float) -> float:
    """How many combinations reach a score; infinite if no number that was tried does."""
    n, scores = found
    enough = np.flatnonzero(scores >= score)
    if not len(enough):
        return math.inf
    i = int(enough[0])
    if i == 0:
        return float(n[0])
    share = (score - scores[i - 1]) / (scores[i] - scores[i - 1])
    return float(math.exp(math.log(n[i - 1]) + share * math.log(n[i] / n[i - 1])))


def ratio(t: StudyTable, metric: str, method: str = "plan", against: str = "random") -> float:
    """Combinations that one way needs by those of another for the same score; geometric mean over scores, families."""
    logarithms = []
    for family in dict.fromkeys(t.family):
        mine, other = (curve(t, family, name, metric) for name in (method, against))
        if curve(t, family, against, "mean")[1][-1] < LEARNED:
            raise PreconditionFailed(f"no way reaches {LEARNED} in {family}: it takes more training")
        for score in other[1][1:]:
            wanted = score - RESOLUTION
            mine_needs = min(needed(mine, wanted), 2 * mine[0][-1])
            logarithms.append(math.log(mine_needs / needed(other, wanted)))
    return math.exp(mean_of(logarithms, "this family was not run"))


def ratio_in(t: StudyTable, family: str, metric: str) -> float:
    """The same of plan by random, in one family alone."""
    return ratio(t.where(family=family), metric)


def combinations_needed(t: StudyTable, method: str) -> float:
    """Combinations until the mean score is above ENOUGH, mean over families in which every way gets there."""
    found = []
    for family in dict.fromkeys(t.family):
        curves = {name: curve(t, family, name, "mean") for name in dict.fromkeys(t.method)}
        if all(math.isfinite(needed(one, ENOUGH)) for one in curves.values()) and method in curves:
            found.append(needed(curves[method], ENOUGH))
    return mean_of(found, f"there is no family in which every way reaches {ENOUGH}")


# -- what claims read -------------------------------------------------------------------------------------------------
def plan_by_random(t: StudyTable, family: str, metric: str) -> float:
    """Combinations of plan by those of random, geometric mean over random's scores."""
    return ratio_in(t, family, metric)


def plan_by_variance(t: StudyTable, family: str) -> float:
    """Combinations of plan by those of choice by variance, for the same mean, geometric mean over its scores."""
    return ratio(t.where(family=family), "mean", "plan", "variance")


def against_risk(t: StudyTable) -> float:
    """Geometric mean over the scores of risk and families."""
    return ratio(t, "worst", "plan", "risk")


# -- and measurements -------------------------------------------------------------------------------------------------
def of_way(method: str) -> Measurement:
    return Measurement(
        f"{method}-for-the-mean",
        lambda t: ratio(t, "mean", method),
        f"What {method} needs by what random needs for the same mean",
        "geometric mean over random's scores and families",
    )


def needs(method: str) -> Measurement:
    return Measurement(
        f"{method}-needs",
        lambda t: combinations_needed(t, method),
        f"Combinations that {method} needs for a held-out score above {ENOUGH}",
        "mean over families in which every way gets there",
    )


MEASUREMENTS = [
    *map(of_way, ("stair", "risk", "variance")),
    Measurement(
        "plan-against-risk", against_risk, "What plan needs by what choice by risk needs for the same worst 5 %"
    ),
    *map(needs, METHODS),
]
