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
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from ...tasks import registry as tasks
from . import image_grids, rendered
from .paper import COMPOSES, EVERY, OURS, PUBLISHED, SOURCE, ours, pictures, require_room
from .render_readings import (
    NOT_SEPARABLE,
    OTHERS,
    WORLD,
    error_of,
    errors_of_both_sides,
    label,
    lost_alone,
    memorized,
    name_of,
    with_both,
    worst_not_separable,
)

ENTROPY, VARIANCE = 0.1, 0.01  # published weights


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
    minutes=Scale(1, 8, 60, "about 2 GPU-hours"),
    metric="error",
    world=pictures(WORLD, Scale(8, 12, 24, 32), sigma=Scale(1.0, 1.0, 1.0, 1.5)),
    support={"name": "corner"},
    net={"name": "rendering"},
    recipe=Scale(
        ours(150, 1e-2, weight_decay=1e-4),
        ours(12_000, weight_decay=1e-4, evaluations=4),
        ours(40_000, weight_decay=1e-4, evaluations=4),
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
            "target": Arms({name: {"world.name": name} for name in OTHERS}, Scale([], None, None, None)),
            "variant": Arms({"both": BOTH, "neither": NEITHER}),
        },
    ],
    controls={
        # one alone is both: that both are needed cannot come out
        "indifferent": {
            "target": [WORLD],
            "variant": ["both", "entropy", "variance", "neither"],
            "entropy:net.variance": VARIANCE,
            "variance:net.entropy": ENTROPY,
        },
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
