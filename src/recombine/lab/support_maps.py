"""Splits of trials as maps: made again from the settings of a record, and checked to be the split it was about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..charts.split_map import SupportMap
from ..charts.words import SCORES
from ..errors import UserError
from .record import Record

#: what is scored combination by combination, in words
NAMES = {"r2_pooled": "R²", **SCORES}


def support_maps(records: Sequence[Record], axis: str) -> list[SupportMap]:
    """One map for each value on an axis whose trial has a split: its first cell of the first seed."""
    first: dict[str, Record] = {}
    for record in records:
        if record.cell.spec.get("seed") == 0 and "content" in record.facts and "trial" in record.cell.spec:
            first.setdefault(str(record.cell.columns().get(axis)), record)
    return [_map(record, name) for name, record in first.items()]


def _map(record: Record, name: str) -> SupportMap:
    from ..trials import Trial

    try:
        support = Trial.from_json(record.cell.spec["trial"]).build_support()
    except (UserError, KeyError, TypeError) as problem:
        return SupportMap(name, None, missing=f"this version cannot make it again ({problem})")
    if support.certificate().content != record.facts["content"]:
        return SupportMap(name, None, missing="this version makes another split of these settings than was trained on")
    scores = read_scores(record.facts, support.space.size)
    metric = record.facts["each"].get("metric") if scores is not None else None
    return SupportMap(name, support, scores, NAMES.get(str(metric), "score"))


def read_scores(facts: Mapping[str, Any], combinations: int) -> np.ndarray | None:
    """(combinations,) what the keeper "scores" wrote, NaN where undefined; None if nothing fitting was kept."""
    kept = facts.get("each")
    scores = kept.get("scores") if isinstance(kept, dict) else None
    if not isinstance(scores, list) or len(scores) != combinations:
        return None
    numbers = [isinstance(s, (int, float)) and not isinstance(s, bool) for s in scores]
    return np.array([s if known else math.nan for s, known in zip(scores, numbers, strict=True)], dtype=float)
