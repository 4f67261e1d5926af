"""What an audit needs of a table: two factors at least, and outcomes that differ."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..labels import listed, quoted, visible
from ..tables import Choice, Observed


def require_factors(choice: Choice) -> None:
    """Raises for one factor: its levels are no combinations."""
    only, *more = choice.factors
    if more:
        return
    why = [f"{quoted(name)} ({reason})" for name, reason in choice.left_out.items()]
    left = f"; left out were {listed(why, 4)}" if why else ""
    raise UserError(
        f"{quoted(only)} is the only factor, and one factor makes no combinations; name two or more with "
        f"--factors{left}"
    )


def require_outcomes_that_differ(observed: Observed) -> None:
    """Raises where a model is always right or always wrong: nothing tells combinations apart."""
    answers, right = float(observed.answers.sum()), float(observed.right.sum())
    if observed.outcome is None or not answers or 0 < right < answers:
        return
    value, never = ("1", "fails") if right else ("0", "is right")
    raise UserError(
        f"the outcome {quoted(visible(observed.outcome, 60))} is {value} in all {answers:,.6g} rows that have one: "
        f"the model never {never}, and nothing tells combinations apart; leave it out to see what the data cover, or "
        "give a finer one, such as a score"
    )


def require_tolerance(tolerance: Any) -> None:
    """Raises for what is no difference of two shares."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1:
        raise UserError(f"tolerance={tolerance!r} must be a number from 0 to 1, such as 0.05 for five points")
