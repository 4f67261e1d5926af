"""A trial: one net, trained on one split of one world, scored and probed. What most studies repeat over a grid.

A trial is data, a flat dictionary:

    seed                                of the teacher, the split, the data and the net, each by a key of its own
    task, task_options                  the world
    modules, at_most                    its space; modules=None is the task's own
    size                                instead of these, for pictures: levels a position has
    encoding, encoding_options          how a combination is shown
    support, held_out                   what is trained on; or support, support_options
    net, width, depth, net_options      what is trained
    steps, tasks, learning_rate, ...    how: the fields of a Recipe
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..errors import UserError
from ..lab.cells import canonical
from ..lab.store import Record, Table
from ..lab.study import Context, Knob, Measured, Study, check_choices
from ..lab.verdicts import NotMet
from ..nets import Blueprint
from ..spaces import Space
from ..supports import Support
from ..supports import registry as designs
from ..tasks import Task
from ..training import Recipe, Trained
from ..trials import Trial
from ..trials import measure as measure_trial
from ..trials import trial as trial_parts
from ..trials.measure import row as row
from . import charts

LEARNED = 0.5  # score on trained combinations below which a small gap means nothing: there is nothing to lose
RESOLUTION = 0.01  # two scores on 1,024 tasks each that differ by less are the same
#: what the shapes of a trial depend on
WORLD = ("task", "task_options", "modules", "at_most", "size", "encoding", "encoding_options", "support", "net",
         "width", "depth", "net_options")  # fmt: skip
RECIPE = tuple(field.name for field in dataclasses.fields(Recipe))

#: fields of a recipe that studies let their users change
TRAINED_BY = ("steps", "tasks", "samples", "learning_rate", "schedule", "warmup", "weight_decay", "b1", "b2",
              "nesterov", "precision", "evaluations")  # fmt: skip
#: smoke, laptop and published recipes for imitation in the preference world (Table 3 and the public sweeps)
PREFERENCE_RECIPES = (
    Recipe(steps=400, tasks=32, weight_decay=0.05, evaluations=1),
    Recipe(steps=3000, tasks=64, weight_decay=0.05, evaluations=2),
    Recipe.published(steps=3_000_000, samples=1, learning_rate=1e-4, weight_decay=1e-3),
)

#: the preference world at each scale; two objects and six features are what minutes of training can learn
PREFERENCE_KNOBS = (
    Knob("features", "F, features that objects can have", 4, 6, 16),
    Knob("objects", "objects on the map", 1, 2, 4),
)

Spec = dict[str, Any]


# -- from flat data to nested -----------------------------------------------------------------------------------------
def nested_world(spec: Spec) -> dict[str, Any]:
    """The world of a trial: subsets of the modules, pictures of a size, or the space that the task brings."""
    space: dict[str, Any] | None = None
    if spec.get("size") is not None:
        space = {"size": spec["size"]}
    elif spec.get("modules") is not None:
        space = {"modules": spec["modules"], "at_most": spec["at_most"]}
    world = {"name": spec["task"], "space": space, "encoding": spec["encoding"], **(spec.get("task_options") or {})}
    return world | ({"encoding_options": spec["encoding_options"]} if spec.get("encoding_options") else {})


def nested_support(spec: Spec) -> dict[str, Any]:
    """The split. `missing` leaves out the last module whatever share is asked, as published."""
    name = spec["support"]
    if spec.get("support_options") is not None:
        return {"name": name, **spec["support_options"]}
    if name in ("missing", "fewer-active"):
        return {"name": name}
    return {"name": name, "within" if name == "disconnected" else "held_out": spec["held_out"]}


def nested_net(spec: Spec) -> dict[str, Any]:
    sizes = {name: spec[name] for name in ("width", "depth") if spec.get(name) is not None}
    return {"name": spec["net"], **sizes, **(spec.get("net_options") or {})}


def nested_recipe(spec: Spec) -> dict[str, Any]:
    """The fields of a recipe that the trial names."""
    return {name: spec[name] for name in RECIPE if name in spec}


def nested(spec: Spec, first: Spec | None = None, **parts: Any) -> Trial:
    """A flat trial as nested data. first: a trial on whose split the first half of the steps is taken."""
    recipe, net, stages = nested_recipe(spec), nested_net(spec), []
    if first is not None:
        half = max(recipe["steps"] // 2, 1)
        stages.append(
            {"net": net, "recipe": recipe | {"steps": half, "evaluations": 0}, "support": nested_support(first)}
        )
        recipe = recipe | {"steps": max(recipe["steps"] - half, 1)}
    stages.append({"net": net, "recipe": recipe})
    return Trial(nested_world(spec), nested_support(spec), stages, seed=spec["seed"], **parts)


def build_space(spec: Spec) -> Space:
    return trial_parts.build_space(nested_world(spec | {"encoding": spec.get("encoding")}))


def build_task(spec: Spec) -> Task:
    return trial_parts.build_task(nested_world(spec), spec["seed"])


def build_support(spec: Spec) -> Support:
    return trial_parts.build_support(nested_support(spec), build_space(spec), spec["seed"])


def build_net(spec: Spec) -> Blueprint:
    return trial_parts.build_net(nested_net(spec))


def build_recipe(spec: Spec) -> Recipe:
    return trial_parts.build_recipe(nested_recipe(spec))


def preference_world(settings: Spec) -> Spec:
    """Settings of a study of preferences with the world's own as options of the task."""
    options = {knob.name: settings[knob.name] for knob in PREFERENCE_KNOBS}
    return {name: value for name, value in settings.items() if name not in options} | {"task_options": options}


