"""What supports varies: the designs of what is trained, and the recipes of one of them."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.paths import Same
from .supports_readings import SUPPORTS

#: of `missing` the last module is left out whatever share is asked, as published
DESIGNS: dict[str, dict[str, Any]] = {name: {"support.name": name} for name in SUPPORTS} | {
    "disconnected": {"support": {"name": "disconnected", "within": Same("support.held_out")}},
    "missing": {"support": {"name": "missing"}},
}

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

EVERY_DESIGN = {"support": Arms(DESIGNS), "recipe": Arms({"default": {}})}
