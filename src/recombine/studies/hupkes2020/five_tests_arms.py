"""What pcfg varies: the test, which is what is trained and what is asked, and the net."""

from __future__ import annotations

from typing import Any

from ...lab.scales import Scale

SMALL = {"ordinary": 400, "twins": 0, "unrolled": 0, "letters": 10, "functions": 4, "longest": 10, "alone": 6}
LAPTOP = SMALL | {"ordinary": 12_000, "letters": 20, "functions": 5, "longest": 12, "alone": 40}
WHOLE = {"ordinary": 97_000, "twins": 0, "unrolled": 0, "longest": 100, "alone": 80}
#: .1 % of the training expressions of the paper are synonyms alone
SPACE = Scale(SMALL, LAPTOP, WHOLE, WHOLE | {"longest": 251})

EQUAL, OVER, NO_RULE = "substitutivity, equal", "overgeneralization", "overgeneralization, no rule"
#: share of the expressions with the rarer function that are exceptions: published .0001 to .005
EXCEPTIONS = Scale(0.02, 0.005, 0.001, 0.001)


def exceptional(world: str) -> dict[str, Any]:
    return {
        "world": {"name": world, "space": SPACE, "exceptions": "all"},
        "support.split": "overgeneralization",
        "support.exceptions": EXCEPTIONS,
        "recipe.history": "scores",
    }


TESTS: dict[str, dict[str, Any]] = {
    "task": {},
    "systematicity": {"support.split": "systematicity"},
    "productivity": {"support.split": "productivity", "support.functions": Scale(3, 4, 8, 8)},
    EQUAL: {"world.space.synonyms": 0.5},
    OVER: exceptional("pcfg-exceptions-v1"),
    NO_RULE: exceptional("pcfg-exceptions-lookup-v1"),  # a control
}
#: the contrast that decides
DECIDING = ["task", "systematicity", "productivity"]

LSTM = {"name": "lstm", "width": Scale(16, 200, 200, 512), "depth": Scale(1, 2, 2, 2), "attention": True}
NETS: dict[str, dict[str, Any]] = {"transformer": {}, "lstm, attention": {"net": LSTM}}
