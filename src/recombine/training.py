"""train: one pure step, driven in whatever way is fastest here.

A step is a function of (state, key): draw combinations of the training side, make their data on the device, take
the gradient, update. How many steps one call does (a compiled loop, or one step a call for nets that train slowly
inside a loop on a CPU) and how members of an ensemble run side by side (threads with a one-threaded program each on a
CPU, one vmapped program elsewhere) changes the time and not the numbers. Where there are several devices, each makes
and computes its share of the batch (`devices.py`): the same numbers up to the rounding of sums.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from . import checkpoints
from .compilation import enable_cache
from .devices import Layout, choose
from .errors import UserError, require_int
from .keys import key_for, name_to_int
from .nets import Blueprint, Net, initialize
from .precision import one_thread, resolve
from .progress import Report, bars
from .recipe import Rates, Recipe, optimizer
from .supports import Support
from .tasks import Task, draw_batch
from .trained import Member, Trained, scores

CALL_SECONDS = 0.5  # aim for calls this long: short enough to show progress and stop, long enough to cost nothing
CHECKPOINT_SECONDS = 60.0
PENALTY = name_to_int("penalty")  # what a penalty draws is not what the data of its step is drawn from
ONE_DEVICE = Layout()
HISTORY_TASKS = 256  # scores on the way are for looking at: a quarter of what the final ones take


class State(eqx.Module):
    """All that changes from step to step."""

    net: Net
    optimizer: optax.OptState
    step: jax.Array
    loss_sum: jax.Array  # since the last evaluation; summed on the device, so it does not depend on the calls
    bad_step: jax.Array  # first step whose loss was not finite, or -1

    def steps_done(self) -> int:
        """Of all members, if there are several: they keep step."""
        return int(np.ravel(self.step)[0])

    def all_diverged(self) -> bool:
        return bool((np.asarray(self.bad_step) >= 0).all())


def train(
    task: Task,
    support: Support,
    net: Blueprint,
    recipe: Recipe | None = None,
    seeds: int | Sequence[int] = 1,
    *,
    progress: bool | Report | None = None,
    checkpoint: str | os.PathLike | None = None,
    threads: int | None = None,
    ensemble: str = "auto",
    devices: int | str = "auto",
    watch: Sequence[str] = ("validation", "held_out"),
    start: Trained | None = None,
) -> Trained:
    """Trains one net a seed on the training side of `support` and returns them all.

    seeds: a number (0, 1, ...) or the seeds themselves; each decides the initialization and the data of a member.
    progress: None shows bars on a terminal, False nothing; a callable gets (seed, step, steps, facts).
    checkpoint: a folder; the same call continues from what is there. It is emptied when a member is done.
    threads: members at once on a CPU (default: all cores); each member's program uses one thread.
    ensemble: "threads", "vmap", or "auto": threads on a CPU, vmap elsewhere.
    devices: how many share each batch; "auto": all of this machine, or as many as cut it equally. 1 switches it off.
    Members that share devices in "threads" run one after the other.
    watch: streams that are scored on the way, such as "held_out/cross-block".
    start: what to go on from, seed by seed, instead of fresh nets; on other data, say. The optimizer starts anew.
    """
    recipe = recipe or Recipe()
    seed_list = list(seeds) if isinstance(seeds, Iterable) else list(range(require_int("seeds", seeds, at_least=1)))
    workers = os.cpu_count() or 1 if threads is None else require_int("threads", threads, at_least=1)
    if not seed_list or len(set(seed_list)) != len(seed_list):
        raise UserError(f"seeds={seed_list} must be one or more different numbers")
    if support.space != task.space:
        raise UserError(f"the support splits {support.space} but the task combines {task.space}")
    if ensemble not in ("auto", "threads", "vmap"):
        raise UserError(f"ensemble={ensemble!r} must be 'auto', 'threads' or 'vmap'")
    net.require(task)
    layout = choose(devices, recipe.tasks)
    enable_cache()
    if ensemble == "auto":
        ensemble = "threads" if jax.default_backend() == "cpu" else "vmap"
    folder = Path(checkpoint) if checkpoint is not None else None
    run = _Run(task, support, net, recipe, folder, watch, _nets_of(start), layout)
    if missing := [seed for seed in seed_list if start is not None and seed not in run.begun]:
        raise UserError(f"start has no healthy net for seeds {missing}; it has {sorted(run.begun)}")
    with bars(progress, seed_list, recipe.steps) as report:
        if ensemble == "vmap" and len(seed_list) > 1:
            members = run.together(seed_list, report)
        else:
            members = run.side_by_side(seed_list, report, workers)
    return Trained(task, support, net, recipe, members)


def _nets_of(start: Trained | None) -> dict[int, Net]:
    return {} if start is None else {member.seed: member.net for member in start.healthy}


@dataclass
class _Run:
    """One call of `train`: what its members share."""

    task: Task
    support: Support
    blueprint: Blueprint
    recipe: Recipe
    checkpoint: Path | None
    watch: Sequence[str]
    begun: dict[int, Net] = field(default_factory=dict)  # nets to go on from, by seed
    layout: Layout = field(default_factory=Layout)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.precision = resolve(self.recipe.precision)
        # what every call of the program takes besides state and key
        self.given = self.layout.copied((self.task, self.support.train.sampler(), self.recipe.rates()))
        self.watched = {stream: self.support.side(stream) for stream in self.watch}

    def start(self, seed: int) -> State:
        if seed in self.begun:
            net = jax.tree.map(lambda leaf: leaf.copy() if eqx.is_array(leaf) else leaf, self.begun[seed])  # donated
            return fresh_state(net, self.recipe)
        return fresh_state(initialize(self.blueprint, self.task, key_for("init", seed), self.precision), self.recipe)

    def events(self) -> list[int]:
        """Steps at which scores are taken: evenly spaced, the last one included."""
        count = min(self.recipe.evaluations, self.recipe.steps)
        return [round(self.recipe.steps * (i + 1) / count) for i in range(count)] or [self.recipe.steps]

    def in_scan(self) -> bool:
        return self.blueprint.steps_in_scan_on_cpu or jax.default_backend() != "cpu"

    def side_by_side(self, seeds: list[int], report: Report, workers: int) -> list[Member]:
        """Members in threads, each with a one-threaded program of its own."""
        # two programs that each wait for all devices would wait for each other
        if len(seeds) == 1 or workers == 1 or self.layout.several:
            return [self.together([seed], report)[0] for seed in seeds]
        with concurrent.futures.ThreadPoolExecutor(min(workers, len(seeds))) as pool:
            futures = [pool.submit(self.together, [seed], report) for seed in seeds]
            try:
                return [future.result()[0] for future in futures]
            except BaseException:
                self.stop.set()  # Ctrl-C reaches the main thread only: the others stop at their next call
                for future in futures:
                    future.cancel()
                raise

    def together(self, seeds: list[int], report: Report) -> list[Member]:
        """Trains the members in one program (under vmap if there are several), from the start or a checkpoint."""
        states, keys = [self.start(seed) for seed in seeds], [key_for("train", seed) for seed in seeds]
        several = len(seeds) > 1
        state, key = states[0], keys[0]
        if several:
            state, key = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states), jnp.stack(keys)
        advance = stepper(self.recipe.shape(), self.in_scan(), members=len(seeds), layout=self.layout)
        histories: list[list[dict]] = [[] for _ in seeds]
        spent, drive, last_saved = 0.0, Drive(), time.monotonic()
        saved = self.checkpoint_of(seeds)
        if saved and (found := saved.load(state)):
            state, histories, spent = found
        state, key = self.layout.copied((state, key))

        def member_state(i: int) -> State:
            mine = self.layout.on_one(state)
            return jax.tree.map(lambda leaf: leaf[i], mine) if several else mine

        for event in self.events():
            while (step := state.steps_done()) < event and not state.all_diverged():
                if self.stop.is_set():
                    raise KeyboardInterrupt
                count = drive.next_count(event - step)
                state = drive.timed(advance, count, state, *self.given, key)
                for seed in seeds:
                    report(seed, state.steps_done(), self.recipe.steps, {})
                if saved and time.monotonic() - last_saved > CHECKPOINT_SECONDS:
                    saved.save(state, histories, spent + drive.seconds)
                    last_saved = time.monotonic()
            for i, (seed, history) in enumerate(zip(seeds, histories, strict=True)):
                mine = member_state(i)
                if not mine.all_diverged() and (not history or history[-1]["step"] < event):
                    history.append(self.evaluate(mine, seed, history) | {"seconds": spent + drive.seconds})
                    report(seed, event, self.recipe.steps, history[-1])
            if state.steps_done() == event:
                state = eqx.tree_at(lambda s: s.loss_sum, state, self.layout.copied(jnp.zeros_like(state.loss_sum)))
        if saved:
            saved.remove()
        return [drive.member(seed, member_state(i), histories[i], spent) for i, seed in enumerate(seeds)]

    def evaluate(self, state: State, seed: int, history: list[dict]) -> dict[str, Any]:
        since = state.steps_done() - (history[-1]["step"] if history else 0)
        row: dict[str, Any] = {"step": state.steps_done(), "loss": float(state.loss_sum) / max(since, 1)}
        for stream, side in self.watched.items():
            # items of their own: what `Trained.score` draws stays unseen until the end
            found = scores(self.task, side, state.net, key_for(f"history/{stream}", seed), HISTORY_TASKS)
            row |= {f"{stream}/{name}": value for name, value in found.items()}
        return row

    def checkpoint_of(self, seeds: list[int]) -> checkpoints.Checkpoint | None:
        """Where the state of these members is kept, marked by all that it depends on."""
        if self.checkpoint is None:
            return None
        mark = checkpoints.fingerprint(
            (self.task, [self.begun[seed] for seed in seeds]) if self.begun else self.task,
            self.support.certificate().content, self.blueprint.to_json(), self.recipe.to_json(), seeds,
        )  # fmt: skip
        return checkpoints.Checkpoint(self.checkpoint / f"seed-{'-'.join(map(str, seeds))}.safetensors", mark)


def fresh_state(net: Net, recipe: Recipe) -> State:
    """The state before the first step."""
    parameters = eqx.filter(net, eqx.is_inexact_array)
    memory = optimizer(recipe.shape(), recipe.rates()).init(parameters)  # type: ignore[arg-type]
    return State(net, memory, jnp.zeros((), jnp.int32), jnp.zeros(()), -jnp.ones((), jnp.int32))


def one_step(
    state: State, task: Task, sampler: Any, rates: Rates, key: jax.Array, shape: Recipe, layout: Layout = ONE_DEVICE
) -> State:
    """One update: a pure function of the state and the key."""
    key = jax.random.fold_in(key, state.step)
    batch = layout.shared_out(draw_batch(task, sampler, key, shape.tasks, shape.samples))

    def loss_of(net: Net) -> jax.Array:
        penalty = net.penalty(task, batch, jax.random.fold_in(key, PENALTY))
        loss = task.loss(net(batch.inputs, batch.code)[0], batch.target)
        return loss if penalty is None else loss + penalty

    loss, gradient = eqx.filter_value_and_grad(loss_of)(state.net)
    parameters = eqx.filter(state.net, eqx.is_inexact_array)
    updates, optimizer_state = optimizer(shape, rates).update(gradient, state.optimizer, parameters)  # type: ignore[arg-type]
    bad = (state.bad_step < 0) & ~jnp.isfinite(loss)
    after = State(
        eqx.apply_updates(state.net, updates),
        optimizer_state,
        state.step + 1,
        state.loss_sum + loss,
        jnp.where(bad, state.step, state.bad_step),
    )
    return layout.keep_copied(after)


@functools.cache
def stepper(shape: Recipe, in_scan: bool, members: int = 1, layout: Layout = ONE_DEVICE) -> Callable[..., State]:
    """The compiled program that does `count` steps. Cached: equal shapes share it."""

    def many(state: State, task: Task, sampler: Any, rates: Rates, key: jax.Array, count: jax.Array) -> State:
        # A loop with a traced bound: one program for any number of steps.
        return jax.lax.fori_loop(0, count, lambda _, s: one_step(s, task, sampler, rates, key, shape, layout), state)

    def single(state: State, task: Task, sampler: Any, rates: Rates, key: jax.Array) -> State:
        return one_step(state, task, sampler, rates, key, shape, layout)

    body = many if in_scan else single
    if members > 1:
        body = jax.vmap(body, in_axes=(0, None, None, None, 0, None) if in_scan else (0, None, None, None, 0))
    placed: dict[str, Any] = {"out_shardings": layout.everywhere} if layout.several else {}
    program = jax.jit(body, donate_argnums=0, compiler_options=one_thread(), **placed)

    def advance(state: State, task: Task, sampler: Any, rates: Rates, key: jax.Array, count: int) -> State:
        if in_scan:
            return program(state, task, sampler, rates, key, jnp.asarray(count, jnp.int32))
        for _ in range(count):
            state = program(state, task, sampler, rates, key)
        return state

    return advance


class Drive:
    """Decides how many steps a call does, and keeps the time; the first call, which compiles, is kept apart."""

    def __init__(self):
        self.seconds = 0.0
        self.compile_seconds = 0.0
        self.steps = 0
        self._per_step: float | None = None

    def next_count(self, left: int) -> int:
        if self._per_step is None:
            return 1
        return int(np.clip(CALL_SECONDS / self._per_step, 1, left))

    def timed(self, advance: Callable[..., State], count: int, state: State, *rest: Any) -> State:
        begun = time.perf_counter()
        state = advance(state, *rest, count)
        jax.block_until_ready(state.step)
        took = time.perf_counter() - begun
        if self._per_step is None:
            self.compile_seconds, self._per_step = took, CALL_SECONDS / 8  # a short second call measures the speed
        else:
            self.seconds += took
            self.steps += count
            self._per_step = took / count
        return state

    def member(self, seed: int, state: State, history: list[dict], before: float = 0.0) -> Member:
        """What is kept of a run that ended; `before` is the time it took until its checkpoint."""
        bad = int(state.bad_step)
        rate = self.steps / self.seconds if self.seconds else float("nan")
        diverged_at = None if bad < 0 else bad
        return Member(seed, state.net, history, diverged_at, before + self.seconds, rate, self.compile_seconds)
