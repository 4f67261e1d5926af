"""What scaling-data varies beside coverage, M and K: the net (Fig. 10, top) and the depth of the teacher (Fig. 11)."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from .redhardt_setting import FEW_PREFERENCES, TRANSFORMER

#: figures by setting
FIGURES = {"mlp": "Fig. 2 and 7", "transformer": "Fig. 10, top", "deep-teacher": "Fig. 11"}
WORDS = {"mlp": "", "transformer": ", of a transformer", "deep-teacher": ", with a teacher of three hidden layers"}


def deeper(layers: list[int]) -> Same:
    """Hidden layers of a deep teacher; control worlds have one layer."""
    return Same("world.name", lambda name: layers if name == "hyperteacher-v1" else layers[0])


LONGER = Same("recipe.steps", then=lambda steps: 4 * steps)
#: at laptop scale a smaller one: minutes do not learn the published one
DEEP: dict[str, Any] = {
    "world.inputs": Scale(4, 4, 16, 16),
    "world.outputs": Scale(8, 8, 16, 16),
    "world.hidden": Scale(*[deeper([size] * 3) for size in (8, 8, 16, 16)]),
    "recipe.steps": Scale(Same("recipe.steps"), LONGER, LONGER, Same("recipe.steps")),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "mlp": {},
    "transformer": {
        "net": TRANSFORMER | {"together": Scale(False, False, False, True)},  # one sample per task until paper scale
        "recipe.learning_rate": Scale(6e-3, 6e-3, 6e-3, 3e-4),
        "recipe.weight_decay": Scale(0.1, 0.1, 0.1, 3e-3),
    },
    "deep-teacher": DEEP,
}
OTHERS = ["transformer", "deep-teacher"]
SAME = {"control": "same-arms", "at_most": [2, 3], "held_out": [0.25], "modules": [6, 8]}
SAME_SHARES = {"control": "same-arms", "modules": [6]}
CONTROLS: dict[str, dict[str, Any]] = {
    "lookup": {"modules": [4], "setting": ["mlp"], "tasks": 48, "width": 128, "steps": 800},  # learned by heart
    "same-arms": SAME | {"setting": ["mlp"]},
    # of the other settings, too, every net is the first MLP
    **{f"same-arms-{one}": SAME | {"setting": ["mlp", one]} for one in OTHERS},
    **{f"same-shares-{one}": SAME_SHARES | {"setting": ["mlp", one]} for one in OTHERS},
}
#: tastes so few, and each combination's its own, that what is trained is learned; one control for each claim, for time
FEW = FEW_PREFERENCES | {
    "control": "same-arms",
    "world.name": "preference-lookup-v1",
    "modules": [4],
    "steps": 550,
}
CONTROLS_OF_PREFERENCES: dict[str, dict[str, Any]] = {
    "same-shares": FEW,
    "same-modules": FEW | {"modules": [4, 5], "held_out": [0.25]},
    "same-active": FEW | {"at_most": [2, 3], "held_out": [0.25]},
}


def grid(setting: str, modules: Scale, at_most: Scale, held_out: Scale) -> dict[str, Any]:
    """One block of what varies: one setting, over coverage, M and K."""
    return {
        "setting": Arms({setting: SETTINGS[setting]}, Scale([setting] if setting == "mlp" else [], *[[setting]] * 3)),
        "world.space.modules": modules,
        "world.space.at_most": at_most,
        "support.held_out": held_out,
    }
