"""Meta-learning for compositionality in systematicity: the same net on episodes, in which words mean something else.

Of Lake & Baroni 2023. The net, its recipe and its trained commands are those of the transformer on the same split; what
differs is that each comes with study examples, and that words play each other's parts (`scan-episodes-v1`).
"""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, Measurement, at_least, at_most

LATER = ("night", "paper")
MLC = "MLC"
SOURCE = "Lake & Baroni 2023 (Nature 623), on SCAN; the thresholds are ours"
LONGER_RULES = "longer-rules"  # the stream of episodes in which a verb means two actions
#: exact match as published, beside those of plain nets: (source, what stands for the net, split) -> accuracy
PUBLISHED = {("Lake & Baroni 2023, MLC", MLC, "add-jump"): 0.998}


def episodes(world: str, *asked: str) -> dict[str, Any]:
    """Trials on episodes of a world. At smoke scale only controls run them, and ask what is read there."""
    usual, longer = {"streams": ["test", "held_out"]}, {"streams": [LONGER_RULES], "world": {"name": world, "rule": 2}}
    few = [{"streams": list(asked) or usual["streams"]}]
    kept = ["panel", "mistakes"]
    return {
        "world.name": world,
        "asks": Scale(few, *[[usual, longer]] * 3),
        "keep": Scale([], kept, kept, kept),
    }


#: beside the arm, two that only controls run
EPISODES = {
    MLC: episodes("scan-episodes-v1"),
    "MLC, by lot": episodes("scan-episodes-lookup-v1", "held_out"),
    "MLC, one meaning": episodes("scan-episodes-indifferent-v1"),
}
DATA = Arms(EPISODES, Scale([], [], [MLC], [MLC]))
CONTROLS = {
    "episodes-by-lot": {"split": ["add-jump"], "data": ["MLC, by lot"]},
    "episodes-one-meaning": {"split": ["length"], "data": ["MLC, one meaning"]},
}


def of_episodes(t: StudyTable, split: str) -> StudyTable:
    return t.where(split=split, data=list(EPISODES))


def on_jump(t: StudyTable) -> float:
    """Exact match on commands with jump, of the net that was trained on episodes."""
    return of_episodes(t, "add-jump").held_out()


def on_length(t: StudyTable) -> float:
    """Exact match on commands that ask for longer answers, of the net that was trained on episodes."""
    part = of_episodes(t, "length")
    part.learned()
    return part.held_out()


def drop_on_longer_rules(t: StudyTable) -> float:
    """Exact match on commands with jump minus that where every verb means two actions."""
    part = of_episodes(t, "add-jump")
    return part.held_out() - part.score(LONGER_RULES)


def needs(split: str) -> dict[str, list[str]]:
    return {"split": [split], "data": list(EPISODES)}


CLAIMS = [
    Claim(
        "mlc-jump",
        on_jump,
        at_least(0.95),
        "Trained on episodes of the same commands, the net gets .95 of the commands with jump right",
        "episodes-by-lot",
        source=SOURCE,
        scales=LATER,
        supported="episodes in which words mean something else make the same net use a new verb",
        refuted="episodes in which words mean something else do not make the net use a new verb",
        needs=needs("add-jump"),
    ),
    Claim(
        "mlc-length",
        on_length,
        at_most(0.5),
        "Trained on episodes of short answers, the net still gets at most .5 of the long ones right",
        "episodes-one-meaning",
        source=SOURCE,
        scales=LATER,
        needs=needs("length"),
    ),
]

MEASUREMENTS = [
    Measurement("mlc-longer-rules", drop_on_longer_rules, "What the net loses where every verb means two actions"),
]
