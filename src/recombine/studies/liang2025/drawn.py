"""Readings of trials whose net draws.

Errors are squared errors divided by that of an empty picture (ours: the paper's errors are raw, and shrink with the
area of the picture). 1 is as good as drawing nothing.
"""

from __future__ import annotations

from ...lab.study_table import PreconditionFailed, StudyTable

LEARNED = 0.25  # error on trained combinations above which a net has not learned, and its failure means nothing
FLOOR = 0.02  # two errors below this do not differ to the eye; ratios of smaller ones mean nothing (ours)


def score(part: StudyTable, metric: str, stream: str, what: str) -> float:
    """The one final score of a trial; PreconditionFailed if it is not there."""
    try:
        return part.score(stream, group="", metric=metric)
    except PreconditionFailed as problem:
        raise PreconditionFailed(str(problem).replace("the trial", what)) from None


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
