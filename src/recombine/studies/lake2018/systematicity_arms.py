"""What systematicity varies: the splits, the nets, how much of what is shown, and how unlike the two sides are."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.scales import Scale
from .systematicity_episodes import DATA

SPLITS: dict[str, dict[str, Any]] = {
    "simple": {},
    "add-jump": {"support.split": "add-jump"},
    "length": {"support.split": "length", "support.cutoff": Scale(12, 22, 22, 22)},
    "add-turn-left": {"support.split": "add-turn-left"},
    "around-right": {"support.split": "around-right"},
    "jump-around-right": {"support.split": "jump-around-right"},
    "opposite-right": {"support.split": "opposite-right"},
    "right": {"support.split": "right"},
}
#: the contrast that decides
DECIDING = ["simple", "add-jump", "length"]

LSTM = {"name": "lstm", "width": Scale(16, 200, 200, 200), "depth": Scale(1, 2, 2, 2)}
NETS: dict[str, dict[str, Any]] = {
    "transformer": {},
    "transformer, relative": {"net.positions": "relative"},
    "lstm": {"net": LSTM},
    "lstm, attention": {"net": LSTM | {"attention": True}},
}

#: trained commands beside the primitive, the same for every number of verbs: what all of them have
TRAINED = Scale(60, 13_000, 13_000, 13_000)
VERBS = (4, 8, 20, 50, 100)


def with_verbs(verbs: int) -> dict[str, Any]:
    """As many commands, and as many of them trained, whatever the number of verbs."""
    whole = {"verbs": verbs, "number": 20_910}
    return {
        "world.space": Scale({"verbs": verbs, "number": 102, "sentences": 1}, whole, whole, whole),
        "support.trained": TRAINED,
    }


COVERAGE = {f"{verbs} verbs": with_verbs(verbs) for verbs in VERBS}
FEW_SHOT = {f"{count} of jump": {"support.examples": count} for count in (1, 2, 4, 8, 16, 32)}

#: share of the held-out commands that a search for divergence has chosen; the others are drawn by lot
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
DIVERGENCES = {
    f"divergence {share:g}": {"support": {"name": "divergence", "held_out": 0.2, "atoms": 0.1, "chosen": share}}
    for share in SHARES
}

PUBLISHED_DATA = Arms({"published": {}})
VARY = [
    {
        "split": Arms(SPLITS, Scale(DECIDING, DECIDING, list(SPLITS), list(SPLITS))),
        "net": Arms(NETS, Scale(["transformer"], ["transformer"], list(NETS), list(NETS))),
        "data": PUBLISHED_DATA,
    },
    {
        "split": Arms({"add-jump": SPLITS["add-jump"]}),
        "net": Arms({"transformer": {}}),
        "data": Arms(COVERAGE | FEW_SHOT, Scale([], [], [*COVERAGE, *FEW_SHOT], [*COVERAGE, *FEW_SHOT])),
    },
    {
        "split": Arms(DIVERGENCES, Scale([], [], list(DIVERGENCES), list(DIVERGENCES))),
        "net": Arms({"transformer": {}}),
        "data": PUBLISHED_DATA,
    },
    {
        "split": Arms({name: SPLITS[name] for name in ("add-jump", "length")}),
        "net": Arms({"transformer": {}}),
        "data": DATA,
    },
]
