"""What beyond changes, one at a time: variants by name, and in words."""

from __future__ import annotations

from typing import Any

from ...lab.paths import Same
from ...lab.scales import Scale

ELSEWHERE = "elsewhere"  # what scores in another world than that of training are called


def other_weights(trained: list[float], asked: list[float]) -> dict[str, Any]:
    """Trained with some weights, and asked with others."""
    there = {"streams": [ELSEWHERE], "world": Same("world", then=lambda world: world | {"weights": asked})}
    return {"world.weights": trained, "asks": [{"streams": ["test", "held_out"]}, there]}


def multiplied(world: str) -> str:
    """The world whose modules multiply; a control is one world for all variants."""
    return "product-v1" if world == "hyperteacher-v1" else world


def deeper(world: str) -> list[int] | int:
    """Hidden layers of a deep teacher; a control is one world for all variants, with the one layer that it has."""
    return [16, 16, 16] if world == "hyperteacher-v1" else 16


#: of what minutes of training do not learn
LONGER = Scale(
    Same("recipe.steps"),
    Same("recipe.steps", then=lambda steps: 10 * steps),
    Same("recipe.steps", then=lambda steps: 3 * steps),
    Same("recipe.steps"),
)

VARIANTS: dict[str, dict[str, Any]] = {
    "reference": {},
    "more-active": {
        "support": {"name": "fewer-active"},
        "world.space.at_most": Same("world.space.at_most", then=lambda most: most + 1),
    },
    "weights-between": other_weights([0.5, 0.6, 0.9, 1.0], asked=[0.7, 0.8]),
    "weights-beyond": other_weights([0.5, 0.6, 0.7, 0.8], asked=[0.9, 1.0]),
    "continuous-weights": {"world.weights": "continuous"},
    "product": {"world.name": Same("world.name", then=multiplied)},
    "deep-teacher": {"world.hidden": Same("world.name", then=deeper), "recipe.steps": LONGER},
    "hypernetwork": {"net": {"name": "hypernetwork", "width": Scale(16, 64, 256, 1024)}, "recipe.steps": LONGER},
}

WORDS = {
    "reference": "nothing changed",
    "more-active": "more modules at once than trained",
    "weights-between": "weights between those trained",
    "weights-beyond": "weights beyond those trained",
    "continuous-weights": "continuous weights",
    "product": "modules that multiply",
    "deep-teacher": "a teacher of three hidden layers",
    "hypernetwork": "a hypernetwork as student",
}

#: few enough to be learned by heart; a variant with programs of its own has a control of its own
BY_HEART: dict[str, Any] = {
    "world.name": "lookup-v1",
    "modules": Scale(4, 6, 6, 6),
    "tasks": Scale(48, 96, 96, 128),
}
CONTROLS: dict[str, dict[str, Any]] = {
    "lookup": BY_HEART | {"variant": ["reference", "product", "deep-teacher"]},
    **{f"lookup-{one}": BY_HEART | {"variant": [one]} for one in ("weights-between", "weights-beyond")},
    "lookup-continuous-weights": BY_HEART | {"variant": ["continuous-weights"]},
    "lookup-more-active": BY_HEART | {"variant": ["more-active"], "steps": Scale(1500, 3000, 20_000, 300_000)},
    "lookup-hypernetwork": BY_HEART | {"variant": ["hypernetwork"], "steps": Scale(6000, 3000, 20_000, 300_000)},
}


def control_of(variant: str) -> str:
    """The control in which the claim on a variant is false by construction."""
    return next(name for name, changes in CONTROLS.items() if variant in changes["variant"])
