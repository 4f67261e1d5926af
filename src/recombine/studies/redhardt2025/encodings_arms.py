"""What the study of encodings varies: how a task is shown."""

from __future__ import annotations

from typing import Any

from ...encodings import encodings, showing
from ...encodings.constituents import BENT
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import SCALES, Scale
from .redhardt_setting import FEW_PREFERENCES

BENT_INVERTIBLE = "invertible-bent"
#: a control: called nonlinear, and shown as it is, so that a probe of the encoding reads all of it
ALREADY_LINEAR = {"encoding": ["interval-shuffle"], "interval-shuffle:world.encoding": "identity"}
#: so few combinations in so small a world that every one is learned by heart
BY_HEART: dict[str, Any] = {"modules": 4, "inputs": 4, "hidden": 8, "outputs": 8, "weight_decay": 0.01}
#: the same of preferences
FEW: dict[str, Any] = {"modules": 3, "features": 3, "steps": 800, "tasks": 64, "learning_rate": 0.01}
#: each alone and both: one of them is held out; two modules, because the encoding halves the constituents
ONE_OF_THREE: dict[str, Any] = {"encoding": [BENT_INVERTIBLE], "modules": 2, "held_out": 0.34}
#: one encoding each: two programs take longer to compile than a control may
CONTROLS: dict[str, dict[str, Any]] = {
    "lookup": {**BY_HEART, "encoding": ["identity"], "steps": 2000},
    "lookup-nonlinear": {**BY_HEART, **ONE_OF_THREE, "world.name": "lookup-v1", "steps": 700, "width": 64},
    "indifferent": {"steps": 150, "width": 32},
    "already-linear": ALREADY_LINEAR,
}
CONTROLS_OF_PREFERENCES: dict[str, dict[str, Any]] = {
    "lookup": {**FEW, "encoding": ["identity"], "width": 128},
    "lookup-nonlinear": {
        **FEW_PREFERENCES,
        **ONE_OF_THREE,
        "world.name": "preference-lookup-v1",
    },
    "indifferent": {"steps": 300, "tasks": 64, "learning_rate": 0.01},
    "already-linear": ALREADY_LINEAR | {"steps": 1500, "tasks": 64, "learning_rate": 0.01},
}


def is_linear(name: str) -> bool:
    """Whether the encoding of an arm is linear in the constituents."""
    return encodings["invertible" if name == BENT_INVERTIBLE else name].linear


def encoded(chosen: Scale, couplings: int, longer: Scale) -> Arms:
    """Encodings by name, with the options that two of them have.

    With weights of deviation .1, as in the public code, `invertible` is almost affine; `invertible-bent` is not.

    longer: how many times as many steps nonlinear encodings are trained.
    """
    options: dict[str, Any] = {
        "few-shot": {"pairs": Scale(8, 16, 50, 50)},
        "invertible": {"layers": couplings, "scale": 0.1},
    }
    arms = {
        name: {"world.encoding": name} | ({"world.encoding_options": options[name]} if name in options else {})
        for name in showing("constituents")
    }
    arms[BENT_INVERTIBLE] = {"world.encoding": "invertible", "world.encoding_options": BENT}
    for name, changes in arms.items():
        if not is_linear(name):
            changes["recipe.steps"] = at_every_scale(longer)
    return Arms(arms, chosen)


def at_every_scale(times: Scale) -> Scale:
    """So many times the steps of the others, at each scale."""

    def longer(times: int) -> Same:
        return Same("recipe.steps", then=lambda steps: times * steps)

    return Scale(*(longer(getattr(times, scale)) for scale in SCALES))
