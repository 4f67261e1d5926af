"""Forecasts of failures from one family of worlds to another: what the claims of audit-transfer read.

A prior is learned from all nets of the other families, and asked about those nets of a family that are judged.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...audit import logistic
from ...audit.features import FEATURES
from ...audit.risk_model import choose_strength
from ...lab.study_table import Frame, PreconditionFailed, StudyTable, mean_of
from ...lab.verdicts import Claim, Measurement, at_least

MARKS = ("quantile", "0.05", "0.1", "0.2")  # the 5 % quantile over trained combinations, or so far below their median
LEAST = 5  # combinations that fail, and that hold, where an AUROC is to mean something


def judged(t: StudyTable, family: str) -> StudyTable:
    """Unseen combinations of the nets that are judged: splits that only teach are not among them."""
    found = t.where(reading="combination", family=family, support="random")
    if found.empty:
        raise PreconditionFailed(f"{family} has no scores (not run, failed or diverged)")
    return found


def forecast(t: StudyTable, family: str, mark: str = "quantile") -> Frame:
    """Unseen combinations of the judged nets of a family, with the risk that was learned without it."""
    own, rows = judged(t, family), t.where(reading="combination")
    others = rows[rows.family != family]
    if others.empty:
        raise PreconditionFailed(f"there is no other family than {family} to learn from")
    failed = fails(others, mark)
    if not 0 < failed.mean() < 1:
        raise PreconditionFailed(f"without {family} all combinations come out alike: there is nothing to learn")
    groups = np.unique(others.cell.to_numpy(str), return_inverse=True)[1]
    names = list(FEATURES)
    model = _learned(others[names].to_numpy(float).tobytes(), failed.tobytes(), groups.tobytes())
    return own.assign(risk=model.probability(own[names].to_numpy(float)), failed=fails(own, mark))


@functools.lru_cache(64)  # every claim asks for the same few
def _learned(values: bytes, failed: bytes, groups: bytes) -> logistic.Logistic:
    x, y = np.frombuffer(values).reshape(-1, len(FEATURES)), np.frombuffer(failed)
    return logistic.fit(x, y, choose_strength(x, y, np.frombuffer(groups, np.int64)))


def fails(rows: StudyTable, mark: str) -> np.ndarray:
    """Which combinations count as failures, as 0 and 1."""
    limit = rows.trained_low if mark == "quantile" else rows.trained_median - float(mark)
    return (rows.value < limit).to_numpy(float)


def rank_correlation(t: StudyTable, family: str) -> float:
    """Spearman's correlation of the risk with how bad the score is, within each net, mean over nets."""
    within = [_spearman(net.risk, -net.value) for _, net in forecast(t, family).groupby("cell")]
    return float(np.mean(within))


def pairs_alone(t: StudyTable, family: str) -> float:
    """The same of the share of unseen pairs, which needs no learning."""
    return float(np.mean([_spearman(net.unseen_pairs, -net.value) for _, net in judged(t, family).groupby("cell")]))


def _spearman(a: Any, b: Any) -> float:
    """What does not vary is not ranked: 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    from scipy.stats import spearmanr  # here, since importing it takes a third of a second

    found: Any = spearmanr(a, b)
    return float(found.statistic)


def within_auroc(t: StudyTable, family: str, mark: str = "quantile") -> float:
    """AUROC within each net in which some combinations fail and some hold, mean over these nets."""
    within = []
    for _, net in forecast(t, family, mark).groupby("cell"):
        failing = int(net.failed.sum())
        if LEAST <= failing <= len(net) - LEAST:
            within.append(logistic.auroc(net.risk.to_numpy(), net.failed.to_numpy()))
    return mean_of(within, f"no net of {family} both fails and holds on at least {LEAST} combinations")


def pooled_auroc(t: StudyTable, family: str) -> float:
    """AUROC over the combinations of all nets."""
    found = forecast(t, family)
    area = logistic.auroc(found.risk.to_numpy(), found.failed.to_numpy())
    if math.isnan(area):
        raise PreconditionFailed(f"all combinations of {family} come out alike")
    return area


def miscalibration(t: StudyTable, family: str) -> float:
    """Expected calibration error over the combinations of all nets."""
    found = forecast(t, family)
    return logistic.calibration_error(logistic.calibration(found.risk.to_numpy(), found.failed.to_numpy()))


# -- of one family ----------------------------------------------------------------------------------------------------
def claims_about(name: str) -> list[Claim]:
    return [
        Claim(
            f"ranks-{name}",
            lambda t: rank_correlation(t, name),
            at_least(0.6),
            f"A prior learned without {name} ranks combinations there by their score",
            "shuffled",
            "Spearman's correlation of risk and 1 - score over unseen combinations of a net, mean over nets",
            transform="fisher",
        ),
        Claim(
            f"tells-{name}",
            lambda t: within_auroc(t, name),
            at_least(0.8),
            f"A prior learned without {name} tells what fails there from what does not",
            "shuffled",
            "AUROC over unseen combinations of a net, mean over nets that fail and hold on at least five each; "
            "what fails lies below the 5 % quantile of trained combinations",
            transform="logit",
        ),
    ]


def measurements_of(name: str) -> list[Measurement]:
    marked = [
        Measurement(
            f"{name}-below-{mark}",
            lambda t, mark=mark: within_auroc(t, name, mark),
            f"AUROC in {name} if {mark} below the median of trained ones fails",
            "within nets, mean over nets",
        )
        for mark in MARKS[1:]
    ]
    return [
        *marked,
        Measurement(
            f"{name}-pooled",
            lambda t: pooled_auroc(t, name),
            f"AUROC in {name} over combinations of all nets",
            "5 % quantile of trained combinations",
        ),
        Measurement(
            f"{name}-calibration",
            lambda t: miscalibration(t, name),
            f"Expected calibration error in {name}",
            "ten bins, combinations of all nets",
        ),
        Measurement(
            f"{name}-pairs-alone",
            lambda t: pairs_alone(t, name),
            f"Spearman in {name} of the share of unseen pairs alone",
            "within nets, mean over nets",
        ),
    ]
