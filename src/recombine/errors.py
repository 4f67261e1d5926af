"""Errors that a user can act on: one sentence that names the bad value and what would do."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable

from .labels import quoted


class UserError(ValueError):
    """Something the user asked for cannot be done as asked. The command line prints it and exits with 2.

    Example:
        >>> rc.Subsets(modules=2, at_most=3)
        Traceback (most recent call last):
            ...
        recombine.errors.UserError: at_most=3 exceeds modules=2; at_most=2 is the largest possible
    """


def unknown(kind: str, name: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not there, with the near ones."""
    names, shown = sorted(known), quoted(name, 80)
    near = difflib.get_close_matches(str(name)[:200], names, n=3, cutoff=0.5)
    if near:
        return UserError(f"unknown {kind} {shown}; did you mean {' or '.join(repr(n) for n in near)}?")
    return UserError(f"unknown {kind} {shown}; there are: {', '.join(names) or '(none)'}")


def require_int(what: str, value: object, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """`value` as an int, or an error that names it. A bool is not a number here."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UserError(f"{what}={value!r} is not a whole number")
    number = value.__index__()  # type: ignore[attr-defined]
    if at_least is not None and number < at_least:
        raise UserError(f"{what}={number} is too small; it must be at least {at_least}")
    if at_most is not None and number > at_most:
        raise UserError(f"{what}={number} is too large; it must be at most {at_most}")
    return number


def require_number(
    what: str,
    value: object,
    *,
    above: float | int | None = None,
    at_least: float | int | None = None,
    at_most: float | int | None = None,
) -> float:
    """`value` as a float, or an error that names it and what would do."""
    asked = [(above, "above"), (at_least, "at least"), (at_most, "at most")]
    wanted = "a number " + " and ".join(f"{word} {bound:g}" for bound, word in asked if bound is not None)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise UserError(f"{what}={value!r} is not {wanted.strip()}")
    number = float(value)
    low = (above is not None and number <= above) or (at_least is not None and number < at_least)
    if low or (at_most is not None and number > at_most):
        raise UserError(f"{what}={value} is not {wanted}")
    return number


def describe(problem: BaseException) -> str:
    """An exception in one line."""
    return f"{type(problem).__name__}: {problem}".split("\n")[0]
