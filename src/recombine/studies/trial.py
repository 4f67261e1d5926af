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
from ..keys import key_for
from ..lab.cells import canonical
from ..lab.store import Record, Table
from ..lab.study import Context, Knob, Measured, Study, check_choices
from ..lab.verdicts import NotMet
from ..nets import Blueprint, Net
from ..nets import registry as nets
from ..precision import resolve
from ..probes import decodability
from ..spaces import Space, Subsets
from ..supports import Support
from ..supports import registry as designs
from ..tasks import Episode, Episodes, Task, WrongCode
from ..tasks import registry as tasks
from ..training import Recipe, Stage, Trained, stream_scores, train
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


# -- from data to things ----------------------------------------------------------------------------------------------
def build_space(spec: Spec) -> Space:
    """Subsets of the modules, pictures of a size, or the space that the task brings."""
    if spec.get("size") is not None:
        return tasks[spec["task"]].space_of(spec["size"])
    if spec.get("modules") is None:
        return tasks[spec["task"]].default_space()
    return Subsets(spec["modules"], spec["at_most"])


def build_task(spec: Spec) -> Task:
    """The world of a trial."""
    options = {"encoding": spec["encoding"], "encoding_options": spec.get("encoding_options") or None}
    return tasks[spec["task"]](build_space(spec), seed=spec["seed"], **options, **(spec.get("task_options") or {}))


def build_support(spec: Spec) -> Support:
    """The split. `missing` leaves out the last module whatever share is asked, as published."""
    space, name = build_space(spec), spec["support"]
    if spec.get("support_options") is not None:
        return designs[name](space, seed=spec["seed"], **spec["support_options"])
    share = spec["held_out"]
    if name in ("missing", "fewer-active"):
        return designs[name](space, seed=spec["seed"])
    if name == "disconnected":
        return designs[name](space, within=share, seed=spec["seed"])
    return designs[name](space, held_out=share, seed=spec["seed"])


def build_net(spec: Spec) -> Blueprint:
    """The blueprint of the net."""
    sizes = {name: spec[name] for name in ("width", "depth") if spec.get(name) is not None}
    return nets[spec["net"]](**sizes, **(spec.get("net_options") or {}))


def build_recipe(spec: Spec) -> Recipe:
    """The recipe: the fields of it that the trial names."""
    return Recipe(**{name: spec[name] for name in RECIPE if name in spec})


def preference_world(settings: Spec) -> Spec:
    """Settings of a study of preferences with the world's own as options of the task."""
    options = {knob.name: settings[knob.name] for knob in PREFERENCE_KNOBS}
    return {name: value for name, value in settings.items() if name not in options} | {"task_options": options}


def held_out_stream(spec: Spec) -> str:
    """What the held-out score of a trial is about: of `disconnected`, combinations that cross its blocks."""
    return "held_out/cross-block" if spec["support"] == "disconnected" else "held_out"


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


def _shape_of_net(task: Task, spec: Spec) -> Any:
    return build_net(spec).build(task, jax.random.key(0))


