"""hole-size: how does what is lost depend on the share that is held out, and on the size of pictures?

    recombine run hole-size                     laptop: about 8 minutes on two cores
    expected: the larger the hole, the worse

A script of the public code of Liang, Qian, Ziyin, Fiete 2025 draws contours of the held-out error over N = 24 to 40 and
a held-out side of K = floor(p N), p = .2 to .6, with real-valued centers and about 1000 (1 - p)^2 pictures; its result
is not recorded where we could read it. Its errors are raw; here they are divided by that of an empty picture. What is
claimed, and the thresholds, are ours, written before any run.
"""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, at_least
from ...statistics.intervals import over_seeds
from . import image_grids
from . import liang_history as history
from .hole_size_readings import larger_pictures, largest_by_smallest
from .liang_setting import EVERY, FIRST_SEED, OURS, dark_on_paper, decoder, pictures, recipe

SHARES = [0.2, 0.3, 0.4, 0.5, 0.6]  # of a side, published


def hole(share: float) -> dict[str, Any]:
    """A square hole in the middle, K = floor(share N) places wide."""

    def low(size: int) -> int:
        return (size - int(share * size)) // 2

    return {
        "support.low": Same("world.space.size", then=low),
        "support.high": Same("world.space.size", then=lambda size: low(size) + int(share * size) - 1),
    }


def named(*shares: float) -> list[str]:
    return [f"{share:g} of a side" for share in shares]


HOLES = dict(zip(named(*SHARES), map(hole, SHARES), strict=True))


def contour(t: StudyTable) -> kinds.Rows:
    found = []
    for (share, size), part in t.by("hole", "size"):
        over = over_seeds(list(part.scores("held_out", "").value.dropna()))
        bounds = {"value": over.mean, "low": over.low, "high": over.high, "seeds": over.seeds}
        found.append({"hole": share, "size": int(size)} | bounds)
    return found


study = Study(
    id="hole-size",
    title="How much does a larger hole cost?",
    question="How does the error on unseen combinations grow with the share held out, and with the size of pictures?",
    source=OURS,
    differs=history.HOLE_SIZE_DIFFER,
    minutes=Scale(0.5, 8, 120, "about 4 GPU-hours"),
    metric="error",
    world=dark_on_paper(pictures("bumps-v1", 8, encoding="bump", centers="real")),
    support={"name": "donut"},
    net=decoder("cnn-decoder", width=Scale(8, 16, 32, 128), depth=Scale(2, 2, 3, 8)),
    recipe=recipe(500, 3000, 6000),
    asks=EVERY,
    first_seed=FIRST_SEED,
    vary={
        "world.space.size": Scale([8, 10], [12, 20], [12, 16, 20, 24], [24, 28, 32, 36, 40]),
        "hole": Arms(HOLES, Scale(named(0.3, 0.6), named(0.2, 0.4, 0.6), None, None)),
    },
    claims=[
        Claim(
            "larger-holes-are-worse",
            largest_by_smallest,
            at_least(1.5),
            "The error in the largest hole is at least half as much again as in the smallest, whatever size",
            "same-arms",
            supported="the larger the hole, the worse",
            refuted="a larger hole is not much worse",
            transform="log",
        ),
        Claim(
            "larger-pictures-are-worse",
            larger_pictures,
            at_least(1.2),
            "At equal shares the error is a fifth larger in the largest pictures, whatever share",
            "same-arms",
            supported="and at equal shares larger pictures are worse",
            refuted="at equal shares larger pictures are not worse throughout",
            transform="log",
        ),
    ],
    charts=[
        kinds.heat(
            "Held-out error by size and hole",
            "Held-out error by that of an empty picture, mean over seeds.",
            contour,
            x="size",
            y="hole",
            x_title="N, pixels along a side",
            y_title="what is held out",
            value="held-out error",
            fitted=True,
        )
    ],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="What a larger hole costs is not settled at this scale.",
)
