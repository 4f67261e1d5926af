"""check_net: what any net must pass. Part of `recombine.testing`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..keys import key_for
from ..machine.devices import choose
from ..nets import Blueprint, Moment, Net, Step, cut, how_to_ask, initialize, join
from ..nets.base import init_program
from ..nets.parts import Arrays, Parts
from ..supports import random
from ..tasks import Batch, Task
from ..training import Recipe
from ..training.evaluation import ask
from ..training.step import placed, start, stepper

TASKS = 64
STEPS = 20
APART = 1e-5  # by which losses of one and of several devices may differ, by their size: the rounding of sums


def check_net(blueprint: Blueprint, task: Task, recipe: Recipe | None = None) -> None:
    """A blueprint that is data, answers without a target, the same twice, and gradients for all that is trained.

    Where jax has several devices (XLA_FLAGS=--xla_force_host_platform_device_count=4 makes four of a CPU), it is also
    trained on all of them and on one, which must agree up to rounding: what it takes to run on other hardware.

    Args:
        blueprint: of the net.
        task: one that it serves.
        recipe: one that names the parameter groups of the net, if it has groups of its own.

    Example:
        >>> from recombine.testing import check_net
        >>> check_net(rc.nets.MLP(width=8, depth=1), task)  # silent: it passes
    """
    json.dumps(blueprint.to_json())
    hash(blueprint)
    net, other = (initialize(blueprint, task, jax.random.key(seed), "float32") for seed in (0, 1))
    same = init_program.__wrapped__()(blueprint, task, jax.random.key(0), "float32", None)  # traced anew
    must(eqx.tree_equal(net, same), "build is not a function of the key")
    must(not eqx.tree_equal(net, other), "another key gives the same weights")
    batch = task.sample(jax.random.key(1), jnp.asarray(task.space.sample(0, TASKS)))
    _check_answer(net, blueprint, batch)
    _check_losses(net, task, batch)
    if len(jax.local_devices()) > 1:
        _check_devices(blueprint, task, recipe or Recipe())


def must(condition: Any, message: str) -> None:
    if not bool(condition):
        raise AssertionError(message)


def _check_answer(net: Net, blueprint: Blueprint, batch: Batch) -> None:
    """Blind, with a finite trace of the announced names, and the same twice."""
    try:
        program = eqx.filter_jit(lambda net, batch, key: ask(net, batch, key))
        answer, trace = program(net, batch, jax.random.key(2))
    except (AttributeError, TypeError, KeyError, IndexError, UserError) as problem:
        raise AssertionError(
            f"answer failed on a batch without target and constituents, which it must not read: {problem}"
        ) from problem
    announced = blueprint.layers()
    must(set(trace) == set(announced), f"the trace has {sorted(trace)}, announced are {announced}")
    for name, value in trace.items():
        must(value.shape[:1] == (TASKS,), f"{name} has shape {value.shape}, which does not begin with {TASKS} tasks")
        must(jnp.isfinite(value).all(), f"{name} is not finite")
    if isinstance(batch.target, jax.Array):
        logits = jnp.issubdtype(batch.target.dtype, jnp.integer) and answer.ndim == batch.target.ndim + 1
        shape = answer.shape[:-1] if logits else answer.shape
        must(shape == batch.target.shape, f"answers have shape {answer.shape}, and targets {batch.target.shape}")
    again, _ = program(net, batch, jax.random.key(2))
    alike = jax.tree.map(lambda a, b: bool((a == b).all()), answer, again)
    must(all(jax.tree.leaves(alike)), "two answers with the same key differ")
    hash(how_to_ask(net, None))


def _check_losses(net: Net, task: Task, batch: Batch) -> None:
    """Named scalars, a memory that keeps its shape, and a gradient for every array that is trained."""
    memory = net.memory(task, batch)
    for path, leaf in jax.tree.leaves_with_path(memory):
        begins = not leaf.ndim or leaf.shape[0] == TASKS
        where = jax.tree_util.keystr(path)
        must(begins, f"memory{where} has shape {leaf.shape}; it must begin with the {TASKS} tasks, or be a scalar")
    parts = cut(net)
    moment = Moment(jax.random.key(3), jnp.asarray(0.5))

    @jax.jit
    def losses_and_gradient(trained: Arrays, frozen: Arrays) -> tuple[Step, Arrays]:
        def loss(trained: Arrays) -> tuple[jax.Array, Step]:
            said = join(Parts(trained, frozen, parts.static)).losses(task, batch, moment, memory)
            return jnp.stack(list(said.parts.values())).sum(), said

        gradient, said = jax.grad(loss, has_aux=True)(trained)
        return said, gradient

    said, gradient = losses_and_gradient(parts.trained, parts.frozen)
    must(said.parts and not set(said.parts) & set(said.notes), "losses needs parts, and notes by other names")
    for name, value in {**said.parts, **said.notes}.items():
        must(jnp.shape(value) == () and jnp.isfinite(value), f"{name!r} must be a finite scalar, is {value}")
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), one) for one in (memory, said.memory)]
    must(shapes[0] == shapes[1], f"the memory changes its shape in a step, from {shapes[0]} to {shapes[1]}")
    for path, leaf in gradient.items():
        must(jnp.any(leaf != 0), f"no gradient reaches {path}")


def _check_devices(blueprint: Blueprint, task: Task, recipe: Recipe) -> None:
    """The same losses on one device and on all of them."""
    count = len(jax.local_devices())
    recipe = dataclasses.replace(recipe, steps=STEPS, tasks=4 * count, precision="float32")
    support = random(task.space, seed=0)
    sampler, keys = support.train.sampler(), (key_for("init", 0), key_for("train", 0))
    losses = {}
    for devices in (1, count):
        layout = choose(devices, recipe.tasks)
        state, frozen = start(blueprint, task, sampler, recipe, keys, "float32")
        state = placed(state, layout, recipe.tasks)
        given = layout.copied((frozen, task, sampler, recipe.rates(), keys[1]))
        advance, found = stepper(recipe.shape(), False, layout=layout), []
        for _ in range(STEPS):
            state = advance(state, *given, 1)
            found.append(float(state.loss_sum))
        losses[devices] = np.array(found)
    apart = float(np.abs(losses[count] - losses[1]).max() / np.abs(losses[1]).max())
    must(apart <= APART, f"on {count} devices its losses differ from those on one by {apart:.1e} of their size")
