"""scaling-data: does the held-out score rise with what is trained, and with the number of modules?

    recombine run scaling-data                  laptop: about 4 minutes on two cores
    expected: it rises with coverage; at a fixed share, with M and with K

The claims are those of Figures 2 (top left), 7 and 11 of Redhardt, Akram, Schug 2025, and `paper` scale is its grid
(K from 2 to 7, M in 8, 16, 24, 32, shares held out from .125 to .99, three seeds). The figures show curves only, so the
thresholds are ours, and were written before any run. Scores below zero count as zero: no composition, and how far
below says nothing. Splits of the published grid that cannot be made (36 combinations with 98 % held out leave one) are
kept as cells and recorded as impossible; the public code stops with an error there.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, Measurement, at_least
from .paper import DECODABILITY, FIRST_SEED, PREFERENCE_RECIPE, hyperteacher, mlp, preference, recipe, source
from .scaling_data_charts import chart
from .scaling_data_readings import coverage_rise, largest_fall, rise_with_active, rise_with_modules

study = Study(
    id="scaling-data",
    title="Does more data make a network compose?",
    question="How does the score on combinations never seen depend on how many were seen, and of how many there are?",
    source=source("Fig. 2, 7, 10 and 11"),
    minutes=Scale(0.5, 4, 400, "about 3 GPU-days"),
    world=hyperteacher(modules=8, at_most=2),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(64, 192, 384, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=recipe(500, 2000, 10_000),
    probes=DECODABILITY,
    first_seed=FIRST_SEED,
    vary={
        "world.space.modules": Scale([6, 8], [8, 12, 16], [8, 16, 24, 32], [8, 16, 24, 32]),
        "world.space.at_most": Scale([2], [2, 3], [2, 3, 4, 5], [2, 3, 4, 5, 6, 7]),
        "support.held_out": Scale(
            [0.25, 0.6],
            [0.25, 0.5, 0.75, 0.9, 0.95],
            [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98],
            [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99],
        ),
    },
    controls={"lookup": {"modules": [6]}, "same-arms": {"at_most": [2, 3], "held_out": [0.25]}},
    claims=[
        Claim(
            "rises-with-coverage",
            coverage_rise,
            at_least(0.05),
            "The held-out score rises with coverage, by at least .05 over the shares tried",
            "lookup",
            supported="the score on unseen combinations rises with coverage",
            refuted="the score on unseen combinations does not rise with coverage",
        ),
        Claim(
            "rises-with-modules",
            rise_with_modules,
            at_least(RESOLUTION),
            "At a fixed share the held-out score rises with M",
            "same-arms",
            supported="a larger M raises it",
            refuted="a larger M does not raise it",
        ),
        Claim(
            "rises-with-active",
            rise_with_active,
            at_least(RESOLUTION),
            "At a fixed share the held-out score rises with K",
            "same-arms",
            supported="a larger K raises it",
            refuted="a larger K does not raise it",
        ),
    ],
    measurements=[Measurement("largest-fall", largest_fall, "Largest fall of the score when one step more is trained")],
    charts=[chart("r2")],
    otherwise="Whether the score rises with coverage, M or K is not settled.",
)

preferences = replace(
    study,
    id="scaling-data-preference",
    title="Does more data make a network compose? Preferences in a grid world",
    minutes=Scale(0.7, 10, 500, "about 40 GPU-days"),
    world=preference(4, 2, features=Scale(4, 6, 8, 32), objects=Scale(1, 2, 2, 4)),
    net=mlp(width=Scale(64, 256, 256, 1024), depth=2),
    recipe=PREFERENCE_RECIPE,
    vary={
        "world.space.modules": Scale([4], [4, 6], [4, 6, 8], [8, 16, 24, 32]),
        "world.space.at_most": Scale([2], [2, 3], [2, 3], [2, 3, 4, 5, 6, 7]),
        "support.held_out": Scale(
            [0.25, 0.6], [0.25, 0.5, 0.75], [0.25, 0.5, 0.75, 0.9], [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98]
        ),
    },
    controls={"same-arms": {"modules": [4, 5], "at_most": [2, 3], "held_out": [0.25], "steps": 150}},
    charts=[chart("episode_accuracy", " above what a net told wrong gets")],
)
