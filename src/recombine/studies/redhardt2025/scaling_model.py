"""scaling-model: does a larger network compose better, and do harder encodings need a larger one?

    recombine run scaling-model                 laptop: about 3 minutes on two cores
    expected: wider is better; nonlinear encodings need more width for the same score

The claims are those of Figures 2 (bottom) and 7 of Redhardt, Akram, Schug 2025, and `paper` scale is its grid (M=16,
K=3, a quarter held out, six encodings, 2 and 4 layers, widths from 128 to 2048; from 16 for preferences). The figures
show curves only: the thresholds, and the scores of .8 and .6 at which widths are compared, are ours and were written
before any run.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least
from .paper import DECODABILITY, FIRST_SEED, PREFERENCE_RECIPE, hyperteacher, mlp, preference, recipe, source
from .scaling_model_charts import chart
from .scaling_model_readings import depth_gain, extra_width, width_rise

PUBLISHED = ["identity", "orthogonal", "language", "invertible", "interval-shuffle", "few-shot"]
WITHOUT_EXAMPLES = [name for name in PUBLISHED if name != "few-shot"]  # a grid world has no examples to show


def claims_at(target: float) -> list[Claim]:
    """The claims, with widths compared at a score."""
    return [
        Claim(
            "wider-is-better",
            width_rise,
            at_least(0.05),
            "Wider is better by at least .05, and never worse on the way, for every encoding",
            "lookup",
            supported="wider networks compose better, whatever the encoding",
            refuted="wider networks do not compose better for every encoding",
        ),
        Claim(
            "nonlinear-needs-width",
            lambda t: extra_width(t, target),
            at_least(0.25),
            f"Nonlinear encodings need a quarter octave more width for a score of {target}",
            "indifferent",
            description="log2 of the width needed, nonlinear minus linear, mean over encodings and depths",
            supported="nonlinear encodings need more width",
            refuted="nonlinear encodings need no more width",
        ),
    ]


study = Study(
    id="scaling-model",
    title="Does a larger network compose better?",
    question="How does the score on combinations never seen depend on width and depth, by how tasks are shown?",
    source=source("Fig. 2 and 7"),
    minutes=Scale(0.5, 3, 240, "about 1 GPU-day"),
    world=hyperteacher(modules=Scale(8, 16, 16, 16), at_most=Scale(2, 3, 3, 3)),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=96, depth=2),
    recipe=recipe(500, 2500, 20_000),
    probes=DECODABILITY,
    vary={
        "world.encoding": Scale(
            ["identity", "interval-shuffle"],
            ["identity", "orthogonal", "invertible", "interval-shuffle"],
            PUBLISHED,
            PUBLISHED,
        ),
        "net.width": Scale([16, 96], [32, 96, 288], [64, 128, 256, 512], [128, 256, 512, 1024, 2048]),
        "net.depth": Scale([2], [2, 4], [2, 4], [2, 4]),
    },
    controls={
        "lookup": {"encoding": ["identity"], "steps": 100},  # each combination is its own world, however it is shown
        "indifferent": {"width": [2, 96], "steps": 200},  # so narrow that one world for all is not learned either
    },
    claims=claims_at(0.8),
    measurements=[Measurement("depth-gain", depth_gain, "What depth adds at the same width")],
    charts=[chart(0.8, "r2")],
    otherwise="Neither claim is settled at this scale.",
    history=(
        "After a first run one reading was mended, and no threshold: a wider net that is worse on the way now decides."
    ),
)

preferences = replace(
    study,
    id="scaling-model-preference",
    title="Does a larger network compose better? Preferences in a grid world",
    minutes=Scale(0.7, 8, 360, "about 30 GPU-days"),
    world={
        **preference(
            modules=Scale(4, 6, 6, 16),
            at_most=Scale(2, 3, 3, 3),
            features=Scale(4, 6, 6, 16),
            objects=Scale(1, 2, 2, 4),
        ),
        # three layers, as published for preferences
        "encoding_options": Same("world.encoding", then=lambda name: {"layers": 3} if name == "invertible" else None),
    },
    recipe=PREFERENCE_RECIPE,
    first_seed=FIRST_SEED,
    vary={
        "world.encoding": Scale(["identity"], ["identity", "interval-shuffle"], WITHOUT_EXAMPLES, WITHOUT_EXAMPLES),
        "net.width": Scale([16, 64], [32, 96, 288], [32, 64, 128, 256, 512], [16, 32, 64, 128, 256, 512, 1024, 2048]),
        "net.depth": Scale([2], [2], [2, 4], [2, 4]),
    },
    controls={"lookup": {"steps": 100}, "indifferent": {"width": [16], "steps": 100}},
    claims=claims_at(0.6),  # above the floor of a net that is told wrong
    charts=[chart(0.6, "episode_accuracy", " above what a net told wrong gets")],
)
