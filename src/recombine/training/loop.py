"""train: one pure step, driven in whatever way is fastest here.

A step is a function of (state, key): draw combinations of the training side, make their data on the device, take
the gradient, update. How many steps one call does (a compiled loop, or one step per call for nets that train slowly
inside a loop on a CPU) and how members of an ensemble run side by side (threads with a one-threaded program each on a
CPU, one vmapped program elsewhere) changes the time and not the numbers. Where there are several devices, each makes
and computes its share of the batch (`machine/devices.py`): the same numbers up to the rounding of sums.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jax

from ..errors import UserError, require_int
from ..machine.compilation import enable_cache
from ..machine.devices import choose
from ..machine.processes import cores
from ..machine.progress import Report, bars
from ..nets import Blueprint, Net
from ..supports import Support
from ..tasks import Task
from . import checkpoints
from .members import StageRun
from .recipe import Recipe
from .stages import KeptStages, Stage
from .trained import Member, Trained

ENSEMBLES = ("auto", "threads", "vmap")


def train(
    task: Task,
    support: Support,
    net: Blueprint | Sequence[Stage],
    recipe: Recipe | None = None,
    seeds: int | Sequence[int] = 1,
    *,
    progress: bool | Report | None = None,
    checkpoint: str | os.PathLike | None = None,
    threads: int | None = None,
    ensemble: str = "auto",
    devices: int | str = "auto",
    watch: Sequence[str] = ("validation", "held_out"),
    kept: KeptStages | None = None,
) -> Trained:
    """Trains one net per seed on the training side of `support` and returns them all.

    Args:
        task: the world.
        support: what is trained on and what is held out.
        net: a blueprint; or stages, each of which goes on from the last, with a net, recipe, task and split of its own.
        recipe: how; not together with stages, which bring theirs.
        seeds: a number (0, 1, ...) or the seeds themselves; each decides the initialization and the data of a member.
        progress: None shows bars on a terminal, False nothing; a callable gets (seed, step, steps, facts).
        checkpoint: a folder; the same call continues from what is there. It is emptied when a member is done.
        threads: members at once on a CPU (default: all cores of this process); each member's program uses one thread.
        ensemble: "threads", "vmap", or "auto": threads on a CPU, vmap elsewhere.
        devices: how many share each batch; "auto": all of this machine, or as many as cut it equally. 1 is off. Members
            that share devices in "threads" run one after the other.
        watch: streams that are looked at on the way, such as "held_out/cross-block".
        kept: where members of stages are found instead of being trained, and kept when they were.

    Example:
        >>> run = rc.train(task, support, rc.nets.MLP(width=8, depth=2), recipe, seeds=2, progress=False)
        >>> [member.seed for member in run.members]
        [0, 1]
    """
    stages = prepared(task, support, net, recipe)
    seed_list = list(seeds) if isinstance(seeds, Iterable) else list(range(require_int("seeds", seeds, at_least=1)))
    if not seed_list or len(set(seed_list)) != len(seed_list):
        raise UserError(f"seeds={seed_list} must be one or more different numbers")
    if ensemble not in ENSEMBLES:
        raise UserError(f"ensemble={ensemble!r} must be 'auto', 'threads' or 'vmap'")
    if ensemble == "auto":
        ensemble = "threads" if jax.default_backend() == "cpu" else "vmap"
    way = _Way(
        progress=progress,
        folder=Path(checkpoint) if checkpoint is not None else None,
        workers=cores() if threads is None else require_int("threads", threads, at_least=1),
        vmap=ensemble == "vmap",
        devices=devices,
        watch=tuple(watch),
        kept=kept,
    )
    enable_cache()
    members = _run(stages, seed_list, way)
    if len(stages) == 1:
        members = [_without_stage(member) for member in members]
    last = stages[-1]
    assert last.task is not None and last.support is not None
    return Trained(last.task, last.support, last.net, last.recipe, members, stages)


def _without_stage(member: Member) -> Member:
    """The number of the stage says nothing where there is one."""
    rows = [{name: value for name, value in row.items() if name != "stage"} for row in member.history]
    return dataclasses.replace(member, history=rows)


@dataclass(frozen=True)
class _Way:
    """How the members of a training are run."""

    progress: bool | Report | None
    folder: Path | None
    workers: int
    vmap: bool
    devices: int | str
    watch: tuple[str, ...]
    kept: KeptStages | None


def prepared(
    task: Task, support: Support, net: Blueprint | Sequence[Stage], recipe: Recipe | None = None
) -> tuple[Stage, ...]:
    """The stages, each with its task as given for its split; refuses what cannot be trained, before it compiles."""
    if isinstance(net, Blueprint):
        net = [Stage(net, recipe or Recipe())]
    elif recipe is not None:
        raise UserError("recipe= goes with one net; stages bring their own, as in Stage(net, Recipe(steps=500))")
    if not net or not all(isinstance(stage, Stage) for stage in net):
        raise UserError(f"net={net!r} must be a blueprint such as MLP(width=64), or one or more stages")
    found = []
    for stage in net:
        world, split = stage.task or task, stage.support or support
        if split.space != world.space:
            raise UserError(f"the support splits {split.space} but the task combines {world.space}")
        stage.net.require(world)
        found.append(dataclasses.replace(stage, task=world.given(split), support=split))
    return tuple(found)


def _run(stages: tuple[Stage, ...], seeds: list[int], way: _Way) -> list[Member]:
    """All stages, one after the other; a member that diverged goes no further."""
    done: dict[int, Member] = {}
    total = sum(stage.recipe.steps for stage in stages)
    with bars(way.progress, seeds, total) as report:
        before = 0
        for number, stage in enumerate(stages):
            alive = [seed for seed in seeds if seed not in done or done[seed].diverged_at is None]
            begun = {seed: handed_over(stages[number - 1], done[seed]) for seed in alive} if number else {}
            run = _stage_run(stage, number, len(stages), begun, way)

            def tell(seed: int, step: int, steps: int, facts: dict, before: int = before) -> None:
                report(seed, before + step, total, facts)

            if not alive:
                break
            for member in _members(run, alive, tell, way):
                done[member.seed] = joined(done.get(member.seed), member)
            before += stage.recipe.steps
    if way.folder is not None and len(stages) > 1:
        checkpoints.clear(way.folder)
    return [done[seed] for seed in seeds]


def _members(run: StageRun, seeds: list[int], report: Report, way: _Way) -> list[Member]:
    """The members of one stage: those that are kept, and the others trained and kept."""
    if way.kept is None:
        return _train(run, seeds, report, way)
    kept, number = way.kept, run.number
    with contextlib.ExitStack() as locks:
        for seed in sorted(seeds):  # in one order everywhere: two trainings never wait for each other
            locks.enter_context(kept.lock(number, seed))
        found = {seed: kept.load(number, seed, functools.partial(run.fresh, seed)) for seed in seeds}
        trained = _train(run, [seed for seed in seeds if found[seed] is None], report, way)
        for member in trained:
            kept.save(number, member)
    new = {member.seed: member for member in trained}
    return [found[seed] or new[seed] for seed in seeds]


def _train(run: StageRun, seeds: list[int], report: Report, way: _Way) -> list[Member]:
    if not seeds:
        return []
    if way.vmap and len(seeds) > 1:
        return run.together(seeds, report)
    return run.side_by_side(seeds, report, way.workers)


def handed_over(stage: Stage, member: Member) -> Net:
    """What the next stage begins from."""
    return member.raw if stage.recipe.hand_over == "raw" else member.net


def _stage_run(stage: Stage, number: int, count: int, begun: dict[int, Net], way: _Way) -> StageRun:
    assert stage.task is not None and stage.support is not None
    folder = way.folder / f"stage-{number}" if way.folder is not None and count > 1 else way.folder
    layout = choose(way.devices, stage.recipe.tasks)
    watch = [stream for stream in way.watch if number == count - 1 or _has(stage.support, stream)]
    return StageRun(
        stage.task, stage.support, stage.net, stage.recipe, folder, watch, number, begun, layout, count == 1
    )


def _has(support: Support, stream: str) -> bool:
    """Whether a split has a stream: groups of held-out combinations may be those of the last split alone."""
    group = stream.partition("/")[2]
    return not group or group in support.groups


def joined(before: Member | None, after: Member) -> Member:
    """A member after a further stage: its history and its time are those of all."""
    if before is None:
        return after
    return dataclasses.replace(
        after,
        history=[*before.history, *after.history],
        seconds=before.seconds + after.seconds,
        compile_seconds=before.compile_seconds + after.compile_seconds,
    )
