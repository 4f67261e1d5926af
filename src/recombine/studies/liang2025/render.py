"""render: does a net compose that must draw each factor before it combines them? ("Plan A")

    recombine run render                        laptop: about 8 minutes on two cores
    expected: without regularizers it memorizes; with them seeds disagree after minutes of training

Liang, Qian, Ziyin, Fiete 2025 give every level of a factor a picture of its own, a matrix of pixels, and regularize it
towards rank one (`entropy`) and towards constant vectors (`variance`): a stripe. Recorded at N = 32 and 1000 epochs:
held out 1.4e-4 with both regularizers (2 % of an empty picture's error), 2.7e-2 with none (4 times it). Each
regularizer alone, and targets that are no product of stripes, are ours, and so are all thresholds, written before any
run. The variance is that of normalized vectors, which shrinking cannot lower; `as-published` takes the raw ones. 1000
epochs of 624 pictures are 19,500 batches of 32.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...errors import unknown
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...tasks import registry as tasks
from . import image_grids, rendered
from . import liang_history as history
from .liang_setting import EVERY, PUBLISHED, SOURCE, ours, pictures, require_room
from .render_claims import CLAIMS, MEASUREMENTS
from .render_readings import (
    AS_PUBLISHED,
    NOT_SEPARABLE,
    OTHERS,
    WORLD,
    by_regularizer_and_target,
    label,
    name_of,
)
from .render_variants import PUBLISHED_NET, SMOKE_SIZE, VARIANTS
from .render_weights import weight


def in_its_place(target: str) -> Same:
    """A target instead of bumps; in a control it is the control, too."""
    return Same("world.name", lambda world: target if world == WORLD else world)


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
    version=2,
    history=history.RENDER,
    differs=history.RENDER_DIFFER,
    minutes=Scale(1, 8, 30, "about 2 GPU-hours"),
    metric="error",
    world=pictures(WORLD, Scale(SMOKE_SIZE, 12, 24, 32), sigma=Scale(1.0, 1.0, 1.0, 1.5)),
    support={"name": "corner"},
    net={"name": "rendering"},
    recipe=Scale(
        ours(150, 1e-2, weight_decay=1e-4),
        ours(12_000, weight_decay=1e-4, evaluations=4),
        ours(40_000, weight_decay=1e-4, evaluations=4),
        PUBLISHED | {"steps": 19_500, "weight_decay": 1e-4, "evaluations": 10},
    ),
    asks=EVERY,
    first_seed={"keep": ["panel", "drawings", "rendered"]},
    vary=[
        {
            "target": Arms({WORLD: {}}),
            "variant": Arms(VARIANTS, Scale([AS_PUBLISHED, "normalized", "neither"], None, None, None)),
        },
        {
            "target": Arms(
                {name: {"world.name": in_its_place(name)} for name in OTHERS},
                Scale([], list(NOT_SEPARABLE), None, None),
            ),
            "variant": Arms({AS_PUBLISHED: PUBLISHED_NET}),
        },
    ],
    controls={
        # one alone is both: that both are needed cannot come out
        "indifferent": {
            "target": [WORLD],
            "variant": [AS_PUBLISHED, "entropy", "variance", "neither"],
            "entropy:net.variance": weight("variance", SMOKE_SIZE, 1.0),
            "variance:net.entropy": weight("entropy", SMOKE_SIZE, 1.0),
        },
        # every target is a picture by lot
        "lookup": {"target": [WORLD, *NOT_SEPARABLE], "variant": [AS_PUBLISHED, "normalized"]},
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[by_regularizer_and_target],
    images=[
        partial(rendered.factors, name=name_of),
        partial(image_grids.drawings, name=name_of),
        partial(image_grids.errors, name=name_of),
    ],
    otherwise="Whether rendering composes is not settled at this scale.",
    label_of=label,
    refuse=refuse,
)
