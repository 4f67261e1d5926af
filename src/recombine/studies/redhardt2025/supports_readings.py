"""What the studies of supports read off their tables: gaps, where they sit, and whether they grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...charts.vega import listed, title
from ...lab.store import Record
from ...lab.study_table import PreconditionFailed, StudyTable

SUPPORTS = ("random", "balanced", "popular", "unpopular", "disconnected", "missing")
COMPOSING = ("random", "balanced", "popular")


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def gap(t: StudyTable, support: str, recipe: str = "default") -> float:
    """Score on trained minus on held-out combinations (the cross-block group of `disconnected`)."""
    return t.where(recipe=recipe).gap(support=support)


def missing_gap(t: StudyTable) -> float:
    """Gap of missing."""
    return gap(t, "missing")


def disconnected_gap(t: StudyTable) -> float:
    """Cross-block gap of disconnected."""
    return gap(t, "disconnected")


def above_composing(t: StudyTable) -> float:
    """Smallest difference of the disconnected gap to a composing one."""
    return min(gap(t, "disconnected") - gap(t, support) for support in COMPOSING)


def between(t: StudyTable) -> float:
    """Smaller of unpopular - popular and missing - unpopular."""
    unpopular = gap(t, "unpopular")
    return min(unpopular - gap(t, "popular"), gap(t, "missing") - unpopular)


def rarest_difference(t: StudyTable) -> float:
    """Gap with the rarest minus gap without it."""
    t = t.where(recipe="default", support="unpopular")
    t.learned(support="unpopular")
    groups = t.where(reading="score").group.unique()
    rarest = [group for group in groups if group.startswith("with rarest")]  # which it is differs between seeds
    if not rarest:
        raise PreconditionFailed("unpopular has no group with the rarest module")
    return t.score(group="without rarest") - t.score(group=rarest[0])


def growth(t: StudyTable, recipe: str) -> float:
    """Cross-block gap at the end of training minus at half time, from the history."""
    t = t.where(recipe=recipe, support="disconnected")
    t.learned(support="disconnected")  # else it was not run, diverged or did not learn
    by_step = t.where(reading="history").pivot(index="step", columns="stream", values="value").sort_index()
    if len(by_step) < 2:
        raise PreconditionFailed("growth takes at least two evaluations on the way")
    gaps = by_step["validation"] - by_step["held_out/cross-block"]
    half = gaps.index[abs(gaps.index - gaps.index[-1] / 2).argmin()]
    return float(gaps.iloc[-1] - gaps[half])


# -- the result in words ----------------------------------------------------------------------------------------------
def headline_about(element: str) -> Callable[[StudyTable, dict[str, str]], str]:
    """The headline of a study whose combinations are made of such elements."""
    words = {
        "missing": f"a {element} is never trained",
        "disconnected": f"two blocks of {element}s are never combined",
    }

    def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
        holds = [support for support in COMPOSING if outcomes.get(f"{support}-composes") == "supported"]
        fails = [said for support, said in words.items() if outcomes.get(f"{support}-fails") == "supported"]
        parts = [f"it composes on {listed(holds)} training combinations"] if holds else []
        parts += [f"it fails where {' or '.join(fails)}"] if fails else []
        return title(", and ".join(parts) or "no claim of composition or of failure is settled at this scale") + "."

    return headline


def certificates(records: Sequence[Record]) -> dict[str, str]:
    """What each net was trained on; a recipe changes nothing about it."""
    return {
        f"{at['support']}, seed {at['seed']}": record.facts.get("certificate", "")
        for record in records
        if (at := record.cell.columns())["recipe"] == "default"
    }
