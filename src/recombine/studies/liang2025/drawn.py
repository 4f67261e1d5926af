"""Readings of trials whose net draws.

Errors are squared errors divided by that of an empty picture (ours: the paper's errors are raw, and shrink with the
area of the picture). 1 is as good as drawing nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...lab.study_table import Missing, PreconditionFailed, StudyTable

LEARNED = 0.25  # error on trained combinations above which a net has not learned, and its failure means nothing
FLOOR = 0.02  # two errors below this do not differ to the eye; ratios of smaller ones mean nothing (ours)


def score(part: StudyTable, metric: str, stream: str, what: str) -> float:
    """The one final score of a trial; Missing if it is not there."""
    try:
        return part.score(stream, group="", metric=metric)
    except PreconditionFailed as problem:
        raise type(problem)(str(problem).replace("the trial", what)) from None  # missing, or not met


def failure(part: StudyTable, what: str) -> float:
    """Held-out error by the error on trained combinations, which counts as FLOOR where it is smaller.

    PreconditionFailed if the net did not learn what it was trained on: then there is nothing that could have composed.
    """
    return score(part, "error", "held_out", what) / max(learned(part, what), FLOOR)


def learned(part: StudyTable, what: str) -> float:
    """The error on trained combinations; PreconditionFailed if it is too large to speak of learning."""
    error = score(part, "error", "test", what)
    if error > LEARNED:
        raise PreconditionFailed(
            f"{what} did not learn what it was trained on (error {error:.2f}, above {LEARNED}); train longer"
        )
    return error


def error_if_learned(part: StudyTable, what: str) -> float:
    """The held-out error; PreconditionFailed if the net did not learn what it was trained on."""
    learned(part, what)
    return score(part, "error", "held_out", what)


def each(parts: Mapping[str, StudyTable], read: Callable[[StudyTable, str], float]) -> dict[str, Any]:
    """A reading of every trial, by name; of one that does not meet its precondition, which."""
    found: dict[str, Any] = {}
    for name, part in parts.items():
        try:
            found[name] = read(part, name)
        except Missing:
            raise
        except PreconditionFailed as problem:
            found[name] = problem
    return found
