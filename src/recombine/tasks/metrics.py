"""Metrics: what counts of an answer, item by item, and how a group of items becomes one number.

A task's `score` gives *statistics* on the host, in NumPy: arrays (T, ...) with one entry per item. A `Metric` reduces
the statistics of any group of items to one number. So one pass serves a whole stream, each group of held-out
combinations and every single combination, and a pooled metric (one ratio of sums) is as easy as a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Statistics = dict[str, np.ndarray]  # name -> (T, ...), one entry per item


@dataclass(frozen=True)
class Metric:
    """A metric: one number of a group of items.

    Args:
        name: what it is called in tables.
        words: what the axis of a chart says.
        reduce: the statistics of some items -> the number; NaN where it does not exist.
        higher_is_better: which way the best net is (`Recipe(keep="best")`).

    Example:
        >>> longest = rc.tasks.Metric("longest", "longest answer", lambda found: found["length"].max())
        >>> longest({"length": np.array([2, 5, 3])})
        5.0
    """

    name: str
    words: str
    reduce: Callable[[Statistics], float]
    higher_is_better: bool = True

    def __call__(self, statistics: Statistics) -> float:
        """The number of a group; NaN of a group without items, or without statistics as there was no target."""
        items = len(next(iter(statistics.values()), ()))
        return float(self.reduce(statistics)) if items else float("nan")


def decided(answer: Any, target: Any) -> Any:
    """Whole numbers like the target: the answer itself, or the argmax of logits, which have one axis more.

    Args:
        answer: whole numbers, or logits.
        target: what the answer is compared with; only its number of axes is looked at.

    Example:
        >>> rc.tasks.decided(np.array([[0.1, 0.9], [0.8, 0.2]]), target=np.array([1, 1])).tolist()
        [1, 0]
    """
    is_logits = answer.ndim == target.ndim + 1
    return answer.argmax(-1) if is_logits else answer


# -- numbers: R^2 in both conventions ---------------------------------------------------------------------------------


def regression_statistics(prediction: np.ndarray, target: np.ndarray) -> Statistics:
    """Of T tasks x S samples x O outputs: what both conventions of R^2 are made of, (T, O) each, in float64."""
    shape = (len(target), target.shape[1] if target.ndim > 2 else 1, -1)
    prediction, target = (np.asarray(values, np.float64).reshape(shape) for values in (prediction, target))
    return {
        "squared_error": ((prediction - target) ** 2).sum(1),
        "samples": np.full((len(target), target.shape[2]), target.shape[1]),
        "variance": target.var(1),  # biased, over the task's own samples
        "mean": target.mean(1),
        "lowest": target.min(1),
        "highest": target.max(1),
    }


def r2(statistics: Statistics) -> float:
    """Mean over tasks and outputs of 1 - MSE / variance over the task's own samples (the published convention).

    Task-output pairs without variance, where the ratio does not exist, are left out.
    """
    defined = _varies(statistics)
    if not defined.any():
        return float("nan")
    error = (statistics["squared_error"] / statistics["samples"])[defined]
    return float((1 - error / statistics["variance"][defined]).mean())


def r2_pooled(statistics: Statistics) -> float:
    """1 - summed squared error / summed squared deviation from each output's mean over all items."""
    if not (statistics["highest"].max(0) > statistics["lowest"].min(0)).any():
        return float("nan")
    samples, means = statistics["samples"], statistics["mean"]
    overall = (samples * means).sum(0) / samples.sum(0)
    # within the items and between them; the difference of two sums of squares would lose the digits of targets far off
    spread = (samples * (statistics["variance"] + (means - overall) ** 2)).sum()
    return float(1 - statistics["squared_error"].sum() / spread) if spread > 0 else float("nan")


def undefined(statistics: Statistics) -> float:
    """How many task-output pairs have no variance, and no R^2 of their own."""
    return float((~_varies(statistics)).sum())


def _varies(statistics: Statistics) -> np.ndarray:
    # not variance > 0: rounding gives a constant a tiny variance
    return statistics["highest"] > statistics["lowest"]


R2 = Metric("r2", "R²", r2)
R2_POOLED = Metric("r2_pooled", "R² (pooled)", r2_pooled)
UNDEFINED = Metric("undefined", "undefined R²", undefined, higher_is_better=False)
REGRESSION = (R2, R2_POOLED, UNDEFINED)


# -- whole numbers: exact match ---------------------------------------------------------------------------------------


def answer_statistics(answer: np.ndarray, target: np.ndarray) -> Statistics:
    """Of T items of whole numbers, -1 where a place does not count: how many places count, and how many are right."""
    counts = (target >= 0).reshape(len(target), -1)
    right = (decided(answer, target) == target).reshape(len(target), -1) & counts
    return {"right": right.sum(1), "counted": counts.sum(1)}


def exact(statistics: Statistics) -> float:
    """Share of items in which everything that counts is right; items in which nothing counts are left out."""
    counts = statistics["counted"] > 0
    return float((statistics["right"] == statistics["counted"])[counts].mean()) if counts.any() else float("nan")


def accuracy(statistics: Statistics) -> float:
    """Share of all places that count that are right; pooled, so that long items weigh more."""
    counted = statistics["counted"].sum()
    return float(statistics["right"].sum() / counted) if counted else float("nan")


EXACT = Metric("exact", "exact match", exact)
ACCURACY = Metric("accuracy", "accuracy", accuracy)
ANSWERS = (EXACT, ACCURACY)

# -- likelihood -------------------------------------------------------------------------------------------------------

#: of `evaluate(by="likelihood")`
NATS = Metric("nats", "log-likelihood (nats)", lambda statistics: float(statistics["nats"].mean()))
