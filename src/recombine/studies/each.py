"""The score of every combination by itself, and how records keep it for the map of a split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..keys import key_for
from ..training import Trained, evaluate

MOST = 2_000  # combinations of a space that is scored one by one
DRAWS = 128  # tasks that a combination is scored on: with few, the worst of many scores is chance
_KEPT = 32  # of these for a record, where all combinations are scored to be looked at: seconds a cell
#: a few tasks of one combination: their error against the variance of all their targets, not of each task's own
_POOLED = {"r2": "r2_pooled"}


def per_combination(task: Any, net: Any, rows: np.ndarray, metric: str, seed: int, draws: int = DRAWS) -> np.ndarray:
    """(n,) the score of a net on a few tasks of each combination."""
    items = evaluate(net, task, rows, draws, key=key_for("held_out/each", seed))
    return items.by_combination(metric)


def kept_scores(run: Trained) -> dict[str, Any]:
    """What a record keeps: the score of each combination in order of rank, or nothing where there are too many."""
    space, task, member = run.support.space, run.task, run.members[0]
    if space.size > MOST:
        return {}
    metric = _POOLED.get(task.metrics[0].name, task.metrics[0].name)
    scores = per_combination(task, member.net, space.enumerate(), metric, member.seed, _KEPT).tolist()
    return {"each": {"metric": metric, "scores": [round(s, 4) if math.isfinite(s) else None for s in scores]}}


def read_scores(facts: dict[str, Any], combinations: int) -> np.ndarray | None:
    """(combinations,) what `kept_scores` wrote, NaN where undefined; None if nothing fitting was kept."""
    kept = facts.get("each")
    scores = kept.get("scores") if isinstance(kept, dict) else None
    if not isinstance(scores, list) or len(scores) != combinations:
        return None
    numbers = [isinstance(s, (int, float)) and not isinstance(s, bool) for s in scores]
    return np.array([s if known else math.nan for s, known in zip(scores, numbers, strict=True)], dtype=float)
