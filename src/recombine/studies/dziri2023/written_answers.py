"""What nets write, beside right and wrong: how long, and where the first wrong words stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...supports import Support
from ...tasks import Sequences
from ...tasks.sequences.sequence_task import length_of
from ...trials.measure import Row, row

if TYPE_CHECKING:
    from .asked_by_size import Asked

SHOWN = 2  # wrong answers of each size that are kept


def length_rows(task: Sequences, support: Support, asked: Sequence[Asked], step: int) -> list[Row]:
    """Of each size: mean words written and wanted, and the share of answers no longer than the longest trained one."""
    trained = np.asarray(support.space.rank(support.train.combinations()))
    lengths = length_of(np.asarray(task.meanings))
    longest, rows = lengths[trained].max(), []
    for one in asked:
        written = length_of(one.answers)
        found = {
            "written": written.mean(),
            "wanted": lengths[one.ranks].mean(),
            "no longer than trained": (written <= longest).mean(),
        }
        for metric, value in found.items():
            rows.append(row("length", "held_out", metric, float(value), group=one.size, step=step))
            rows[-1]["beyond"] = one.beyond
    return rows


def wrong_ones(task: Sequences, asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """The first wrong answers of each size from the largest trained one on, with text and truth."""
    found = []
    for one in asked:
        if one.beyond < 0:
            continue
        target = np.asarray(task.meanings)[one.ranks]
        wrong = ((one.answers != target) & (target >= 0)).any(1)
        for at in np.flatnonzero(wrong)[:SHOWN]:
            rank = [int(one.ranks[at])]
            words = {"text": task.text(rank), "truth": task.meaning(rank), "said": task.said(one.answers[at])}
            found.append(words | {"size": one.size, "beyond": one.beyond})
    return found
