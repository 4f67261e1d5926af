"""What pcfg varies: the test, which is what is trained and what is asked, and the net."""

from __future__ import annotations

from typing import Any

from ...lab.scales import Scale

SMALL = {"ordinary": 200, "twins": 0, "unrolled": 0, "letters": 10, "functions": 4, "longest": 8, "alone": 6}
#: short strings of few letters, and up to four functions: the whole world takes more than the minutes there are
LAPTOP = SMALL | {"ordinary": 12_000, "argument": 3, "alone": 40}
WHOLE = {"ordinary": 97_000, "twins": 0, "unrolled": 0, "longest": 100, "alone": 80}
NIGHT = WHOLE | {"ordinary": 30_000, "longest": 60, "alone": 40}
#: synonyms alone are .3 % of all expressions
SPACE = Scale(SMALL, LAPTOP, NIGHT, WHOLE)

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
    "productivity": {"support.split": "productivity", "support.functions": Scale(3, 3, 8, 8)},
    EQUAL: {"world.space.synonyms": 0.5},
    OVER: exceptional("pcfg-exceptions-v1"),
    NO_RULE: exceptional("pcfg-exceptions-lookup-v1"),  # a control
}
#: the contrast that decides
DECIDING = ["task", "systematicity", "productivity"]

LSTM = {"name": "lstm", "width": Scale(16, 200, 200, 512), "depth": Scale(1, 2, 2, 2), "attention": True}
NETS: dict[str, dict[str, Any]] = {"transformer": {}, "lstm, attention": {"net": LSTM}}
