"""turned-digit: a digit is drawn from its angle, and a range of angles is held out: is the gap a cross-fade?

    recombine run turned-digit                  laptop: about 3 minutes on two cores
    expected: the net fails in the gap, and draws a cross-fade of its two ends

After Liang, Qian, Ziyin, Fiete 2025 and its public code: an MNIST "4" turned by angles from 0 to 360 degrees, drawn
from (cos, sin); angles from 160 to 200 degrees are held out, and what is drawn there looks like a pixel-wise cross-fade
of the pictures at 160 and at 200. There is one factor, so nothing is composed: the study asks whether a smooth code of
one factor is interpolated. The readings and the thresholds are ours, written before any run.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import StudyTable, single_value
from ...lab.verdicts import Claim, Measurement, at_least
from . import drawn, image_grids
from .liang_setting import EVERY, PUBLISHED, SOURCE, ours

READ = {"to_truth": "to the truth", "to_fade": "to the cross-fade", "apart": "of the cross-fade to the truth"}


def read(t: StudyTable, metric: str) -> float:
    return single_value(t.probed("crossfade", metric), metric)


def failure(t: StudyTable) -> float:
    """Held-out error by error on trained angles (at least .02)."""
    return drawn.failure(t, "the decoder")


def nearer_fade(t: StudyTable) -> float:
    """Squared error of drawings in the gap to the truth by that to the cross-fade, each at least .001."""
    drawn.learned(t, "the decoder")
    return max(read(t, "to_truth"), 1e-3) / max(read(t, "to_fade"), 1e-3)


def distances(t: StudyTable) -> kinds.Rows:
    return [
        {"what": READ[row.metric], "seed": int(row.seed), "value": row.value}
        for row in t.where(reading="crossfade", metric=list(READ)).itertuples()
    ]


study = Study(
    id="turned-digit",
    title="Is a gap of angles drawn as a cross-fade?",
    question="If a range of angles is never shown, what does a decoder draw there?",
    source=f"{SOURCE}, public code",
    differs=(
        "The digit is one of the UCI repository's, made larger; theirs is one of MNIST's.",
        "The decoder has no batch norms and a linear output, and its loss is the squared error alone; theirs has batch "
        "norms, a sigmoid, .1 of the absolute error and clipped gradients.",
    ),
    minutes=Scale(0.3, 3, 20, "about 10 GPU-minutes"),
    metric="error",
    world={
        "name": "rotation-v1",
        "space": {"size": Scale(36, 180, 360, 1000)},
        "side": Scale(8, 16, 28, 28),
        "digit": 4,
    },
    support={"name": "gap"},
    net={
        "name": "cnn-decoder",
        "width": Scale(8, 32, 64, 128),
        "depth": 2,
        "base": Scale(2, 4, 7, 7),
    },
    recipe=Scale(ours(300, 5e-3), ours(4000), ours(10_000), PUBLISHED | {"steps": 5550}),
    asks=EVERY,
    probes=[{"name": "crossfade"}],
    first_seed={"keep": ["panel", "drawings"]},
    claims=[
        Claim(
            "the-gap-fails",
            failure,
            at_least(5.0),
            "The error on angles in the gap is at least 5 times that on trained ones",
            "indifferent",
            supported="a decoder fails on angles that it never saw",
            refuted="on angles that it never saw a decoder errs less than 5 times as much (below .02 counts as .02)",
            transform="log",
        ),
        Claim(
            "the-gap-is-faded",
            nearer_fade,
            at_least(1.5),
            "Drawings in the gap are nearer to a cross-fade of its two ends than to the truth, by half",
            "indifferent",
            supported="it cross-fades the two ends of the gap",
            refuted="what it draws there is no cross-fade of the two ends",
            transform="log",
        ),
    ],
    measurements=[
        Measurement(metric, lambda t, metric=metric: read(t, metric), f"Squared error in the gap {words}", words)
        for metric, words in READ.items()
    ],
    charts=[
        kinds.dots(
            "How far drawings in the gap are",
            "Squared error by that of an empty picture; one point per seed.",
            distances,
            y="what",
            value="error",
        )
    ],
    images=[image_grids.drawings],
    otherwise="What is drawn in the gap is not settled at this scale.",
)
