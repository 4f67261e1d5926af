"""Three families of worlds, small enough that every combination can be scored by itself.

Scores are taken combination by combination: R^2 against the variance of the combination's own targets, the share of
episodes right, or one minus the error by that of an empty picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..lab.study import Context, Knob, recipe_knobs
from ..supports import Support
from ..training import Member, Recipe, train
from . import trial


@dataclass(frozen=True)
class Family:
    """Worlds of a kind: the task, its control, and the metric that scores a combination."""

    task: str
    control: str
    metric: str


FAMILIES = {
    "hyperteacher": Family("hyperteacher-v1", "indifferent-v1", "r2_pooled"),
    "preference": Family("preference-v1", "preference-indifferent-v1", "episode_accuracy"),
    "bumps": Family("bumps-v1", "bumps-indifferent-v1", "skill"),
}
_TRAINED_BY = ("steps", "tasks", "learning_rate", "weight_decay", "precision")

#: knobs of the worlds and nets, at smoke, laptop and paper scale
KNOBS = (
    Knob("modules", "M of the hyperteacher", 6, 12, 16),
    Knob("at_most", "K: most modules active at once", 3, 3, 3),
    Knob("preferences", "M of the preference world", 4, 6, 8),
    Knob("features", "F of the preference world", 4, 6, 16),
    Knob("objects", "objects on its map", 1, 1, 2),
    Knob("size", "places along a factor of bumps", 6, 8, 14),
    Knob("width", "hidden units of the MLP", 64, 192, 512),
    Knob("depth", "its hidden layers", 2, 2, 3),
    Knob("coordinate_width", "hidden units of the coordinate net, for bumps", 24, 32, 128),
    Knob("bump_steps", "training steps on bumps", 100, 800, 3000),
    *recipe_knobs(
        Recipe(steps=200, tasks=64, evaluations=1), Recipe(steps=1500, evaluations=1),
        Recipe(steps=20_000, evaluations=1), _TRAINED_BY,
    ),
)  # fmt: skip


def world(family: str, settings: trial.Spec, task: str | None = None) -> trial.Spec:
    """The spec of a trial in a family, without seed and support."""
    base = {"family": family, "task": task or FAMILIES[family].task, "evaluations": 1,
            **{name: settings[name] for name in _TRAINED_BY}}  # fmt: skip
    mlp = {"net": "mlp", "width": settings["width"], "depth": settings["depth"], "encoding": "identity"}
    if family == "hyperteacher":
        return base | mlp | {"modules": settings["modules"], "at_most": settings["at_most"]}
    if family == "preference":
        options = {name: settings[name] for name in ("features", "objects")}
        own = {"modules": settings["preferences"], "at_most": settings["at_most"], "task_options": options}
        return base | mlp | own | {"weight_decay": 0.05}
    return base | {"net": "coordinate-mlp", "width": settings["coordinate_width"], "depth": settings["depth"],
                   "encoding": "one-hot", "size": settings["size"], "steps": settings["bump_steps"], "tasks": 32,
                   "weight_decay": 0.01}  # fmt: skip


def train_member(spec: trial.Spec, task: Any, support: Support, context: Context) -> Member:
    """One net of a trial, trained on a split."""

    def report(seed: int, step: int, steps: int, facts: dict) -> None:
        context.progress(0.95 * step / steps, "")

    run = train(task, support, trial.build_net(spec), trial.build_recipe(spec), seeds=[spec["seed"]], progress=report,
                checkpoint=context.checkpoint, watch=())  # fmt: skip
    return run.members[0]
