"""What supports varies: the designs of what is trained, and the recipes of one of them."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from . import redhardt_setting
from .supports_readings import COMPOSING, SUPPORTS

TWO_BLOCKS = {"name": "disconnected", "within": Same("support.held_out")}
#: of `missing` the last module is left out whatever share is asked, as published
DESIGNS: dict[str, dict[str, Any]] = {name: {"support.name": name} for name in SUPPORTS} | {
    "disconnected": {"support": TWO_BLOCKS},
    "as-many": {"support": {"name": "as-many", "like": TWO_BLOCKS}},
    "missing": {"support": {"name": "missing"}},
}
#: those of the paper
PUBLISHED = [name for name in DESIGNS if name not in ("disconnected", "as-many")]
#: what smoke scale runs: one of each kind
FEW = ["random", "unpopular", "as-many", "disconnected", "missing"]
#: what the claims of a failure need, and those about the published disconnected split
FAILING = ["popular", "unpopular", "as-many", "disconnected", "missing"]
APART = ["one-apart", "random", "balanced", "popular"]
#: what can be made of levels along factors, too
OF_FACTORS = {name: changes for name, changes in DESIGNS.items() if name != "one-apart"}

#: what is changed in the recipe to ask whether the disconnected gap depends on it
RECIPES: dict[str, dict[str, Any]] = {
    "constant": {
        "recipe.schedule": "constant",
        "recipe.learning_rate": 1e-3,
        "recipe.weight_decay": 0.003,
        "recipe.b2": 0.999,
        "recipe.nesterov": False,
    },
    "long": {"recipe.steps": Same("recipe.steps", then=lambda steps: 2 * steps)},
}

#: what goals are trained on at laptop scale: what composes, and where blocks were never combined
OF_GOALS = ["random", "popular", "as-many", "disconnected"]

#: three layers of 384 have learned .95 of the hyperteacher after 2,000 steps
SUPPORTS_RECIPE = Scale(
    {"steps": 300, "tasks": 128, "evaluations": 0},
    {"steps": 2000, "tasks": 128, "evaluations": 2},
    {"steps": 20_000},
    redhardt_setting.PUBLISHED,
)

EVERY_DESIGN = {
    "support": Arms(DESIGNS, chosen=Scale(FEW, list(DESIGNS), list(DESIGNS), PUBLISHED)),
    "recipe": Arms({"default": {}}),
}
#: six preferences and pairs of them, five of which are trained
LEARNED_BY_HEART = {"modules": 3, "features": 3, "steps": 800, "tasks": 64, "learning_rate": 0.01}
#: goals of so few levels that each is learned by heart, in one maze
FEW_GOALS = {
    "world.space": {"quadrant": 2, "interaction": 3, "maze": 1, "object": 2},
    "world.length": 10,
    "steps": 1600,
}
#: the same goal in one of two mazes: two blocks take two levels of each factor
ONE_GOAL = FEW_GOALS | {
    "world.space": {"quadrant": 4, "interaction": 4, "maze": 2, "object": 2},
    "world.length": 4,
    "steps": 700,
}
#: the same is asked of every combination
TOLD_NOTHING = {"steps": 150, "tasks": 48, "learning_rate": 0.01}
CONTROLS_OF_PREFERENCES: dict[str, dict[str, Any]] = {
    "lookup": LEARNED_BY_HEART | {"support": list(COMPOSING)},
    "indifferent": TOLD_NOTHING | {"support": FAILING},
    "indifferent-apart": TOLD_NOTHING | {"world.name": "preference-indifferent-v1", "support": APART},
}
CONTROLS_OF_GOALS: dict[str, dict[str, Any]] = {
    "lookup": FEW_GOALS | {"support": list(COMPOSING)},
    "indifferent": ONE_GOAL | {"support": FAILING},
}

#: at each scale, what the study of goals is trained on
ARMS_OF_GOALS = Scale(["random", "as-many", "disconnected"], OF_GOALS, list(OF_FACTORS), list(OF_FACTORS))
