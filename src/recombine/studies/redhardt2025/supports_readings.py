"""What the studies of supports read off their tables: gaps, where they sit, and whether they grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...charts.words import listed, title
from ...lab.record import Record
from ...lab.study_table import PreconditionFailed, StudyTable

#: `one-apart` is the published disconnected split; `disconnected` has two equal blocks, and `as-many` as many tasks
SUPPORTS = ("random", "balanced", "popular", "unpopular", "as-many", "disconnected", "one-apart", "missing")
COMPOSING = ("random", "balanced", "popular")


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def gap(t: StudyTable, support: str, recipe: str = "default") -> float:
    """Score on trained minus on held-out combinations (the cross-block group of `disconnected`)."""
    return t.where(recipe=recipe).gap(support=support)


def missing_gap(t: StudyTable) -> float:
    """Gap of missing."""
    return gap(t, "missing")


def one_apart_gap(t: StudyTable) -> float:
    """Gap of the published split, over all that is held out."""
    return gap(t, "one-apart")


def above_equal_size(t: StudyTable) -> float:
    """Cross-block gap of two equal blocks minus the gap of as many combinations drawn at random."""
    return gap(t, "disconnected") - gap(t, "as-many")


def above_composing(t: StudyTable) -> dict[str, float]:
    """Gap of the published split minus that of a support that composes, for each of these."""
    apart = gap(t, "one-apart")
    return {support: apart - gap(t, support) for support in COMPOSING}


def between(t: StudyTable) -> dict[str, float]:
    """Unpopular minus popular, and missing minus unpopular."""
    unpopular = gap(t, "unpopular")
    return {"above popular": unpopular - gap(t, "popular"), "below missing": gap(t, "missing") - unpopular}


def rarest_difference(t: StudyTable) -> float:
    """Gap with the rarest minus gap without it."""
    t = t.where(recipe="default", support="unpopular")
    t.learned(support="unpopular")
    groups = dict.fromkeys(row["group"] for row in t.plain("score").rows)
    rarest = [group for group in groups if group.startswith("with rarest")]  # which it is differs between seeds
    if not rarest:
        raise PreconditionFailed("unpopular has no group with the rarest module")
    with_it, without = (t.score(group=group) for group in (rarest[0], "without rarest"))
    return t.share_learned(without) - t.share_learned(with_it)


def growth(t: StudyTable, recipe: str) -> float:
    """Cross-block gap at the end of training minus at half time, from the history."""
    t = t.where(recipe=recipe, support="disconnected")
    t.learned(support="disconnected")  # else it was not run, diverged or did not learn
    by_step: dict[int, dict[str, float]] = {}
    for row in t.plain("history").rows:
        by_step.setdefault(row["step"], {})[row["stream"]] = row["value"]
    if len(by_step) < 2:
        raise PreconditionFailed("growth takes at least two evaluations on the way")
    last = max(by_step)
    half = min(sorted(by_step), key=lambda step: abs(step - last / 2))
    gaps = [by_step[step]["validation"] - by_step[step]["held_out/cross-block"] for step in (last, half)]
    return gaps[0] - gaps[1]


# -- the result in words ----------------------------------------------------------------------------------------------
def headline_about(element: str) -> Callable[[StudyTable, dict[str, str]], str]:
    """The headline of a study whose combinations are made of such elements."""
    words = {
        f"a {element} is never trained": ("missing-fails",),
        f"blocks of {element}s are never combined": ("disconnected-fails", "blocks-fail"),
    }

    def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
        holds = [support for support in COMPOSING if outcomes.get(f"{support}-composes") == "supported"]
        fails = [said for said, claims in words.items() if "supported" in [outcomes.get(claim) for claim in claims]]
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
