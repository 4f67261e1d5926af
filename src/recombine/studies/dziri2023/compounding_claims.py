"""What is claimed of errors that compound. The thresholds were written before any run."""

from __future__ import annotations

from functools import partial

from ...lab.verdicts import Claim, Measurement, at_most
from . import compounding_readings as read
from .subgraphs_arms import PADDED, STEPS

OURS = "ours"

CLAIMS = [
    Claim(
        "depth",
        read.off_by_depth,
        at_most(0.1),
        "At every larger size accuracy against depth lies within .1 of the recursion by its eps and c",
        "cliff",
        supported="errors compound from step to step at one rate",
        refuted="errors do not compound at one rate: accuracy against depth is another curve",
        needs={"arm": [STEPS]},
    ),
    Claim(
        "depth-padded",
        partial(read.off_by_depth, arm=PADDED),
        at_most(0.1),
        "And so it does where answers of that length were trained",
        "cliff-padded",
        description="largest distance, over layers, from the recursion, all texts and answers equally long",
        source=OURS,
        needs={"arm": [PADDED]},
    ),
    Claim(
        "width",
        read.off_by_width,
        at_most(0.1),
        "At every larger size the share of right answers lies within .1 of the bound over width",
        "all-or-nothing",
        source=OURS,
        needs={"arm": [STEPS]},
    ),
    Claim(
        "same-rates",
        partial(read.off_by_depth, trained=True),
        at_most(0.1),
        "The rates of the trained size foretell accuracy against depth at larger sizes within .1",
        "larger-wrong",
        description="largest distance, over layers, from the recursion by the rates of the largest trained size",
        source=OURS,
        supported="larger sizes fail as rarely, step by step, as trained ones",
        refuted="what fails at larger sizes is not the many steps: each of them fails more often than in training",
        needs={"arm": [STEPS]},
    ),
]

MEASUREMENTS = [
    Measurement("eps-trained", partial(read.rate, name="eps", number=0), "eps at the largest trained size", "eps"),
    Measurement("eps-larger", partial(read.rate, name="eps"), "eps at the first larger size", "eps"),
    Measurement("c-larger", partial(read.rate, name="c"), "c at the first larger size", "c"),
    Measurement("recovery", read.recovery_above_chance, "Recoveries beyond what another list's steps would give"),
    Measurement(
        "wrong-step",
        partial(read.rate, name="wrong step in right answer"),
        "Right answers of the first larger size that have a wrong step",
        "share of right answers with a wrong step",
    ),
]
