"""`rc.score`: predictions of any framework, scored by the metric of the world that they are of."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import UserError
from ..tasks import Batch, Task
from ..training import Items
from .export_card import Export, open_export
from .predictions import checked, predicted_sets, read_predictions
from .scored import ScoredPredictions

BLOCK = 1024  # items that are scored at once


def score(folder: str | os.PathLike | Export, predictions: Any, *, task: Task | None = None) -> ScoredPredictions:
    """Scores predictions of the items of an export, and says of each item how good its answer is.

    Args:
        folder: what `rc.export` wrote.
        predictions: a .npz, or a mapping: for a set "held_out" its answers as "held_out" and the array "item" of that
            set as "held_out_item". Answers are like the target, or logits with one axis more.
        task: the world, where the card could not say it (one that is not registered).

    Example:
        >>> exported = rc.export(task, support, "world", train=64, validation=16, test=16, held_out=16)
        >>> truth = exported.arrays("held_out", ["target", "item"])
        >>> rc.score("world", {"held_out": truth["target"], "held_out_item": truth["item"]})["held_out"]["r2"]
        1.0
    """
    export = folder if isinstance(folder, Export) else open_export(folder)
    arrays = read_predictions(predictions)
    names = predicted_sets(export, arrays)
    world = export.task()
    if world is None:
        world = task
    if world is None:
        raise UserError(
            f"{export.card['task']['id']} is not registered, or has fields that a file cannot hold; "
            "give it: rc.score(folder, predictions, task=task)"
        )
    if world.id != export.card["task"]["id"]:
        raise UserError(f"the task is {world.id}, and the export is of {export.card['task']['id']}")
    found, groups = {}, {}
    for name in names:
        there = export.arrays(name)
        answers = checked(export, name, arrays, there["target"], there["item"])
        found[name] = _items(world, name, answers, there)
        if "groups" in there:
            for number, group in enumerate(export.card["support"]["groups"]):
                groups[f"{name}/{group}"] = found[name].where(there["groups"][:, number])
    rows = {name: export.arrays(name, ["item", "combination"]) for name in export.sizes}
    return ScoredPredictions(export, found, groups, rows)


def _items(task: Task, name: str, answers: np.ndarray, there: dict[str, np.ndarray]) -> Items:
    """Every item scored by the task, in blocks."""
    parts = [part for part in Batch._fields[1:] if part in there]  # parts of parts are for nets
    blocks = []
    for start in range(0, len(answers), BLOCK):
        own = slice(start, start + BLOCK)
        batch = Batch(there["combination"][own], **{part: there[part][own] for part in parts})
        blocks.append(task.score(answers[own], batch))
    statistics = {one: np.concatenate([np.asarray(block[one]) for block in blocks]) for one in blocks[0]}
    return Items(task.metrics, there["combination"], 1, statistics, np.ones(len(answers), bool), {}, {})
