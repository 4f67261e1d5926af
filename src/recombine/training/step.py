"""One step of training: a pure function of the state and the key, whatever drives it, on any number of devices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..keys import name_to_int
from ..machine.devices import Layout
from ..machine.precision import one_thread
from ..nets import Blueprint, Moment, Net, Parts, Step, cut, join
from ..nets.parts import Arrays, Static
from ..tasks import Batch, Task, draw_batch, draw_stored
from .optimizers import gradients, least_square, plain
from .recipe import Rates, Recipe
from .updates import OptimizerStates, first_states, updated

ONE_DEVICE = Layout()
#: what a net draws in a step (dropout, noise) is not what the data of the step is drawn from
MOMENT = name_to_int("moment")
MEMORY = name_to_int("memory")
#: nor are the examples of a finite data set
STORED = name_to_int("stored")


class State(eqx.Module):
    """All that changes from step to step. Frozen arrays do not: they are in none of this."""

    trained: Arrays
    average: Arrays | None  # of what is trained, if the recipe asks for one
    best: Arrays | None  # of the best evaluation, if the recipe keeps it
    optimizer: OptimizerStates
    memory: Any  # what the net carries: leaves (T, ...) or scalars
    step: jax.Array
    sums: dict[str, jax.Array]  # since the last evaluation, of the parts of the loss and the notes
    whole_sum: jax.Array | None  # of the whole loss; None where `sums` is of nothing else
    bad_step: jax.Array  # first step with a loss, part, note or gradient that was not finite, or -1
    static: Static = eqx.field(static=True)

    def steps_done(self) -> int:
        """Of all members, if there are several: they keep step."""
        return int(np.ravel(self.step)[0])

    def all_diverged(self) -> bool:
        return bool((np.asarray(self.bad_step) >= 0).all())

    @property
    def loss_sum(self) -> jax.Array:
        """Of the whole loss since the last evaluation."""
        (*_, only) = self.sums.values()
        return only if self.whole_sum is None else self.whole_sum

    @property
    def scored(self) -> Arrays:
        """What is scored on the way: the average, if there is one."""
        return self.trained if self.average is None else self.average


def start(
    blueprint: Blueprint,
    task: Task,
    sampler: Any,
    recipe: Recipe,
    keys: tuple[jax.Array, jax.Array],
    precision: str,
    before: Net | None = None,
) -> tuple[State, Arrays]:
    """The state before the first step, and what is frozen; made by one program.

    keys: of the weights and of the training. before: the net of the stage before, if there is one.
    """
    return _start_program()(blueprint, task, sampler, recipe.shape(), recipe.keep, keys, precision, before)


@functools.cache
def _start_program() -> Callable[..., tuple[State, Arrays]]:
    def run(
        blueprint: Blueprint, task: Task, sampler: Any, shape: Recipe, keep: str, keys: Any, precision: str, before: Any
    ) -> tuple[State, Arrays]:
        init_key, train_key = keys
        net = blueprint.build(task, init_key, precision, before)
        shape.require_groups(set(cut(net).static.groups.values()), blueprint.name)
        batch = functools.partial(draw_batch, task, sampler, jax.random.fold_in(train_key, MEMORY))
        return fresh_state(net, shape, task, lambda: batch(shape.tasks, shape.samples), keep)

    return eqx.filter_jit(run, compiler_options=one_thread())  # type: ignore[call-overload]


def fresh_state(
    net: Net, recipe: Recipe, task: Task, batch: Callable[[], Any], keep: str = "last"
) -> tuple[State, Arrays]:
    """The state before the first step and what is frozen; `batch` makes a batch, for nets that carry a memory."""
    parts, shape = cut(net), recipe.shape()
    memory, names = None, ["loss"]
    if not _is_plain(net):
        memory = net.memory(task, batch())
        _require_leading_axis(net, memory, shape.tasks)
        moment = Moment(jax.random.key(0), jnp.zeros(()))
        said = eqx.filter_eval_shape(lambda: _said(net, task, batch(), moment, memory))
        names = [*said.parts, *said.notes]
    zero = jnp.zeros(())
    state = State(
        # a copy: the state is donated from step to step, and the net of the stage before must not go with it
        trained=jax.tree.map(jnp.copy, parts.trained),
        average=jax.tree.map(jnp.copy, parts.trained) if shape.ema else None,
        best=jax.tree.map(jnp.copy, parts.trained) if keep == "best" else None,
        optimizer=first_states(parts.trained, parts.static.groups, recipe.rates(), shape),
        memory=memory,
        step=jnp.zeros((), jnp.int32),
        # summed on the device, so that they do not depend on how many steps a call does
        sums={name: zero for name in names},
        whole_sum=zero if len(names) > 1 else None,
        bad_step=-jnp.ones((), jnp.int32),
        static=parts.static,
    )
    return state, parts.frozen


def _is_plain(net: Net) -> bool:
    """Whether a net leaves its losses and memory as they are: then nothing has to be traced to know their names."""
    return type(net).losses is Net.losses and type(net).memory is Net.memory


def _require_leading_axis(net: Net, memory: Any, tasks: int) -> None:
    for path, leaf in jax.tree.leaves_with_path(memory):
        if leaf.ndim and leaf.shape[0] != tasks:
            name = jax.tree_util.keystr(path, simple=True, separator=".") or "memory"
            raise UserError(
                f"the memory of {type(net).__name__} has {name!r} of shape {leaf.shape}, and a step has {tasks} tasks; "
                f"it must begin with an axis of {tasks}, or be a scalar"
            )


def _said(net: Net, task: Task, batch: Any, moment: Moment, memory: Any) -> Step:
    """What a net says of a step, checked while it is traced."""
    said = net.losses(task, batch, moment, memory)
    # in a history each name of a stream stands for one thing
    taken = {"total", *(metric.name for metric in task.metrics)}
    twice = sorted(set(said.parts) & set(said.notes) | (set(said.parts) | set(said.notes)) & taken)
    if twice or not said.parts:
        what = f"the name {twice[0]!r} is taken" if twice else "its loss has no parts"
        raise UserError(
            f"{type(net).__name__}.losses: {what}; it must give at least one part, and notes by other names than "
            f"parts, metrics of the task and 'total'"
        )
    for name, value in {**said.parts, **said.notes}.items():
        if jnp.shape(value):
            raise UserError(f"{type(net).__name__}.losses: {name!r} has shape {jnp.shape(value)}; it must be a scalar")
    return said


def one_step(
    state: State,
    frozen: Arrays,
    task: Task,
    sampler: Any,
    rates: dict[str, Rates],
    key: jax.Array,
    shape: Recipe,
    layout: Layout = ONE_DEVICE,
) -> State:
    """One update."""
    store, key = jax.random.fold_in(key, STORED), jax.random.fold_in(key, state.step)
    batch = layout.shared_out(training_batch(task, sampler, key, store, shape, rates[""]))
    moment = Moment(jax.random.fold_in(key, MOMENT), state.step / rates[""].steps)

    def loss_of(trained: Arrays) -> tuple[jax.Array, Step]:
        said = _said(join(Parts(trained, frozen, state.static)), task, batch, moment, state.memory)
        parts = list(said.parts.values())
        return sum(parts[1:], start=parts[0]), said

    (loss, said), gradient = jax.value_and_grad(loss_of, has_aux=True)(state.trained)
    gradient, healthy = _treated(gradient, shape.gradient, rates[""].norm)
    trained, optimizer_state = updated(
        state.trained, gradient, state.optimizer, state.step, rates, shape, state.static.groups
    )
    seen = {**said.parts, **said.notes}
    # a part of the loss that is not finite makes the loss, their sum, not finite either
    for value in (loss, *said.notes.values()):
        healthy &= jnp.isfinite(value)
    after = State(
        trained,
        _averaged(state.average, trained, rates[""].ema),
        state.best,
        optimizer_state,
        said.memory,
        state.step + 1,
        {name: total + seen[name] for name, total in state.sums.items()},
        None if state.whole_sum is None else state.whole_sum + loss,
        jnp.where((state.bad_step < 0) & ~healthy, state.step, state.bad_step),
        state.static,
    )
    return placed(after, layout, shape.tasks)


def training_batch(task: Task, sampler: Any, key: jax.Array, store: jax.Array, shape: Recipe, rates: Rates) -> Batch:
    """The data of one step: new, or of the examples that are stored."""
    if shape.examples is None:
        return draw_batch(task, sampler, key, shape.tasks, shape.samples)
    count = rates.examples.astype(jnp.int32)
    return draw_stored(task, sampler, key, store, tasks=shape.tasks, samples=shape.samples, examples=count)


def _treated(gradient: Arrays, treatment: str, wanted: jax.Array) -> tuple[Arrays, jax.Array]:
    """The gradient as the optimizer sees it, and whether all of it was finite."""
    if gradients[treatment] is plain:
        return gradient, jnp.isfinite(least_square(gradient))
    norm = jnp.sqrt(sum((jnp.sum(g**2) for g in gradient.values()), start=jnp.zeros(())))
    return gradients[treatment](gradient, norm, wanted), jnp.isfinite(norm)  # type: ignore[return-value]


def _averaged(average: Arrays | None, trained: Any, decay: jax.Array) -> Arrays | None:
    if average is None:
        return None
    return jax.tree.map(lambda mean, new: decay * mean + (1 - decay) * new, average, trained)


def placed(state: State, layout: Layout, tasks: int, members: int = 1) -> State:
    """Everything is a copy on each device, but the memory of T tasks, which is cut like the batch.

    Inside a program it stays so, whatever the compiler would prefer; outside, it is put there.
    """
    if not layout.several:
        return state
    axis = 1 if members > 1 else 0  # where the tasks are

    def place(leaf: jax.Array) -> jax.Array:
        return layout.shared_out(leaf, axis) if leaf.shape[axis : axis + 1] == (tasks,) else layout.copied(leaf)

    memory = jax.tree.map(place, state.memory)
    return eqx.tree_at(lambda s: s.memory, layout.copied(state), memory, is_leaf=lambda x: x is None)


@functools.cache
def stepper(shape: Recipe, in_scan: bool, members: int = 1, layout: Layout = ONE_DEVICE) -> Callable[..., State]:
    """The compiled program that does `count` steps. Cached: equal shapes share it."""

    def one(state: State, frozen: Arrays, task: Task, sampler: Any, rates: Any, key: jax.Array) -> State:
        return one_step(state, frozen, task, sampler, rates, key, shape, layout)

    def many(
        state: State, frozen: Arrays, task: Task, sampler: Any, rates: Any, key: jax.Array, count: jax.Array
    ) -> State:
        # A loop with a traced bound: one program for any number of steps.
        return jax.lax.fori_loop(0, count, lambda _, s: one(s, frozen, task, sampler, rates, key), state)

    body: Callable[..., State] = many if in_scan else one
    if members > 1:
        axes = (0, 0, None, None, None, 0)
        body = jax.vmap(body, in_axes=(*axes, None) if in_scan else axes)
    program = jax.jit(body, donate_argnums=0, compiler_options=one_thread())

    def advance(
        state: State, frozen: Arrays, task: Task, sampler: Any, rates: Any, key: jax.Array, count: int
    ) -> State:
        if in_scan:
            return program(state, frozen, task, sampler, rates, key, jnp.asarray(count, jnp.int32))
        for _ in range(count):
            state = program(state, frozen, task, sampler, rates, key)
        return state

    return advance
