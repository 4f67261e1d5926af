"""scaling-data: does the held-out score rise with what is trained, and with the number of modules?

    recombine run scaling-data                  laptop: about 15 minutes on two cores
    recombine run scaling-data-preference       the same in a grid world; about 10 minutes
    expected: it rises with coverage; at a fixed share, with M and with K

The claims are those of Figures 2 (top left), 7, 10 (top: a transformer) and 11 (a teacher of three hidden layers) of
Redhardt, Akram, Schug 2025, and `paper` scale is its grid (K from 2 to 7, M in 8, 16, 24, 32, shares held out from .125
to .99, three seeds). The figures show curves only, so the
thresholds are ours, and were written before any run. Scores below zero count as zero: no composition, and how far
below says nothing. Splits of the published grid that cannot be made (36 combinations with 98 % held out leave one) are
kept as cells and recorded as impossible; the public code stops with an error there.
"""

from __future__ import annotations

from dataclasses import replace

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
from .scaling_data_charts import chart
from .scaling_data_claims import claims_of
from .scaling_data_readings import largest_fall
from .scaling_data_settings import CONTROLS, CONTROLS_OF_PREFERENCES, OTHERS, SETTINGS, grid

SHARES = [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98]

study = Study(
    id="scaling-data",
    version=3,
    history=history.SCALING_DATA,
    differs=history.SCALING_DATA_DIFFER,
    title="Does more data make a network compose?",
    question="How does the score on combinations never seen depend on how many were seen, and of how many there are?",
    source=source("Fig. 2, 7, 10 and 11"),
    minutes=Scale(1, 15, 500, "about 10 GPU-days"),
    world=hyperteacher(modules=8, at_most=2),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(64, 192, 384, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=recipe(500, 2000, 10_000),
    probes=DECODABILITY,
    first_seed=FIRST_SEED,
    vary=[
        grid(
            "mlp",
            Scale([6, 8], [8, 12, 16], [8, 16, 24, 32], [8, 16, 24, 32]),
            Scale([2], [2, 3], [2, 3, 4, 5], [2, 3, 4, 5, 6, 7]),
            Scale([0.25, 0.6], [0.25, 0.5, 0.75, 0.9, 0.95], SHARES, [*SHARES, 0.99]),
        ),
        *(
            grid(
                setting,
                Scale([6, 8], [8, 12], [8, 16], [8, 16, 24, 32]),
                Scale([2], [2, 3], [2, 3], [2, 3, 4, 5, 6, 7]),
                Scale([0.25, 0.6], [0.25, 0.75], [0.25, 0.5, 0.75, 0.9], [*SHARES, 0.99]),
            )
            for setting in OTHERS
        ),
    ],
    controls=CONTROLS,
    claims=[claim for setting in SETTINGS for claim in claims_of(setting)],
    measurements=[Measurement("largest-fall", largest_fall, "Largest fall of the score when one step more is trained")],
    charts=[chart("r2", setting=setting) for setting in SETTINGS],
    otherwise="Whether the score rises with coverage, M or K is not settled.",
)

preferences = replace(
    study,
    id="scaling-data-preference",
    title="Does more data make a network compose? Preferences in a grid world",
    minutes=Scale(0.7, 14, 500, "about 40 GPU-days"),
    world=preference(4, 2, features=Scale(4, 10, 8, 32), objects=Scale(1, 1, 2, 4)),
    net=mlp(width=Scale(64, 256, 256, 1024), depth=2),
    recipe=PREFERENCE_RECIPE,
    vary=grid(
        "mlp",
        Scale([4], [6, 10], [4, 6, 8], [8, 16, 24, 32]),
        Scale([2], [3], [2, 3], [2, 3, 4, 5, 6, 7]),
        Scale([0.25, 0.6], [0.25, 0.5, 0.75], [0.25, 0.5, 0.75, 0.9], SHARES),
    ),
    controls=CONTROLS_OF_PREFERENCES,
    # of 2 or 3 active, as minutes allow, the difference is no larger than what a score can tell
    claims=claims_of("mlp", active_at=("smoke", "paper"), false_in=("same-shares", "same-modules", "same-active")),
    charts=[chart("episode_accuracy", SHARE)],
    history=history.SCALING_DATA_PREFERENCE,
    differs=(),
)