def refuse_impossible(specs: Iterable[Spec]) -> None:
    """Raises a UserError for settings that no trial can have; builds shapes only, so it takes no time."""
    for spec in specs:
        build_recipe(spec)
        if "held_out" in spec and not 0 < spec["held_out"] < 1:
            raise UserError(f"held_out={spec['held_out']} must lie between 0 and 1, such as .25")
        _build_shapes(canonical({name: spec.get(name) for name in WORLD}))


@functools.cache
def _build_shapes(world: str) -> None:
    """Builds the task and the net of a world by shape; once for all seeds and shares."""
    spec: Spec = {name: value for name, value in json.loads(world).items() if value is not None or name == "modules"}
    designs[spec["support"]]  # known by name; whether a share is possible, the cell finds out
    task = eqx.filter_eval_shape(build_task, spec | {"seed": 0})
    eqx.filter_eval_shape(lambda: _shape_of_net(task, spec))


@functools.cache
def _net_bytes(world: str) -> int:
    """Bytes of the net of a world, from its shapes."""
    spec = json.loads(world)
    task = eqx.filter_eval_shape(build_task, spec | {"seed": 0})
    net = eqx.filter_eval_shape(lambda: _shape_of_net(task, spec))
    return sum(4 * leaf.size for leaf in jax.tree.leaves(net) if hasattr(leaf, "size"))


def _shape_of_net(task: Task, spec: Spec) -> Any:
    return build_net(spec).build(task, jax.random.key(0))


# -- measuring --------------------------------------------------------------------------------------------------------
def measure(
    spec: Spec,
    context: Context,
    *,
    probe: bool = True,
    keep: Sequence[str] = (),
    more: Callable[[Trained], Measured] | None = None,
) -> Measured:
    """Trains, scores on trained and held-out combinations, and reads every hidden layer.

    keep: what the record keeps beside the panel and, of the first seed, an episode.
    more: makes further rows and facts from what was trained.
    """
    probes = [{"name": "decodability"}] if probe else []
    kept = ["panel", *keep, *(["episode"] if spec["seed"] == 0 else [])]
    further = (lambda run, asked: more(run)) if more else None
    return measure_trial(nested(spec, probes=probes, keep=kept), context, more=further)


# -- reading ----------------------------------------------------------------------------------------------------------
def final(table: Table, metric: str, stream: str = "held_out", group: str | None = None) -> Table:
    """Final scores of a table, one row a trial. group=None: what a trial's held-out score is about."""
    part = table[(table.reading == "score") & (table.metric == metric) & (table.stream == stream)]
    if group is not None:
        return part[part.group == group]
    if stream == "test":
        return part[part.group == ""]
    return part[part.group == part.support.map(lambda name: "cross-block" if name == "disconnected" else "")]


def composition(table: Table, metric: str) -> Table:
    """Held-out scores as far as they come from composing: above zero, and above what a net scores that is told wrong.

    One row a trial; NotMet if a trial has no score because its net diverged.
    """
    part = final(table, metric)
    if "cell" in table and (lost := table.cell.nunique() - part.cell.nunique()):
        raise NotMet(f"{lost} of {table.cell.nunique()} nets have no score: they diverged")
    return above_floor(table, metric).assign(value=lambda scores: np.maximum(scores.value, 0.0))


