"""Scores from one pass over the combinations of a stream: of all, of each group, and of items of each size.

{"streams": ["test", "held_out"], "once": 2000, "by": ["length"]} asks each combination once, at most so many by lot.
Groups are parts of the same answers, where a sample for each would ask the combinations of small groups again and
again. Sizes are what a task of sequences says of its items, "in-distribution/length" those of a group. Where there are
many, some that lie side by side are taken together and called by the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from ..keys import generator, key_for
from ..supports import Side
from ..tasks import Sequences
from ..training import Items, Trained, evaluate

FEWEST = 5  # items of a size: a share of fewer says nothing
MOST_SIZES = 12  # that are told apart
BY_SIZE = "by size"  # what these readings are called; the group is "length=12"

Row = dict[str, Any]


def once_rows(run: Trained, ask: Mapping[str, Any], step: int) -> list[Row]:
    """Scores of streams with their groups, and of items by size."""
    most, by = require_int("once", ask["once"], at_least=1), ask.get("by", ())
    if by and not isinstance(run.task, Sequences):
        raise UserError(f"by={list(by)} asks for sizes of items, and those of {run.task.id} have none; scan-v1 has")
    for name in by:
        if (group := name.rpartition("/")[0]) and group not in run.support.named:
            raise unknown("group of the split", group, run.support.named)
    rows: list[Row] = []
    for stream in ask.get("streams", ("test", "held_out")):
        some = combinations_by_lot(run.support.side(stream), most, stream, run.members[0].seed)
        key = key_for(f"{stream}/once", run.members[0].seed)
        items = evaluate(run.members[0].net, run.task, some, key=key, how=ask.get("how"))
        for group, part in parts_of(run, stream, items).items():
            asked = f"{stream}/{group}".rstrip("/") == run.support.asks
            rows += [
                _row("score", stream, group, metric, value, step) | {"asked": asked}
                for metric, value in part.scores().items()
            ]
            for name in by:
                within, _, size = name.rpartition("/")
                if within == group:
                    rows += _size_rows(run, stream, part, name, size, step)
    return rows


def combinations_by_lot(side: Side, most: int, stream: str, seed: int) -> np.ndarray:
    """All combinations of a side, or so many of them by lot; of a side that is not listed with replacement."""
    key = key_for(f"{stream}/once/which", seed)
    if not side.listed:
        return side.sample(key, most)
    rows = side.combinations()
    return rows if len(rows) <= most else rows[np.sort(generator(key).permutation(len(rows))[:most])]


def parts_of(run: Trained, stream: str, items: Items) -> dict[str, Items]:
    """The items of a stream, "", and of each group that the split names and that has any."""
    found = {"": items}
    if stream == "held_out":
        for name, belongs in run.support.named.items():
            inside = np.asarray(belongs(items.combinations), bool)
            if inside.any():
                found[name] = items.where(inside)
    return found


def _size_rows(run: Trained, stream: str, items: Items, name: str, size: str, step: int) -> list[Row]:
    assert isinstance(run.task, Sequences)
    known = run.task.sizes(items.combinations)
    if size not in known:
        raise unknown(f"size of items of {run.task.id}", size, known)
    metric, found = run.task.metrics[0].name, []
    sizes = _told_apart(known[size])
    for one in np.unique(sizes).tolist():
        inside = sizes == one
        if inside.sum() >= FEWEST:
            value = items.where(inside).scores()[metric]
            found.append(_row(BY_SIZE, stream, f"{name}={one}", metric, value, step))
    return found


def _told_apart(sizes: np.ndarray) -> np.ndarray:
    """Sizes, or where there are many the smallest of those that are taken together with each."""
    if len(np.unique(sizes)) <= MOST_SIZES:
        return sizes
    low = sizes.min()
    width = -(-(sizes.max() - low + 1) // MOST_SIZES)
    return low + (sizes - low) // width * width


def _row(reading: str, stream: str, group: str, metric: str, value: float, step: int) -> Row:
    return {
        "reading": reading,
        "stream": stream,
        "group": group,
        "layer": "",
        "metric": metric,
        "step": step,
        "value": value,
    }
