"""Words on charts: scores on axes, titles, lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

SCORES = {
    "r2": "R²",
    "episode_accuracy": "share of episodes right",
    "step_accuracy": "share of steps right",
}  # words of the metrics that most studies are about: known without loading their tasks


def metric_words(name: str) -> str:
    """A metric in its own words, as an axis has them; its name where no task has it."""
    if not name or name in SCORES:
        return SCORES.get(name, "")
    from ..tasks import registry

    found = (metric.words for task in registry.values() for metric in task.metrics if metric.name == name)
    return next(found, name)


def title(words: str) -> str:
    """The first letter large, the others as they are."""
    return words[:1].upper() + words[1:]


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def number(value: Any, digits: int = 3) -> str:
    """A number with a real minus; a dash where there is none; anything else as it is."""
    if not is_number(value):
        return str(value)
    if not math.isfinite(value):
        return "–"
    if abs(value) > 1e300:  # as a chart writes an infinite one (`tidy_rows.FARTHEST`)
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    text = str(value) if isinstance(value, int) else f"{value:z.{digits}f}"  # z: what rounds to zero has no sign
    return text.replace("-", "\N{MINUS SIGN}")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
