"""One stage of a training: its members, from the start or a checkpoint to the last step."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import __version__
from ..keys import key_for
from ..machine.devices import Layout
from ..machine.precision import resolve
from ..machine.progress import Report
from ..nets import Blueprint, Net, Parts, initialize, join
from ..nets.parts import Arrays
from ..supports import Support
from ..tasks import Task
from . import checkpoints
from .drive import Drive
from .evaluation import BLOCK, losses_of
from .recipe import Recipe
from .step import State, placed, start, stepper
from .trained import Member, stream_scores

CHECKPOINT_SECONDS = 60.0


@dataclass
class StageRun:
    """What the members of one stage share.

    number: of the stage; streams of random numbers are named by it, so that no two stages see the same items.
    begun: nets to go on from, by seed. alone: whether there is no other stage.
    """

    task: Task
    support: Support
    blueprint: Blueprint
    recipe: Recipe
    checkpoint: Path | None
    watch: Sequence[str]
    number: int = 0
    begun: dict[int, Net] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    alone: bool = True
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.precision = resolve(self.recipe.precision, self.blueprint.products)
        self.sampler = self.support.train.sampler()
        # what every call of the program takes besides state, frozen arrays and key
        self.given = self.layout.copied((self.task, self.sampler, self.recipe.rates()))
        chosen_by = ("validation",) if self.recipe.keep == "best" else ()
        self.watched = {stream: self.support.side(stream) for stream in dict.fromkeys((*self.watch, *chosen_by))}

    def key(self, name: str, seed: int) -> jax.Array:
        return key_for(f"{name}/{self.number}" if self.number else name, seed)

    def start(self, seed: int) -> tuple[State, Arrays]:
        keys = (self.key("init", seed), self.key("train", seed))
        return start(self.blueprint, self.task, self.sampler, self.recipe, keys, self.precision, self.begun.get(seed))

    def fresh(self, seed: int) -> Net:
        """The net of a seed before the first step."""
        key, begun = self.key("init", seed), self.begun.get(seed)
        return initialize(self.blueprint, self.task, key, self.precision, begun)

    def events(self) -> list[int]:
        """Steps at which the history gets a row: evenly spaced, the last one included."""
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
        group = _Group(self, seeds)
        for event in self.events():
            while (step := group.state.steps_done()) < event and not group.state.all_diverged():
                if self.stop.is_set():
                    raise KeyboardInterrupt
                group.advance(event - step)
                for seed in seeds:
                    report(seed, group.state.steps_done(), self.recipe.steps, {})
                group.save_now_and_then()
            group.take_stock(event, report)
        group.finish()
        return [group.member(i) for i in range(len(seeds))]

    def evaluate(self, net: Net, state: State, seed: int) -> dict[str, float]:
        """Losses and, if the recipe asks for them, scores of the watched streams."""
        row: dict[str, float] = {}
        done = state.steps_done() / self.recipe.steps
        for stream, side in self.watched.items():
            # items of their own: what `Trained.score` draws stays unseen until the end
            key = key_for(f"history/{stream}", seed)
            found = losses_of(net, self.task, side, key, done)
            if self.recipe.history == "scores":
                # as many as the losses are of: scores on the way are for looking at
                found |= stream_scores(self.task, side, net, key, BLOCK)
            row |= {f"{stream}/{name}": value for name, value in found.items()}
        return row

    def checkpoint_of(self, seeds: list[int]) -> checkpoints.Checkpoint | None:
        """Where the state of these members is kept, marked by all that it depends on."""
        if self.checkpoint is None:
            return None
        begun = [eqx.filter(self.begun[seed], eqx.is_array) for seed in seeds if seed in self.begun]
        settings = (self.blueprint.to_json(), self.recipe.to_json(), self.number, seeds, self.precision, __version__)
        mark = checkpoints.fingerprint((self.task, begun), self.support.certificate().content, *settings)
        return checkpoints.Checkpoint(self.checkpoint / f"seed-{'-'.join(map(str, seeds))}.safetensors", mark)


class _Group:
    """Members that are trained by one program: one of them, or several under vmap."""

    def __init__(self, run: StageRun, seeds: list[int]):
        self.run, self.seeds, self.several = run, seeds, len(seeds) > 1
        states, frozen = zip(*(run.start(seed) for seed in seeds), strict=True)
        state, self.frozen, self.key = states[0], frozen[0], run.key("train", seeds[0])
        if self.several:
            state = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
            self.frozen = jax.tree.map(lambda *leaves: jnp.stack(leaves), *frozen)
            self.key = jnp.stack([run.key("train", seed) for seed in seeds])
        self.program = stepper(run.recipe.shape(), run.in_scan(), members=len(seeds), layout=run.layout)
        self.histories: list[list[dict]] = [[] for _ in seeds]
        self.drive, self.spent, self.last_saved = Drive(), 0.0, time.monotonic()
        self.saved = run.checkpoint_of(seeds)
        if self.saved and (found := self.saved.load(state)):
            state, self.histories, self.spent = found
        self.frozen, self.key = run.layout.copied((self.frozen, self.key))
        self.state = placed(state, run.layout, run.recipe.tasks, len(seeds))

    def advance(self, most: int) -> None:
        count = self.drive.next_count(most)
        self.state = self.drive.timed(self.program, count, self.state, self.frozen, *self.run.given, self.key)

    def save_now_and_then(self) -> None:
        if self.saved and time.monotonic() - self.last_saved > CHECKPOINT_SECONDS:
            self.saved.save(self.state, self.histories, self.spent + self.drive.seconds)
            self.last_saved = time.monotonic()

    def finish(self) -> None:
        """A checkpoint of a finished stage stays until the last stage is done: what comes after needs its net."""
        if self.saved and self.run.alone:
            self.saved.remove()
        elif self.saved:
            self.saved.save(self.state, self.histories, self.spent + self.drive.seconds)

    # -- one member of them -----------------------------------------------------------------------------------------
    def state_of(self, i: int) -> tuple[State, Arrays]:
        mine = self.run.layout.on_one((self.state, self.frozen))
        return jax.tree.map(lambda leaf: leaf[i], mine) if self.several else mine

    def take_stock(self, event: int, report: Report) -> None:
        """A row of history for each member that has not diverged; sums begin anew."""
        better = [self._row(i, seed, event, report) for i, seed in enumerate(self.seeds)]
        if any(better):
            self._keep_best(better)
        if self.state.steps_done() == event:
            sums, whole_sum = jax.tree.map(jnp.zeros_like, (self.state.sums, self.state.whole_sum))
            self.state = dataclasses.replace(self.state, sums=sums, whole_sum=whole_sum)

    def _row(self, i: int, seed: int, event: int, report: Report) -> bool:
        """Writes a row; whether the member is better than before."""
        (state, frozen), history = self.state_of(i), self.histories[i]
        if state.all_diverged() or (history and history[-1]["step"] >= event):
            return False
        since = max(state.steps_done() - (history[-1]["step"] if history else 0), 1)
        row: dict[str, Any] = {"step": state.steps_done(), "loss": float(state.loss_sum) / since}
        row |= {f"train/{name}": float(total) / since for name, total in state.sums.items()}
        row |= self.run.evaluate(join(Parts(state.scored, frozen, state.static)), state, seed)
        row["seconds"] = self.spent + self.drive.seconds
        better = self.run.recipe.keep == "best" and self._is_better(row, history)
        history.append(row)
        report(seed, event, self.run.recipe.steps, row)
        return better

    def _is_better(self, row: dict[str, Any], history: list[dict]) -> bool:
        """By the first metric on the validation stream, or by its loss where no scores are taken."""
        metric = self.run.task.metrics[0]
        name, sign = f"validation/{metric.name}", 1 if metric.higher_is_better else -1

        def good(row: dict[str, Any]) -> float:
            value = sign * row[name] if name in row else -row["validation/total"]
            return value if value == value else -math.inf  # undefined: worse than any other

        return not history or good(row) > max(map(good, history))

    def _keep_best(self, better: list[bool]) -> None:
        """Copies the arrays that are scored of those that are better than before."""
        chosen = jnp.asarray(better)

        def newer(new: jax.Array, old: jax.Array) -> jax.Array:
            mine = chosen.reshape(-1, *[1] * (new.ndim - 1)) if self.several else chosen[0]
            return jnp.where(mine, new, old)

        best = jax.tree.map(newer, self.state.scored, self.state.best)
        self.state = eqx.tree_at(lambda s: s.best, self.state, self.run.layout.copied(best))

    def member(self, i: int) -> Member:
        """What is kept of a member that ended."""
        state, frozen = self.state_of(i)
        kept = state.scored if state.best is None else state.best
        net, raw = (join(Parts(arrays, frozen, state.static)) for arrays in (kept, state.trained))
        bad, drive = int(state.bad_step), self.drive
        history = [{"stage": self.run.number, **row} for row in self.histories[i]]
        if bad < 0 and not all(np.isfinite(np.asarray(leaf)).all() for leaf in state.trained.values()):
            bad = state.steps_done()  # the last update went too far, and no step came after it
        return Member(
            seed=self.seeds[i],
            net=net,
            raw=raw,
            history=history,
            diverged_at=None if bad < 0 else bad,
            seconds=self.spent + drive.seconds,
            steps_per_second=drive.rate,
            compile_seconds=drive.compile_seconds,
        )
