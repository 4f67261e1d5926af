"""render: does a net compose that must draw each factor before it combines them? ("Plan A")

    recombine run render                        laptop: about 8 minutes on two cores
    expected: without regularizers it memorizes; with them seeds disagree after minutes of training

Liang, Qian, Ziyin, Fiete 2025 give every level of a factor a picture of its own, a matrix of pixels, and regularize it
towards rank one (`entropy`) and towards constant vectors (`variance`): a stripe. Recorded at N = 32 and 1000 epochs:
held out 1.4e-4 with both regularizers (2 % of an empty picture's error), 2.7e-2 with none (4 times it). Each
regularizer alone, and targets that are no product of stripes, are ours, and so are all thresholds, written before any
run. The variance is that of normalized vectors, which shrinking cannot lower; `as-published` takes the raw ones. The
published net trains for 19,500 steps.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...charts import kinds
from ...errors import unknown
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Study
from ...lab.study_table import PreconditionFailed, StudyTable
from ...lab.verdicts import Claim, Measurement, Reading, at_least, at_most
from ...tasks import registry as tasks
from . import drawn, image_grids, rendered
from .paper import COMPOSES, EVERY, OURS, PUBLISHED, SOURCE, ours, pictures, require_room

WORLD = "bumps-v1"
OTHERS = {"stripe-sum-v1": "sums of stripes", "ellipse-v1": "turned ellipses", "ring-v1": "rings"}
TARGETS = {WORLD: "bumps", **OTHERS}
NOT_SEPARABLE = ("ellipse-v1", "ring-v1")
ENTROPY, VARIANCE = 0.1, 0.01  # published weights


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def trial_of(t: StudyTable, variant: str, target: str = WORLD) -> StudyTable:
    """The trial of a variant on a target, by default in the world that the study is run in."""
    part = t.where(variant=variant, target=target)
    if not len(part):
        raise PreconditionFailed(f"{variant} on {target} was not run")
    return part


def error(t: StudyTable, variant: str, target: str = WORLD) -> float:
    """Held-out error of a variant."""
    return drawn.score(trial_of(t, variant, target), "error", "held_out", variant)


def with_both(t: StudyTable) -> float:
    """Held-out error, both regularizers."""
    return error(t, "both")


def memorized(t: StudyTable) -> float:
    """Held-out error, no regularizer."""
    drawn.learned(trial_of(t, "neither"), "the net without regularizers")
    return error(t, "neither")


def lost_alone(t: StudyTable) -> float:
    """Held-out error of the better one alone by that of both (at least .02)."""
    alone = min(error(t, "entropy"), error(t, "variance"))
    return alone / max(error(t, "both"), drawn.FLOOR)


def worst_not_separable(t: StudyTable) -> float:
    """Held-out error, both regularizers, worst of ellipses and rings."""
    return max(error(t, "both", target) for target in NOT_SEPARABLE)


def error_of(variant: str, target: str = WORLD) -> Reading:
    def reading(t: StudyTable) -> float:
        """Held-out error."""
        return error(t, variant, target)

    return reading


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


# -- the study --------------------------------------------------------------------------------------------------------
def regularized(entropy: float, variance: float, **more: str) -> dict[str, Any]:
    return {"net.entropy": entropy, "net.variance": variance, **{f"net.{name}": value for name, value in more.items()}}


BOTH, NEITHER = regularized(ENTROPY, VARIANCE), regularized(0.0, 0.0)
VARIANTS = {
    "both": BOTH,
    "entropy": regularized(ENTROPY, 0.0),
    "variance": regularized(0.0, VARIANCE),
    "neither": NEITHER,
    "as-published": regularized(ENTROPY, VARIANCE, variance_of="raw"),
}


def refuse(settings: dict[str, Any]) -> None:
    """Small pictures, and a world that is not that of bumps or a control of it: others are targets."""
    require_room(settings)
    known = [WORLD, *tasks[WORLD].controls.values()]
    if settings["world.name"] not in known:
        raise unknown("world of render", settings["world.name"], known)


study = Study(
    id="render",
    title="Does a net compose that must draw each factor?",
    question="If an architecture renders each factor into a picture of its own, does it draw unseen combinations?",
    source=SOURCE,
    history="After a first run of 3,000 steps, in which the seeds disagreed, laptop scale trains for 12,000.",
    minutes=Scale(1, 8, 300, "about 2 GPU-hours"),
    metric="error",
    world=pictures(WORLD, Scale(8, 12, 16, 32), sigma=Scale(1.0, 1.0, 1.0, 1.5)),
    support={"name": "corner"},
    net={"name": "rendering"},
    recipe=Scale(
        ours(150, 1e-2, weight_decay=1e-4),
        ours(12_000, weight_decay=1e-4, evaluations=4),
        ours(60_000, weight_decay=1e-4, evaluations=4),
        # 1000 epochs of 624 pictures in batches of 32
        PUBLISHED | {"steps": 19_500, "weight_decay": 1e-4, "evaluations": 10},
    ),
    asks=EVERY,
    first_seed={"keep": ["panel", "drawings", "rendered"]},
    vary=[
        {
            "target": Arms({WORLD: {}}),
            "variant": Arms(VARIANTS, Scale(["both", "neither"], None, None, None)),
        },
        {
            "target": Arms({name: {"world.name": name} for name in OTHERS}, Scale(["ring-v1"], None, None, None)),
            "variant": Arms({"both": BOTH, "neither": NEITHER}),
        },
    ],
    controls={
        "indifferent": {"target": [WORLD], "variant": ["both", "entropy", "variance", "neither"]},
        # every target is a picture by lot
        "lookup": {
            "target": [WORLD, *NOT_SEPARABLE],
            "variant": ["both"],
            **{f"{name}:world.name": "bumps-lookup-v1" for name in NOT_SEPARABLE},
        },
    },
    claims=[
        Claim(
            "rendering-composes",
            with_both,
            at_most(COMPOSES),
            "With both regularizers it draws unseen bumps: the error is at most .1",
            "lookup",
            supported="a net that must draw each factor composes",
            refuted="even a net that must draw each factor fails",
        ),
        Claim(
            "rendering-alone-memorizes",
            memorized,
            at_least(0.5),
            "Without regularizers it memorizes: the error is at least half a blank's",
            "indifferent",
            supported="without regularizers it memorizes",
            refuted="without regularizers it composes, too",
        ),
        Claim(
            "both-are-needed",
            lost_alone,
            at_least(2.0),
            "Neither regularizer alone will do: the error is at least twice that of both",
            "indifferent",
            source=OURS,
        ),
        Claim(
            "other-shapes",
            worst_not_separable,
            at_most(COMPOSES),
            "It also draws unseen shapes that are no product of stripes",
            "lookup",
            source=OURS,
            supported="shapes that are no product of stripes come out, too",
            refuted="other shapes do not come out",
        ),
    ],
    measurements=[
        Measurement(
            "as-published", error_of("as-published"), "Held-out error with the variance of raw vectors, as published"
        ),
        *(
            Measurement(target, error_of("both", target), f"Held-out error on {words}, both regularizers")
            for target, words in OTHERS.items()
        ),
    ],
    charts=[
        kinds.dots(
            "Error by regularizer and target",
            "Error on trained and on held-out combinations by that of an empty picture; one point per seed.",
            errors_of_both_sides,
            y="what",
            value="error",
            series=["trained", "held out"],
        )
    ],
    images=[
        partial(rendered.factors, name=name_of),
        partial(image_grids.drawings, name=name_of),
        partial(image_grids.errors, name=name_of),
    ],
    otherwise="Whether rendering composes is not settled at this scale.",
    label_of=label,
    refuse=refuse,
)
