"""What linear-size measures of nets that are written down: their error, their size, twins, and training from them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...context import Context, Measured
from ...keys import key_for
from ...lab.cells import Spec
from ...nets import Net, count_parameters
from ...spaces import Subsets
from ...tasks import Hyperteacher, Task
from ...theory import LayersOf, hyperteacher_network, indistinguishable_teacher
from ...training import Member, Recipe, Stage, Trained, train
from ...trials import Trial
from ...trials.measure import decodability_rows, score_rows
from ...trials.panel import panel
from ...trials.trial import build_recipe, build_task

TASKS = 64  # that an error is measured on, 16 inputs each
BLOCKS: dict[str, Callable[[int], list[int]]] = {
    "halves": lambda m: [2 * i // m for i in range(m)],
    "interleaved": lambda m: [i % 2 for i in range(m)],  # a control: blocks that are not those that are asked about
    "one": lambda m: [0] * m,  # a control: nothing is across
}


def measure_written(spec: Spec, context: Context) -> Measured:
    """Error and size of an explicit net; where each combination has a teacher of its own, the size of all of theirs."""
    trial, options = Trial.from_json(spec["trial"]), spec["options"]
    task = trial.build_task()
    if type(task) is not Hyperteacher:
        return Measured([_written("units", units_one_by_one(trial, options["pieces"]))], {"seconds": 0.0})
    explicit = hyperteacher_network(task, options["pieces"])
    right = build_task(trial.world, trial.seed + (1000 if options["judged_by"] == "another" else 0))
    rows = jnp.asarray(task.space.sample(np.random.default_rng(trial.seed), TASKS))
    batch = right.sample(key_for("test", trial.seed), rows)
    error = np.abs(np.asarray(jax.jit(lambda net: net(batch)[0])(explicit.net) - batch.target))
    found = {
        "rms": float(np.sqrt((error**2).mean())),
        "of_bound": float((error.max((0, 1)) / explicit.bound).max()),
        "units": float(explicit.hidden_units),
        "parameters": float(count_parameters(explicit.net)),
    }
    return Measured([_written(metric, value) for metric, value in found.items()], {"seconds": 0.0})


def units_one_by_one(trial: Trial, pieces: int) -> float:
    """Hidden units if every combination gets an explicit net of its own, as nothing is shared."""
    space, alone = trial.build_task().space, Subsets(trial.world["space"]["at_most"], trial.world["space"]["at_most"])
    sizes = {name: trial.world[name] for name in ("inputs", "hidden", "outputs") if name in trial.world}
    return float(space.size * hyperteacher_network(Hyperteacher(alone, **sizes), pieces).hidden_units)


def _written(metric: str, value: float) -> dict[str, Any]:
    return {"reading": "written", "metric": metric, "value": value}


def measure_twins(spec: Spec, context: Context) -> Measured:
    """How far two teachers differ inside two blocks of modules and across them: at most, and in deviations."""
    trial, options = Trial.from_json(spec["trial"]), spec["options"]
    task = trial.build_task()
    assert isinstance(task, Hyperteacher)
    m = len(task.constituent_names)
    twin = indistinguishable_teacher(task, BLOCKS[options["blocks"]](m))
    asked = np.array(BLOCKS["halves"](m))
    rows = np.asarray(task.space.enumerate())
    block = np.where(rows < 0, -1, asked[np.maximum(rows, 0)])
    across = (block == 0).any(1) & (block == 1).any(1)
    key = key_for("test", trial.seed)
    targets = jax.jit(lambda teacher: teacher.sample(key, jnp.asarray(rows)).target)
    mine, other = (np.asarray(targets(one)) for one in (task, twin))
    found = []
    for name, some in (("inside", ~across), ("across", across)):
        off = np.abs(mine - other)[some]
        both = {"largest": off.max(), "deviations": np.sqrt((off**2).mean()) / mine[some].std()}
        found += [{"reading": "twins", "metric": f"{name}/{kind}", "value": float(v)} for kind, v in both.items()]
    return Measured(found, {"seconds": 0.0})


@dataclass(frozen=True)
class FromWritten:
    """Kept stages (`KeptStages`) with the first stage already: a net that was written and not trained."""

    net: Net

    def lock(self, number: int, seed: int) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def load(self, number: int, seed: int, fresh: Callable[[], Net]) -> Member | None:
        return None if number else Member(seed, self.net, self.net, [], None, 0.0, 0.0, 0.0)

    def save(self, number: int, member: Member) -> None:
        """Nothing is kept."""


def measure_start(spec: Spec, context: Context) -> Measured:
    """Scores and decodability of a written net, and of what training makes of it; or of a net of its size."""
    trial, options = Trial.from_json(spec["trial"]), spec["options"]
    task, support = trial.build_task(), trial.build_support()
    assert isinstance(task, Hyperteacher)
    net = hyperteacher_network(task, options["pieces"]).net
    blueprint, recipe = LayersOf.those_of(net), build_recipe(trial.stages[0]["recipe"])
    kept, seeds = FromWritten(net), [trial.seed]
    written = kept.load(0, trial.seed, lambda: net)
    assert written is not None
    taught: Task = (
        build_task({**trial.world, "name": options["trained_in"]}, trial.seed) if options["trained_in"] else task
    )
    stages = [Stage(blueprint, Recipe(steps=1)), Stage(blueprint, recipe, taught)]
    if options["start"] == "random":
        stages, kept = stages[1:], None
    run = train(task, support, stages, seeds=seeds, kept=kept, progress=False, watch=())
    rows = []
    for when, members in (("before", [written]), ("after", run.members)):
        if when == "after" or options["start"] == "written":
            one = Trained(task, support, blueprint, recipe, members)
            rows += [found | {"when": when} for found in rows_of(one, recipe.steps, options["labels"])]
    facts: dict[str, Any] = {"seconds": run.members[0].seconds, "diverged_at": run.members[0].diverged_at}
    if "panel" in trial.keep and run.members[0].diverged_at is None:
        facts |= panel(run)
    return Measured(rows, facts)


def rows_of(run: Trained, step: int, labels: str) -> list[dict[str, Any]]:
    """Scores and decodability of a net; nothing of one that diverged."""
    if run.members[0].diverged_at is not None:
        return []
    wanted = "r2_shuffled" if labels == "shuffled" else "r2"
    decoded = decodability_rows(run, step, row="last", controls=labels == "shuffled")
    decoded = [one for one in decoded if one["metric"] == wanted]
    return score_rows(run, ("test", "held_out"), step) + [one | {"metric": "r2"} for one in decoded]
