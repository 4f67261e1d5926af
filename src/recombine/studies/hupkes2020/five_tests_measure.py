"""One cell of pcfg: a trial; and for its test, two answers of the net compared, or its history on exceptions."""

from __future__ import annotations

from typing import Any

from ...context import Context, Measured
from ...lab.cells import Spec
from ...training import Items, Trained
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.measure import row
from .five_tests_arms import EQUAL, NO_RULE, OVER
from .two_answers import localism, substitutivity

TRAINED_EXCEPTIONS = "validation/exceptions"


def measure(spec: Spec, context: Context) -> Measured:
    """What the trial of a cell finds, and what its test is about beside right answers."""
    test, most = spec["at"]["test"], spec["options"]["asked_twice"]
    over = test in (OVER, NO_RULE)

    def more(run: Trained, asked: Items | None) -> Measured:
        if over:
            return Measured(exception_rows(run))
        compared = {"substitutivity": substitutivity} if test == EQUAL else {}
        if test == "task":
            compared = {"substitutivity": substitutivity, "localism": localism}
        rows: list[dict[str, Any]] = []
        for name, compare in compared.items():
            found = compare(run, most)
            rows += [
                row("consistency", "held_out", metric, value, group=name, step=run.recipe.steps)
                for metric, value in found.items()
            ]
        return Measured(rows)

    watch = [TRAINED_EXCEPTIONS] if over else []
    return measure_trial(Trial.from_json(spec["trial"]), context, more=more, watch=watch)


def exception_rows(run: Trained) -> list[dict[str, Any]]:
    """Shares of the trained exceptions that are answered by the rule, and as trained, on the way."""
    found = []
    for point in run.members[0].history:
        for metric in ("by_rule", "as_exception"):
            value = point.get(f"{TRAINED_EXCEPTIONS}/{metric}")
            if value is not None:
                found.append(row("exceptions", "validation", metric, value, group="exceptions", step=point["step"]))
    return found