# -- measuring --------------------------------------------------------------------------------------------------------
def measure(
    spec: Spec,
    context: Context,
    *,
    first: Spec | None = None,
    scores: Callable[[Trained, int], list[dict[str, Any]]] | None = None,
    probe: bool = True,
    more: Callable[[Trained], Measured] | None = None,
) -> Measured:
    """Trains, scores on trained and held-out combinations, and reads every hidden layer.

    first: a trial on whose split the first half of the steps is taken.
    scores: makes the rows of the final scores, if not `score_rows`.
    more: makes further rows and facts from what was trained.
    A split that cannot be made (too few combinations to use every module, say) is a finding, not a failure.
    """
    task, recipe = build_task(spec), build_recipe(spec)
    try:
        support = build_support(spec)
    except UserError as problem:
        return Measured([], {"impossible": str(problem), "seconds": 0.0, "diverged_at": None})
    stream, metric = held_out_stream(spec), task.metrics[0].name

    def report(seed: int, step: int, steps: int, facts: dict) -> None:
        scored = f"{stream}/{metric}"
        note = f"held out {facts[scored]:.3f}" if scored in facts else ""
        context.progress(0.95 * step / steps, note)

    net, stages = build_net(spec), []
    if first is not None:
        half = dataclasses.replace(recipe, steps=max(recipe.steps // 2, 1), evaluations=0)
        stages.append(Stage(net, half, support=build_support(first)))
        recipe = dataclasses.replace(recipe, steps=max(recipe.steps - half.steps, 1))
    run = train(
        task,
        support,
        [*stages, Stage(net, recipe)],
        seeds=[spec["seed"]],
        progress=report,
        checkpoint=context.checkpoint,
        watch=("validation", stream),
    )
    member = run.members[0]
    facts: dict[str, Any] = {
        "certificate": str(support.certificate()),
        "content": support.certificate().content,
        "trained_on": support.train.size,
        "combinations": support.space.size,
        "seconds": member.seconds,
        "diverged_at": member.diverged_at,
        "precision": resolve(recipe.precision),
    }
    rows = [
        row("history", watched, metric, point[f"{watched}/{metric}"], step=point["step"])
        for point in member.history if point.get("stage", len(stages)) == len(stages)
        for watched in ("validation", stream)
    ]  # fmt: skip
    if member.diverged_at is None:
        rows += (scores or score_rows)(run, recipe.steps)
        context.progress(0.97, "probing")
        rows += decodability_rows(run, stream, recipe.steps) if probe else []
        further = more(run) if more else Measured([])
        rows += further.rows
        facts |= further.facts
        if isinstance(task, Episodes):
            rows += blind_rows(run, recipe.steps)
        if isinstance(task, Episodes) and spec["seed"] == 0:
            facts["episode"] = telling_episode(task, support, member.net).to_json()
        facts |= {"trained": _value(rows, "test", "", metric), "held_out": _held_out_value(rows, stream, metric)}
    return Measured(rows, facts)


def blind_rows(run: Trained, step: int) -> list[dict[str, Any]]:
    """Held-out scores when every task is told the code of another: what is right without knowing the combination.

    Imitation has such a floor (moves that are right whatever is wanted); an R^2 has not.
    """
    member = run.members[0]
    key = key_for("held_out/blind", member.seed)
    found = stream_scores(WrongCode(run.task), run.support.held_out, member.net, key)
    return [row("score", "blind", metric, value, step=step) for metric, value in found.items()]


def telling_episode(task: Episodes, support: Support, net: Net, tries: int = 12) -> Episode:
    """An episode of a held-out combination as the net plays it: the first of a few in which it errs, if it does."""
    played = None
    for number, combination in enumerate(support.held_out.sample(key_for("episodes", 0), tries)):
        played = task.episode(jax.random.fold_in(key_for("episode", 0), number), combination, net)
        if not played.correct:
            break
    if played is None:
        raise ValueError(f"tries={tries} must be at least 1")
    return played


def score_rows(run: Trained, step: int) -> list[dict[str, Any]]:
    """Final scores, all metrics, on trained and on held-out combinations and groups of them."""
    rows = []
    for stream in ("test", "held_out"):
        for name, values in run.score(stream).values.items():
            group, _, metric = name.rpartition("/")
            rows.append(row("score", stream, metric, values[0], group=group, step=step))
    return rows


def decodability_rows(run: Trained, stream: str, step: int) -> list[dict[str, Any]]:
    """Linear decodability of the constituents by layer, with its controls, mean over constituents."""
    layers = [name for name in run.blueprint.layers() if name.endswith("/pre")]
    if not layers:
        return []
    return [
        row("decodability", "held_out", r["metric"], r["value"], layer=r["layer"].removesuffix("/pre"), step=step)
        for r in decodability(run, layer=layers, held_out=stream).rows
        if r["factor"] == "mean"
    ]


def row(reading: str, stream: str, metric: str, value: float, *, group: str = "", layer: str = "", step: int) -> dict:
    return {"reading": reading, "stream": stream, "group": group, "layer": layer, "metric": metric, "step": step,
            "value": value}  # fmt: skip


def _value(rows: list[dict], stream: str, group: str, metric: str) -> float | None:
    key = ("score", stream, group, metric)
    return next((r["value"] for r in rows if (r["reading"], r["stream"], r["group"], r["metric"]) == key), None)


def _held_out_value(rows: list[dict], stream: str, metric: str) -> float | None:
    return _value(rows, "held_out", stream.partition("/")[2], metric)


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
