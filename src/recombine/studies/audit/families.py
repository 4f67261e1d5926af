"""Three families of worlds, small enough that every combination can be scored by itself, as arms of a study.

Scores are taken combination by combination: R^2 against the variance of the combination's own targets, the share of
episodes right, or one minus the error by that of an empty picture. The hyperteacher is what these studies begin with,
and the other families are changes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import UserError
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...tasks import registry as tasks
from ...training import Items, Trained
from ...trials import Context, Measured, Trial
from ...trials import measure as measure_trial

FAMILIES = ("hyperteacher", "preference", "bumps")
WORLD: dict[str, Any] = {
    "name": "hyperteacher-v1",
    "space": {"modules": Scale(6, 12, 16, 16), "at_most": 3},
    "encoding": "identity",
}
NET: dict[str, Any] = {"name": "mlp", "width": Scale(64, 192, 384, 512), "depth": Scale(2, 2, 3, 3)}
RECIPE: dict[str, Any] = {
    "steps": Scale(200, 1500, 12_000, 20_000),
    "tasks": Scale(64, 96, 96, 96),
    "learning_rate": 5e-3,
    "weight_decay": 0.2,
    "evaluations": 1,
}


def families(chosen: Scale, modules: Scale, features: Scale, bumps: str = "bumps-v1") -> Arms:
    """The families as arms.

    Args:
        chosen: which of them are run.
        modules: M of the preference world.
        features: F of the preference world.
        bumps: the world of bumps.
    """
    preference = {
        "name": beside("preference-v1"),
        "space": {"modules": modules, "at_most": Same("world.space.at_most")},
        "encoding": "identity",
        "features": features,
        "objects": Scale(1, 1, 1, 2),
    }
    pictures = {"name": beside(bumps), "space": {"size": Scale(6, 8, 12, 14)}, "encoding": "one-hot"}
    drawing = {"name": "coordinate-mlp", "width": Scale(24, 32, 96, 128), "depth": Same("net.depth")}
    return Arms(
        {
            "hyperteacher": {"options.metric": "r2_pooled"},
            "preference": {
                "world": preference,
                "recipe.weight_decay": 0.05,
                "options.metric": "episode_accuracy",
            },
            "bumps": {
                "world": pictures,
                "net": drawing,
                "recipe.steps": Scale(100, 800, 2500, 3000),
                "recipe.tasks": 32,
                "recipe.weight_decay": 0.01,
                "options.metric": "skill",
            },
        },
        chosen,
    )


def beside(world: str) -> Same:
    """A world by name; its control of the same kind, where that of the hyperteacher is asked for."""

    def chosen(base: str) -> str:
        kinds = {name: kind for kind, name in tasks[WORLD["name"]].controls.items()}
        if base not in kinds:
            return world
        if kinds[base] not in (own := tasks[world].controls):
            raise UserError(f"{world} has no control {kinds[base]!r}, as {base} is one; leave its family out")
        return own[kinds[base]]

    return Same("world.name", chosen)


def measure_own(trial: Trial, context: Context, readings: Callable[[Trained, Items | None], Measured]) -> Measured:
    """What a study reads off the net of a trial by itself.

    The net and the panel are kept as by any trial; scores on the way and baselines stay out of the study's table.
    """
    found = measure_trial(trial, context, more=readings)
    return Measured([row for row in found.rows if row.get("reading") not in ("history", "score")], found.facts)
