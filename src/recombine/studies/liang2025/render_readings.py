"""What is read off the trials of render, and its chart."""

from __future__ import annotations

from ...charts import kinds
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.study_table import Missing, StudyTable
from ...lab.verdicts import Reading
from . import drawn

WORLD = "bumps-v1"
AS_PUBLISHED = "as-published"  # both regularizers, the variance that of raw vectors
OTHERS = {"stripe-sum-v1": "sums of stripes", "ellipse-v1": "turned ellipses", "ring-v1": "rings"}
TARGETS = {WORLD: "bumps", **OTHERS}
NOT_SEPARABLE = ("ellipse-v1", "ring-v1")


def trial_of(t: StudyTable, variant: str, target: str = WORLD) -> StudyTable:
    """The trial of a variant on a target, by default in the world that the study is run in."""
    part = t.where(variant=variant, target=target)
    if not len(part):
        raise Missing(f"{variant} on {target} was not run")
    return part


def error(t: StudyTable, variant: str, target: str = WORLD) -> float:
    """Held-out error of a variant. One that did not learn what it was trained on counts as one that does not compose:
    training may fail here, and is asked how often it does not."""
    return drawn.score(trial_of(t, variant, target), "error", "held_out", f"{variant} on {TARGETS.get(target, target)}")


def error_of(variant: str, target: str = WORLD) -> Reading:
    def reading(t: StudyTable) -> float:
        """Held-out error."""
        return error(t, variant, target)

    return reading


def memorized(t: StudyTable) -> float:
    """Held-out error, no regularizer; PreconditionFailed if it did not learn what it was trained on."""
    return drawn.error_if_learned(trial_of(t, "neither"), "the net without regularizers")


def lost_alone(t: StudyTable) -> dict[str, float]:
    """Held-out error of each regularizer alone by that of both (at least .02)."""
    both = max(error(t, AS_PUBLISHED), drawn.FLOOR)
    return {f"{alone} alone": error(t, alone) / both for alone in ("entropy", "variance")}


def not_separable(t: StudyTable) -> dict[str, float]:
    """Held-out error on each shape that is no product, both regularizers."""
    return {TARGETS[target]: error(t, AS_PUBLISHED, target) for target in NOT_SEPARABLE}


# -- what is drawn ----------------------------------------------------------------------------------------------------
def errors_of_both_sides(t: StudyTable) -> kinds.Rows:
    return [
        {"what": in_words(row.target, row.variant), "series": series, "seed": int(row.seed), "value": row.value}
        for stream, series in (("test", "trained"), ("held_out", "held out"))
        for row in t.scores(stream, "").itertuples()
    ]


def in_words(target: str, variant: str) -> str:
    return f"{TARGETS.get(target, target)}, {variant}"


def name_of(record: Record) -> str:
    return in_words(**record.cell.spec["at"])


def label(spec: Spec) -> str:
    return f"{in_words(**spec['at'])}, seed {spec['seed']}"


by_regularizer_and_target = kinds.dots(
    "Error by regularizer and target",
    "Error on trained and on held-out combinations by that of an empty picture; one point per seed.",
    errors_of_both_sides,
    y="what",
    value="error",
    series=["trained", "held out"],
)
