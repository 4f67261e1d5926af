"""What a compiled step takes, as training begins."""

from __future__ import annotations

from typing import Any

from recombine.keys import key_for
from recombine.nets import Blueprint
from recombine.supports import Support
from recombine.tasks import Task
from recombine.training import Recipe
from recombine.training.step import start


def started(net: Blueprint, task: Task, support: Support, recipe: Recipe, seed: int = 0) -> tuple[Any, ...]:
    """State, frozen arrays, task, sampler, rates and key, for a `stepper`."""
    sampler, keys = support.train.sampler(), (key_for("init", seed), key_for("train", seed))
    state, frozen = start(net, task, sampler, recipe, keys, "float32")
    return state, frozen, task, sampler, recipe.rates(), keys[1]
