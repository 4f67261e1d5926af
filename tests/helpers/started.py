"""How training begins, and how it is stopped: what tests of steps and of checkpoints share."""

from __future__ import annotations

from collections.abc import Callable
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


class Stopped(Exception):
    """A run that was ended on its way."""


def stop_at(least: int) -> Callable[[int, int, int, dict], None]:
    """A `progress` that ends the run at a step or soon after."""

    def stop(seed: int, step: int, steps: int, facts: dict) -> None:
        if step >= least:
            raise Stopped

    return stop
