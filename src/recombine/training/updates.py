"""Updates: from the gradient to what is trained after a step.

Parameter groups whose directions are found in the same way share one optimizer, so that a net with matrices that decay
and vectors that do not is compiled as fast as one with a single group. Decay and learning rate come after, by group.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

from ..nets.parts import Arrays
from .optimizers import optimizers
from .recipe import Rates, Recipe
from .schedules import schedules, warmed_up

Groups = dict[str, str]  # path of an array -> its parameter group
OptimizerStates = dict[str, optax.OptState]  # by the first of the groups that share an optimizer


def first_states(trained: Arrays, groups: Groups, rates: dict[str, Rates], shape: Recipe) -> OptimizerStates:
    """The state of each optimizer before the first step."""
    return {
        first: _directions(first, rates, shape).init({path: trained[path] for path in paths})
        for first, paths in _shared(groups, shape).items()
    }


def updated(
    trained: Arrays,
    gradient: Arrays,
    states: OptimizerStates,
    step: jax.Array,
    rates: dict[str, Rates],
    shape: Recipe,
    groups: Groups,
) -> tuple[Arrays, OptimizerStates]:
    """What is trained after the update, and the states of the optimizers."""
    directions: Arrays = {}
    after: OptimizerStates = {}
    for first, paths in _shared(groups, shape).items():
        mine, known = ({path: arrays[path] for path in paths} for arrays in (gradient, trained))
        found, after[first] = _directions(first, rates, shape).update(mine, states[first], known)  # type: ignore[arg-type]
        directions |= found  # type: ignore[operator]
    learning_rates = _learning_rates(groups, step, rates, shape)

    def moved(path: str, weight: jax.Array) -> jax.Array:
        group = groups[path]
        way = directions[path] + rates[group].weight_decay * weight
        return (weight - learning_rates[group].astype(way.dtype) * way).astype(weight.dtype)

    return {path: moved(path, weight) for path, weight in trained.items()}, after


def _shared(groups: Groups, shape: Recipe) -> dict[str, list[str]]:
    """The paths of the arrays that each optimizer moves, by the name of the first of its groups."""
    firsts: dict[Any, str] = {}
    first_of = {group: firsts.setdefault(shape.direction_of(group), group) for group in sorted(set(groups.values()))}
    paths: dict[str, list[str]] = {first: [] for first in firsts.values()}
    for path, group in groups.items():
        paths[first_of[group]].append(path)
    return paths


def _directions(first: str, rates: dict[str, Rates], shape: Recipe) -> optax.GradientTransformation:
    """Made inside the compiled step: the rates are traced, the shape is not."""
    return optimizers[shape.group(first).optimizer](rates[first], shape.nesterov)


def _learning_rates(groups: Groups, step: jax.Array, rates: dict[str, Rates], shape: Recipe) -> dict[str, jax.Array]:
    """By group. Only the peak and the schedule are a group's own, so the rest is computed once.

    As one vector: scalars would be computed again in the kernel of each array, which takes longer to compile.
    """
    names = sorted(set(groups.values()))
    words = [shape.group(name).schedule for name in names]
    falls = {word: schedules[word](step, rates[""]) for word in words}
    peaks = jnp.stack([rates[name].learning_rate for name in names])
    found = peaks * warmed_up(step, rates[""]) * jnp.stack([falls[word] for word in words])
    return dict(zip(names, found, strict=True))
