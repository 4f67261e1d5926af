"""scaling-model: does a larger network compose better, and do harder encodings need a larger one?

    recombine run scaling-model                 laptop: about 4 minutes on two cores
    recombine run scaling-model-preference      the same in a grid world; about 18 minutes
    expected: wider is better; nonlinear encodings need more width for the same score

The claims are those of Figures 2 (bottom) and 7 of Redhardt, Akram, Schug 2025, and `paper` scale is its grid (M=16,
K=3, a quarter held out, six encodings, 2 and 4 layers, widths from 128 to 2048; from 16 for preferences). The figures
show curves only: the thresholds, and the scores of .8 and .6 at which widths are compared, are ours and were written
before any run.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Measurement
from . import redhardt_history as history
from .redhardt_setting import (
    DECODABILITY,
    FIRST_SEED,
    PREFERENCE_RECIPE,
    SHARE,
    hyperteacher,
    mlp,
    preference,
    recipe,
    source,
)
from .scaling_model_charts import chart
from .scaling_model_claims import claims_at
from .scaling_model_readings import depth_gain
from .scaling_model_settings import CONTROLS_OF_PREFERENCES, OPTIONS, PUBLISHED, SHOWN, WITHOUT_EXAMPLES

study = Study(
    id="scaling-model",
    version=3,
    title="Does a larger network compose better?",
    question="How does the score on combinations never seen depend on width and depth, by how tasks are shown?",
    source=source("Fig. 2 and 7"),
    minutes=Scale(0.5, 3, 240, "about 1 GPU-day"),
    world=hyperteacher(modules=Scale(8, 16, 16, 16), at_most=Scale(2, 3, 3, 3), encoding_options=OPTIONS),
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
        "same-arms": {"encoding": ["identity"], "width": [96, 16]},  # both are as wide as the first
        "indifferent": {"width": [2, 96], "steps": 200},  # so narrow that one world for all is not learned either
    },
    claims=claims_at(0.8),
    measurements=[Measurement("depth-gain", depth_gain, "What depth adds at the same width")],
    charts=[chart(0.8, "r2")],
    otherwise="Neither claim is settled at this scale.",
    history=history.SCALING_MODEL,
    differs=history.SCALING_MODEL_DIFFER,
)

preferences = replace(
    study,
    id="scaling-model-preference",
    title="Does a larger network compose better? Preferences in a grid world",
    minutes=Scale(0.7, 18, 360, "about 30 GPU-days"),
    world={
        **preference(
            modules=Scale(4, 8, 8, 16),
            at_most=Scale(2, 3, 3, 3),
            features=Scale(4, 8, 8, 16),
            objects=Scale(1, 1, 2, 4),
        ),
        "encoding_options": OPTIONS,
    },
    recipe=PREFERENCE_RECIPE,
    first_seed=FIRST_SEED,
    vary={
        # interval shuffle takes more training than minutes
        "encoding": Arms(
            SHOWN,
            Scale(["identity"], ["identity", "invertible"], WITHOUT_EXAMPLES, WITHOUT_EXAMPLES),
        ),
        "net.width": Scale([16, 64], [32, 96, 288], [32, 64, 128, 256, 512], [16, 32, 64, 128, 256, 512, 1024, 2048]),
        "net.depth": Scale([2], [2], [2, 4], [2, 4]),
    },
    controls=CONTROLS_OF_PREFERENCES,
    claims=claims_at(0.6, false_in="width-alone"),  # of what a perfect net has over the wrong-code baseline
    charts=[chart(0.6, "episode_accuracy", SHARE)],
    history=history.SCALING_MODEL_PREFERENCE,
)