def above_floor(table: Table, metric: str) -> Table:
    """Held-out scores, less what a net scores that is told wrong where there is such a floor; one row a trial."""
    part, blind = final(table, metric), final(table, metric, "blind", "")
    if blind.empty:
        return part
    return part.assign(value=part.value.to_numpy() - blind.set_index("cell").value.reindex(part.cell).to_numpy())


def floor_in_words(table: Table, metric: str) -> str:
    """A score in words, for charts of `above_floor`."""
    floor = "" if final(table, metric, "blind", "").empty else " above what a net told wrong gets"
    return charts.SCORES[metric] + floor


def layers_in_order(names: Iterable[str]) -> list[str]:
    """Names of layers, first to last: the input, then by number and not by text, pre before post; the output."""

    def place(name: str) -> tuple[int, int, bool, str]:
        number = "".join(filter(str.isdigit, name))
        part = 0 if name == "input" else 3 if name == "output" else 1 if number else 2
        return part, int(number or 0), not name.endswith("/pre"), name

    return sorted(set(names), key=place)


def decoded(table: Table, metric: str = "r2") -> Table:
    """Decodability by layer, mean over constituents."""
    return table[(table.reading == "decodability") & (table.metric == metric)]


def one(part: Table, what: str) -> float:
    """The single value of a part of a table; NotMet if it is not there."""
    if len(part) != 1:
        raise NotMet(
            f"{what} has no score (not run, failed, diverged or impossible)" if part.empty else f"{what} twice"
        )
    return float(part.value.iloc[0])


def told(outcomes: dict[str, str], sentences: dict[str, tuple[str, str]], otherwise: str) -> str:
    """What came out, in one sentence: of each claim what is said if it is supported, or if it is refuted."""
    found = [
        said[outcomes[claim] == "refuted"]
        for claim, said in sentences.items()
        if outcomes.get(claim) in ("supported", "refuted")
    ]
    return charts.title("; ".join(found)) + "." if found else otherwise


# -- studies made of trials -------------------------------------------------------------------------------------------
class TrialStudy(Study):
    """A study whose cells are trials. Subclass it and write `trials`."""

    metric = "r2"  # the score that thresholds are about
    #: settings that differ between cells, by which a cell is called
    varied: Sequence[str] = ()

    def trials(self, settings: Spec, seed: int) -> list[Spec]:
        """The trials of one seed."""
        raise TypeError(f"study {self.id} must define trials")

    def grid(self, settings: Spec, seed: int) -> list[Spec]:
        worlds = [knob.laptop for knob in self.knobs if knob.name == "task"]
        worlds += [changes["task"] for changes in self.controls.values() if "task" in changes]
        check_choices("task", [settings["task"]], tuple(dict.fromkeys(worlds)))
        specs = self.trials(settings, seed)
        refuse_impossible(specs)
        return specs

    def measure(self, spec: Spec, context: Context) -> Measured:
        return measure(spec, context)

    def program(self, spec: Spec) -> str:
        # supports are padded to the size of their space: another split is other data for the same program
        shapes = {name: spec.get(name) for name in WORLD if name != "support"}
        return canonical(shapes | {"recipe": build_recipe(spec).shape().to_json()})

    def disk(self, spec: Spec) -> int:
        world = {name: spec[name] for name in WORLD if spec.get(name) is not None}
        return super().disk(spec) + _net_bytes(canonical(world | {"modules": spec.get("modules")}))

    def label(self, spec: Spec) -> str:
        words = [f"{name}={spec[name]}" if not isinstance(spec[name], str) else spec[name] for name in self.varied]
        return ", ".join([*words, f"seed {spec['seed']}"])

    def summary(self, record: Record) -> str:
        facts = record.facts
        if "impossible" in facts:
            return f"impossible: {facts['impossible']}"
        if facts.get("diverged_at") is not None:
            return f"diverged at step {facts['diverged_at']}"
        seen, unseen = (
            facts[name] if facts.get(name) is not None else float("nan") for name in ("trained", "held_out")
        )
        name = {"r2": "R2", "episode_accuracy": "episodes right"}.get(self.metric, self.metric)
        return f"{name} trained {seen:.3f}, held out {unseen:.3f} ({facts['seconds']:.0f} s)"
