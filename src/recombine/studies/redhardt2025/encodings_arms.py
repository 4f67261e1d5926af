"""What the study of encodings varies: how a task is shown."""

from __future__ import annotations

from typing import Any

from ...encodings import showing
from ...lab.axes import Arms
from ...lab.scales import Scale


def encoded(chosen: Scale, couplings: int) -> Arms:
    """Encodings by name, with the options that two of them have; bends of .1 leave `invertible` almost affine."""
    options: dict[str, Any] = {
        "few-shot": {"pairs": Scale(8, 16, 50, 50)},
        "invertible": {"layers": couplings, "scale": 0.1},
    }
    arms = {
        name: {"world.encoding": name} | ({"world.encoding_options": options[name]} if name in options else {})
        for name in showing("constituents")
    }
    return Arms(arms, chosen)
