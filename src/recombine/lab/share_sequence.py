"""How often: a share of seeds against a threshold, by the beta-binomial sequence (Robbins 1970)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .boundaries import LEVEL, LOOKS
from .evidence import sides_of_share
from .sequential import OPEN, REFUTED, SUPPORTED, Judgement, how_often


def judged_share(on_side: Sequence[bool], share: float, m: int = 1) -> Judgement:
    """The judgement of a claim that at least this share of seeds lies on its side.

    Args:
        on_side: of each seed in order, whether it does.
        share: the threshold.
        m: how many claims share the level.
    """
    counts = [n for n in LOOKS if n <= len(on_side)]
    n = counts[-1] if counts else len(on_side)
    k = sum(on_side[:n])
    looks, low, high, outcome, decided_at = [], 0.0, 1.0, OPEN, 0
    for count in counts:
        one, other = how_often(sum(on_side[:count]), count, LEVEL / m)
        low, high = max(low, one), min(high, other)
        looks.append((count, low, high))
        if outcome == OPEN and low <= high:
            outcome = SUPPORTED if low >= share else REFUTED if high < share else OPEN
            decided_at = count if outcome != OPEN else 0
    return Judgement(
        outcome=outcome,
        low=low,
        high=high,
        mean=k / n if n else math.nan,
        n=n,
        on_side=k,
        e_sides=sides_of_share(k, n, share),
        effect=math.nan,
        often=(low, high),
        decided_at=decided_at,
        looks=tuple(looks),
        side="at least",
        threshold=share,
        disagree=low > high,
    )
