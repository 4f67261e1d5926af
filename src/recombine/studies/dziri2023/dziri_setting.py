"""What the studies of this folder have in common: lists, nets, how these are trained, and what they are asked."""

from __future__ import annotations

from typing import Any

from ...lab.scales import Scale
from .asked_by_size import OF_NET
from .subgraphs_arms import LISTS, STEPS

SOURCE = "Dziri et al. 2023 (arXiv 2305.18654)"
SHARED = {"weight_decay": 0.01, "b2": 0.98, "nesterov": False, "warmup": 0.1, "floor": 0.05, "history": "losses"}
SHARED |= {"tasks": 64, "learning_rate": 1e-3}
SPACE = Scale(
    {"exhaustive": 2, "longest": 4, "each": 40},
    {"exhaustive": 4, "longest": 7, "each": 500},
    {"exhaustive": 5, "longest": 9, "each": 500},
    {"exhaustive": 5, "longest": 10, "each": 500},
)
WORLD: dict[str, Any] = {"name": LISTS, "space": SPACE, "steps": True, "padded": False}
SUPPORT: dict[str, Any] = {
    "name": "sizes",
    "trained": Scale(["1", "2"], ["1", "2", "3", "4"], *[["1", "2", "3", "4", "5"]] * 2),
    "in_domain": 0.1,
}
NET: dict[str, Any] = {
    "name": "decoder-transformer",
    "width": Scale(16, 128, 128, 768),
    "depth": Scale(1, 4, 4, 12),
    "heads": Scale(2, 4, 4, 12),
    "feedforward": Scale(32, 256, 256, 3072),
    "positions": "rotary",
}
RECIPE = Scale(
    SHARED | {"steps": 40, "learning_rate": 5e-3, "evaluations": 0, "precision": "float32"},
    SHARED | {"steps": 1500, "evaluations": 3},
    SHARED | {"steps": 4000, "evaluations": 4},
    SHARED | {"steps": 420_000, "evaluations": 20, "learning_rate": 3e-4, "tasks": 128},
)
#: texts of each size that are asked; answers of the net, or planted ones, for controls (`planted_answers.py`)
OPTIONS: dict[str, Any] = {"asked": Scale(40, 300, 500, 500), "answers": OF_NET}
DIFFERS = (
    "Small nets trained from nothing on words of one node each, not large ones fine-tuned on text.",
    "Greedy answers; published ones were drawn at temperature 1, top-p .7.",
    "A scratchpad names no operation: which step a word is follows from its place.",
)
FEW: dict[str, Any] = {"recipe.steps": 5, "arm": [STEPS], "asked": 100}


def planted(answers: str, **more: Any) -> dict[str, Any]:
    """The changes of a control with planted answers."""
    return FEW | {"answers": answers} | more
