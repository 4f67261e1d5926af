"""The score of every combination by itself, and how records keep it for the map of a split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..trials.keeping import per_combination as per_combination


def read_scores(facts: dict[str, Any], combinations: int) -> np.ndarray | None:
    """(combinations,) what `kept_scores` wrote, NaN where undefined; None if nothing fitting was kept."""
    kept = facts.get("each")
    scores = kept.get("scores") if isinstance(kept, dict) else None
    if not isinstance(scores, list) or len(scores) != combinations:
        return None
    numbers = [isinstance(s, (int, float)) and not isinstance(s, bool) for s in scores]
    return np.array([s if known else math.nan for s, known in zip(scores, numbers, strict=True)], dtype=float)
