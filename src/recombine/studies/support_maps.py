"""Splits of trials as maps: made again from the settings of a record, and checked to be the split it was about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import UserError
from ..lab.store import Record
from ..lab.study import SupportMap
from . import charts
from .each import read_scores
from .trial import build_support

#: what `each` scores, in words
NAMES = {"r2_pooled": "R²", **charts.SCORES}


def support_maps(records: Sequence[Record], name: Callable[[dict[str, Any]], str]) -> list[SupportMap]:
    """One map a record whose trial has a split, in the order of the records."""
    return [_map(record, name(record.cell.spec)) for record in records if "content" in record.facts]


def _map(record: Record, name: str) -> SupportMap:
    try:
        support = build_support(record.cell.spec)
    except (UserError, KeyError) as problem:
        return SupportMap(name, None, missing=f"this version cannot make it again ({problem})")
    if support.certificate().content != record.facts["content"]:
        return SupportMap(name, None, missing="this version makes another split of these settings than was trained on")
    scores = read_scores(record.facts, support.space.size)
    metric = record.facts["each"].get("metric") if scores is not None else None
    return SupportMap(name, support, scores, NAMES.get(str(metric), "score"))
