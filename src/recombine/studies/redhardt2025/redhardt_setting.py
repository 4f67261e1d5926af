"""What the studies of this paper share: its source, its worlds, its recipes and its numbers, in one place."""

from __future__ import annotations

from typing import Any

from ...lab.paths import Same
from ...lab.scales import Scale

SOURCE = "Redhardt, Akram, Schug 2025 (arXiv 2507.07207)"

#: how the paper trains on the hyperteacher (Table 3 and the public sweeps)
PUBLISHED: dict[str, Any] = {
    "steps": 300_000,
    "tasks": 128,
    "samples": 16,
    "learning_rate": 3e-4,
    "schedule": "constant",
    "warmup": 0.0,
    "weight_decay": 0.003,
    "b1": 0.9,
    "b2": 0.999,
    "nesterov": False,
    "precision": "float32",
}
#: and on the preference world
PUBLISHED_PREFERENCE = PUBLISHED | {
    "steps": 3_000_000,
    "samples": 1,
    "learning_rate": 1e-4,
    "weight_decay": 1e-3,
}
#: imitation in the preference world: smaller steps of decay than for the hyperteacher
PREFERENCE_RECIPE = Scale(
    {"steps": 300, "tasks": 32, "weight_decay": 0.05, "evaluations": 0},
    {"steps": 8000, "tasks": 64, "weight_decay": 0.05, "evaluations": 2},
    {"steps": 20_000, "tasks": 64, "weight_decay": 0.05, "evaluations": 4},
    PUBLISHED_PREFERENCE,
)

#: and on the goal world, which has a configuration in the public code, though nothing there can train it
PUBLISHED_GOAL = PUBLISHED_PREFERENCE | {"steps": 200_000, "learning_rate": 1e-3, "weight_decay": 0.03}
#: imitation in the goal world
GOAL_RECIPE = Scale(
    {"steps": 40, "tasks": 16, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 0},
    {"steps": 10_000, "tasks": 48, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 2},
    {"steps": 20_000, "tasks": 48, "learning_rate": 3e-3, "weight_decay": 0.1, "evaluations": 4},
    PUBLISHED_GOAL,
)

#: so few tastes that a wide net learns what is trained of them in a second; for controls
FEW_PREFERENCES: dict[str, Any] = {
    "modules": 4,
    "features": 4,
    "world.weights": "khot",
    "width": 256,
    "steps": 450,
    "tasks": 48,
    "learning_rate": 5e-3,
}
#: what is compared with the MLP
TRANSFORMER = {
    "name": "transformer",
    "width": Scale(16, 64, 64, 256),
    "depth": Scale(1, 2, 2, 4),
    "heads": Scale(2, 4, 4, 4),
    "feedforward": Scale(64, 256, 256, 1024),
    # with one sample per task in training, as many as are scored would be new to it
    "together": Same("recipe.samples", lambda samples: samples != 1),
}
#: linear decodability of the constituents, by layer, at the last row of a task as published
DECODABILITY = [{"name": "decodability", "row": "last"}]
#: what scores of grid worlds are, where they are compared: 0 for the wrong-code baseline, 1 for a perfect net
SHARE = " as a share of what there is to learn"
#: what every trial of these studies keeps: an episode of grid worlds, once
FIRST_SEED = {"keep": ["panel", "episode"]}


def source(where: str) -> str:
    """The paper, and where in it."""
    return f"{SOURCE}, {where}"


def hyperteacher(modules: Any, at_most: Any, encoding: Any = "identity", **options: Any) -> dict[str, Any]:
    """The teacher whose modules add up."""
    space = {"modules": modules, "at_most": at_most}
    return {"name": "hyperteacher-v1", "space": space, "encoding": encoding, **options}


def preference(modules: Any, at_most: Any, features: Any, objects: Any, encoding: Any = "identity") -> dict[str, Any]:
    """A grid world in which a composed taste decides what to collect."""
    space = {"modules": modules, "at_most": at_most}
    return {"name": "preference-v1", "space": space, "encoding": encoding, "features": features, "objects": objects}


def mlp(width: Any, depth: Any) -> dict[str, Any]:
    return {"name": "mlp", "width": width, "depth": depth}


def recipe(smoke: int, laptop: int, night: int, **more: Any) -> Scale:
    """Our recipe for so many steps, and the published one at paper scale."""
    return Scale(
        {"steps": smoke, "evaluations": 0, **more},
        {"steps": laptop, "evaluations": 2, **more},
        {"steps": night, "evaluations": 4, **more},
        PUBLISHED,
    )
