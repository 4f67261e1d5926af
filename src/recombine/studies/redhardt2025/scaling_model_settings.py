"""What scaling-model varies beside width and depth: how tasks are shown; and the controls of its second family."""

from __future__ import annotations

from typing import Any

from ...encodings.constituents import BENT
from ...lab.paths import Same

PUBLISHED = ["identity", "orthogonal", "language", "invertible", "interval-shuffle", "few-shot"]


def options(encoding: str) -> dict[str, Any] | None:
    """The setting of `invertible` that is nonlinear; others have no options."""
    return dict(BENT) if encoding == "invertible" else None


OPTIONS = Same("world.encoding", then=options)
WITHOUT_EXAMPLES = [name for name in PUBLISHED if name != "few-shot"]  # a grid world has no examples to show
#: the encodings of a grid world as arms, so that a control can call one nonlinear and show it as it is
SHOWN: dict[str, dict[str, Any]] = {
    name: {"world.encoding": name, "world.encoding_options": options(name)} for name in PUBLISHED
}
CONTROLS_OF_PREFERENCES: dict[str, dict[str, Any]] = {
    # so few combinations that what is trained is learned
    "same-arms": {
        "width": [64, 16],
        "modules": 3,
        "features": 3,
        "held_out": 0.6,
        "steps": 500,
        "tasks": 64,
        "learning_rate": 0.01,
    },
    # what scores rise with is width alone, whatever an encoding is called; nets that learn to compose take longer
    "width-alone": {
        "control": "unrelated:width",
        "encoding": ["identity", "interval-shuffle"],
        "interval-shuffle:world.encoding": "identity",  # the programs of the smoke grid serve
        "steps": 20,
    },
}
