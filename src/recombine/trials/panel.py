"""The panel: what every trial keeps of each combination, so that later studies can compare what foretells a failure.

    score        on a few fresh tasks of the combination
    untrained    the same of a net with the same blueprint before training
    confidence   of the net in its own answer, where it has one: the mean probability of what it chose
    variance     posterior variance of a Gaussian process over combinations, by k(c, c): no net at all; 0 is known

The process has the additive kernel 1 + number of shared elements, and has seen the training combinations with a noise
of variance .01: what can be known of a combination from those that share parts with it, if parts add up. Decodability
by layer is among the readings of the trial.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..keys import key_for
from ..probes.layers import untrained
from ..supports import Support
from ..training import Trained, evaluate

MOST = 1_000  # combinations of a space of which a panel is kept
DRAWS = 16  # tasks of each combination; asked as scores are, so that nothing more is compiled
NOISE = 0.01
#: a few tasks of one combination: their error against the variance of all their targets, not of each task's own
POOLED = {"r2": "r2_pooled"}


def panel(run: Trained) -> dict[str, Any]:
    """The panel of a trial in order of rank, rounded; nothing where there are too many combinations."""
    space, task, member = run.support.space, run.task, run.members[0]
    if space.size > MOST:
        return {}
    rows, key = space.enumerate(), key_for("held_out/panel", member.seed)
    metric = POOLED.get(task.metrics[0].name, task.metrics[0].name)
    asked = evaluate(member.net, task, rows, DRAWS, key=key, keep=["answer"])
    control = evaluate(untrained(run, member.seed), task, rows, DRAWS, key=key)
    found = {"score": asked.by_combination(metric), "untrained": control.by_combination(metric)}
    if (confidence := own_confidence(task, asked.kept["answer"])) is not None:
        found["confidence"] = confidence.reshape(len(rows), DRAWS).mean(1)
    found["variance"] = process_variance(run.support)
    return {"panel": {"metric": metric} | {name: _rounded(values) for name, values in found.items()}}


def own_confidence(task: Any, answer: np.ndarray) -> np.ndarray | None:
    """(N,): mean probability of what is chosen, for answers that are logits of words; None for others."""
    words = task.words.get("target")
    if words is None or not np.issubdtype(answer.dtype, np.floating) or answer.shape[-1] != words:
        return None
    shifted = answer - answer.max(-1, keepdims=True)
    chance = 1 / np.exp(shifted).sum(-1)
    return chance.reshape(len(answer), -1).mean(1)


def process_variance(support: Support) -> np.ndarray:
    """(combinations,): posterior variance of each combination by its prior variance.

    The kernel 1 + overlap is a product of features (1, elements), so the posterior is that of a linear model with as
    many weights: var = f (I + F'F / noise)^-1 f', F the training combinations.
    """
    space = support.space

    def features(rows: np.ndarray) -> np.ndarray:
        return np.hstack([np.ones((len(rows), 1)), space.multihot(rows).astype(float)])

    trained, every = features(support.train.combinations()), features(space.enumerate())
    precision = np.eye(trained.shape[1]) + trained.T @ trained / NOISE
    return (every * np.linalg.solve(precision, every.T).T).sum(1) / (every**2).sum(1)


def _rounded(values: np.ndarray) -> list[float | None]:
    return [round(float(value), 4) if math.isfinite(value) else None for value in values]
