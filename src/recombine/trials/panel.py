"""The panel: what every trial keeps of each combination, so that later studies can compare what foretells a failure.

    score          on a few fresh tasks of the combination
    untrained      the same of a net with the same blueprint before training
    confidence     of the net in its own answer, where it has one: the mean probability of what it chose (of words
                   that are written one by one the geometric mean)
    variance       posterior variance of a Gaussian process over combinations, by k(c, c): no net at all; 0 is known
    decodability   of what the combination is made of, by layer (`panel_decodability`)

The process has the additive kernel 1 + number of shared elements, and has seen the training combinations with a noise
of variance .01: what can be known of a combination from those that share parts with it, if parts add up.

Combinations stand in order of rank. Of a space with more than MOST of them a sample is kept, half trained and half held
out, and "ranks" says which they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ..keys import key_for
from ..nets import Net
from ..probes.layers import untrained
from ..spaces import LISTED_UP_TO
from ..supports import Side, Support
from ..training import EVERY_LAYER, Items, Trained, evaluate, own_nats
from .panel_decodability import WIDEST, decodability_by_layer

MOST = 1_000  # combinations that a panel is kept of
DRAWS = 16  # tasks of each combination
NOISE = 0.01
AT_ONCE = 1 << 16  # training combinations that are looked at together
#: a few tasks of one combination: their error against the variance of all their targets, not of each task's own
POOLED = {"r2": "r2_pooled"}


def panel(run: Trained) -> dict[str, Any]:
    """The panel of a trial, rounded."""
    support, task, member = run.support, run.task, run.members[0]
    rows, key = panel_rows(support), key_for("held_out/panel", member.seed)
    draws = 1 if task.repeats else DRAWS  # where a combination has one item only, another draw is the same again
    metric = POOLED.get(task.metrics[0].name, task.metrics[0].name)
    # every layer in the same pass as the answers: one program serves the trained net and the untrained one
    layers: dict[str, Any] = {"trace": [EVERY_LAYER], "widest": WIDEST}
    asked = evaluate(member.net, task, rows, draws, key=key, keep=["answer", "constituents"], **layers)
    control = evaluate(untrained(run, member.seed), task, rows, draws, key=key, **layers)
    found = {"score": asked.by_combination(metric), "untrained": control.by_combination(metric)}
    if (confidence := confidence_in(member.net, task, asked, key)) is not None:
        found["confidence"] = confidence.reshape(len(rows), draws).mean(1)
    found["variance"] = process_variance(support, rows)
    kept: dict[str, Any] = {name: _rounded(values) for name, values in found.items()}
    kept["decodability"] = decodability_by_layer(run, asked, control)
    if len(rows) < support.space.size:
        kept["ranks"] = support.space.rank(rows).tolist()
    return {"panel": {"metric": metric} | kept}


def panel_rows(support: Support) -> np.ndarray:
    """The combinations that a panel is of, in order of rank."""
    space = support.space
    if space.size <= MOST:
        return space.enumerate()
    ranks = [space.rank(_some(side, MOST // 2)) for side in (support.train, support.held_out) if side]
    return space.unrank(np.unique(np.concatenate(ranks)))


def _some(side: Side, most: int) -> np.ndarray:
    """At most so many combinations of a side, by lot; the same whatever the seed, so that panels can be compared."""
    # of a side that cannot be listed one is hardly ever drawn twice
    rows = side.combinations() if _can_be_listed(side) else side.sample(0, most)
    return rows if len(rows) <= most else rows[np.random.default_rng(0).choice(len(rows), most, replace=False)]


def _can_be_listed(side: Side) -> bool:
    return side.listed or side.space.size <= LISTED_UP_TO


def confidence_in(net: Net, task: Any, asked: Items, key: jax.Array) -> np.ndarray | None:
    """(N,): confidence of a net in what it answered; None where it has none.

    Of logits that of `own_confidence`; of words that are written one by one the geometric mean of their probabilities.
    """
    answer = asked.kept["answer"]
    if net.likelihood_is != "exact" or not np.issubdtype(answer.dtype, np.integer):
        return own_confidence(task, answer)
    written = np.maximum((answer >= 0).reshape(len(answer), -1).sum(1), 1)
    return np.exp(own_nats(net, asked, task, key=key) / written)


def own_confidence(task: Any, answer: np.ndarray) -> np.ndarray | None:
    """(N,): mean probability of what is chosen, for answers that are logits of words; None for others."""
    words = task.words.get("target")
    if words is None or not np.issubdtype(answer.dtype, np.floating) or answer.shape[-1] != words:
        return None
    shifted = answer - answer.max(-1, keepdims=True)
    chance = 1 / np.exp(shifted).sum(-1)
    return chance.reshape(len(answer), -1).mean(1)


def process_variance(support: Support, rows: np.ndarray | None = None) -> np.ndarray:
    """(combinations,): posterior variance of each combination, or of some, by its prior variance.

    The kernel 1 + overlap is a product of features (1, elements), so the posterior is that of a linear model with as
    many weights: var = f (I + F'F / noise)^-1 f', F the training combinations. Of a side that cannot be listed F'F is
    that of a sample, as often as its size says.
    """
    space = support.space

    def features(rows: np.ndarray) -> np.ndarray:
        return np.hstack([np.ones((len(rows), 1)), space.multihot(rows).astype(float)])

    every = features(space.enumerate() if rows is None else rows)
    precision = np.eye(every.shape[1])
    for part, times in _training_combinations(support.train):
        trained = features(part)
        precision += times * (trained.T @ trained) / NOISE
    return (every * np.linalg.solve(precision, every.T).T).sum(1) / (every**2).sum(1)


def _training_combinations(side: Side) -> Iterator[tuple[np.ndarray, float]]:
    """Training combinations in blocks, and how many each of them stands for."""
    if not _can_be_listed(side):
        yield side.sample(0, AT_ONCE), side.size / AT_ONCE
        return
    rows = side.combinations()
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE], 1.0


def _rounded(values: np.ndarray) -> list[float | None]:
    return [round(float(value), 4) if math.isfinite(value) else None for value in values]
