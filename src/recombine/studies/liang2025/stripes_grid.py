"""The grid of `stripes`: numbers of stripes and bumps, and other ways to show them."""

from __future__ import annotations

from typing import Any

from ...errors import require_int
from ...lab.cells import Spec
from ...lab.paths import Same
from ...lab.study import Settings, Study
from ...supports.regions import donut_range
from ...trials.trial import build_space
from .liang_setting import SMALLEST


def hole_of(world: dict[str, Any]) -> list[int]:
    """First and last place of the hole."""
    return list(donut_range(build_space(world), None, None))


def in_turn(first: str, last: str) -> dict[str, Any]:
    """Two kinds of pictures one after the other, half of the steps each."""

    def only(kind: str) -> Same:
        other = {"stripes": {"bumps": 0}, "bumps": {"stripes": 0}, "both": {}}[kind]
        return Same("support", lambda support: {**support, **other})

    def half(recipe: dict[str, Any]) -> dict[str, Any]:
        return {**recipe, "steps": max(recipe["steps"] // 2, 1), "evaluations": 0}

    def rest(recipe: dict[str, Any]) -> dict[str, Any]:
        return {**recipe, "steps": max(recipe["steps"] - half(recipe)["steps"], 1)}

    stages = [
        {"net": Same("net"), "recipe": Same("recipe", half), "support": only(first)},
        {"net": Same("net"), "recipe": Same("recipe", rest)},
    ]
    return {"support": only(last), "stages": stages}


VARIANTS = {
    "mixed": {},
    "masked": {"world.mask": Same("world", hole_of)},
    "absent-mean": {"world.encoding_options": {"absent": "mean"}},
    "off-frame": {"world.encoding": "margin", "world.encoding_options": {"absent": "off-frame"}},
    "off-frame-zeros": {"world.encoding": "margin", "world.encoding_options": {"absent": "zeros"}},
    "stripes-then-bumps": in_turn("stripes", "bumps"),
    "stripes-then-both": in_turn("stripes", "both"),
    "bumps-then-both": in_turn("bumps", "both"),
}


def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    """Every number of stripes with every number of bumps; the other ways with the most of both only.

    Stripes are asked for as shares of the 2N there are. A number of bumps beyond those around the hole means all.
    """
    size = require_int("size", settings["world.space.size"], at_least=SMALLEST)
    low, high = hole_of({"name": settings["world.name"], "space": {"size": size}})
    around = size**2 - (high - low + 1) ** 2
    stripes = sorted({round(2 * size * share) for share in settings["stripes"]})
    bumps = sorted({min(number, around) for number in settings["bumps"]})

    def is_asked(at: dict[str, Any]) -> bool:
        if at["variant"] == "mixed":
            return bool(at["stripes"] or at["bumps"])
        return 0 < at["stripes"] == stripes[-1] and 0 < at["bumps"] == bumps[-1]

    specs = [s for s in study.specs(settings | {"stripes": stripes, "bumps": bumps}, seed) if is_asked(s["at"])]
    study.require_possible(specs)
    return specs
