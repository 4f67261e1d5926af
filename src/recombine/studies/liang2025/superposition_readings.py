"""What is read off the trials of superposition, and its chart."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.study_table import Missing, PreconditionFailed, StudyTable, mean_of, single_value
from ...lab.verdicts import Reading
from . import drawn
from .liang_setting import COMPOSES

FAILING = ("mlp", "cnn-decoder")
CURED = ("coordinate-mlp", "rendering")
FAILED = 0.5  # held-out error above which a net counts as failing
EXPLAINED_BY = {
    "by_shared": "trained, sharing a factor",
    "by_others": "trained, sharing none",
    "by_filled": "the truth and such",
    "by_truth": "the truth",
}


def trials_of(t: StudyTable, nets: tuple[str, ...]) -> dict[str, StudyTable]:
    """The readings of each trial of some nets, by name; PreconditionFailed if there is none."""
    found = {f"{net}, {code}": part for (net, code), part in t.where(net=nets).by("net", "encoding")}
    if not found:
        raise Missing(f"none of {', '.join(nets)} was run")
    return found


def explained(part: StudyTable, metric: str, what: str) -> float:
    return single_value(part.probed("superposition", metric), what)


def blend_over_truth(t: StudyTable) -> dict[str, Any]:
    """Share of squared ink by trained pictures that share a factor minus by as many, the truth and unrelated ones.

    Each failing net; one that does not fail has none.
    """

    def of(part: StudyTable, name: str) -> float:
        if (error := drawn.score(part, "error", "held_out", name)) < FAILED:
            raise PreconditionFailed(f"{name} does not fail (held-out error {error:.2f})")
        return explained(part, "by_shared", name) - explained(part, "by_filled", name)

    return drawn.each(trials_of(t, FAILING), of)


def truth_over_blend(t: StudyTable) -> dict[str, Any]:
    """Share of squared ink by the truth minus by trained pictures that share a factor, each cured net."""

    def of(part: StudyTable, name: str) -> float:
        if (error := drawn.score(part, "error", "held_out", name)) > COMPOSES:
            raise PreconditionFailed(
                f"{name} is not cured (held-out error {error:.2f}, above {COMPOSES}); train longer"
            )
        return explained(part, "by_truth", name) - explained(part, "by_shared", name)

    return drawn.each(trials_of(t, CURED), of)


def alike(metric: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Mean over pairs of drawings and failing nets."""
        found = trials_of(t, FAILING).items()
        return mean_of((single_value(part.probed("similarity", metric), name) for name, part in found), "no nets")

    return reading


def mean_explained(metric: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Share of squared ink, mean over nets."""
        return mean_of((explained(part, metric, name) for name, part in trials_of(t, FAILING).items()), "no nets")

    return reading


def nearer_template(t: StudyTable) -> float:
    """Transport distance to the truth minus to the template, pixels, mean over nets."""

    def distance(part: StudyTable, metric: str) -> float:
        return single_value(part.probed("transport", metric), metric)

    found = trials_of(t, FAILING).values()
    return mean_of((distance(part, "to_truth") - distance(part, "to_template") for part in found), "no nets")


def shares(t: StudyTable) -> kinds.Rows:
    part = t.where(reading="superposition", metric=list(EXPLAINED_BY))
    return [
        {
            "net": f"{row.net}, {row.encoding}",
            "series": EXPLAINED_BY[row.metric],
            "seed": int(row.seed),
            "value": row.value,
        }
        for row in part.itertuples()
    ]


explained_by = kinds.dots(
    "What explains the drawings of unseen combinations",
    "Share of the squared ink explained by non-negative blends of trained pictures that share a factor, by "
    "as many that share none, and by the true picture; one point per seed.",
    shares,
    y="net",
    value="share of squared ink",
    series=list(EXPLAINED_BY.values()),
)
