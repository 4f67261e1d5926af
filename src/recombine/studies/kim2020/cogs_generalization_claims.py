"""What is claimed of nets on the cases of COGS. The thresholds are ours, and were written before any run."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import cogs_generalization_readings as read

LATER = ("night", "paper")
PLAIN = {"net": read.PLAIN}

CLAIMS = [
    Claim(
        "in-distribution",
        lambda t: read.of_every_net(t, read.IN_DISTRIBUTION),
        at_least(0.95),
        "Of new sentences as in training every net understands .95",
        "lookup",
        description="exact match on held-out sentences that are as in training",
        supported="new sentences of known kinds are no problem",
        refuted="a net misses sentences of the kinds that it was trained on",
    ),
    Claim(
        "generalization",
        lambda t: read.of_every_net(t, "generalization", learned=True, only=read.PLAIN),
        at_most(0.50),
        "Of the 21 cases every plain net understands at most half",
        "indifferent",
        description="exact match on the 21 cases together",
        supported="known words in new places, and new structures, are misread for the greater part",
        refuted="a plain net understands most of what is used anew",
        needs=PLAIN,
    ),
    Claim(
        "structural",
        read.structural,
        at_most(0.10),
        "Of each case with a new structure every net understands at most .10",
        "indifferent",
        supported="new structures are not understood at all",
        refuted="a net understands a structure that it was never shown",
    ),
    Claim(
        "lexical-is-easier",
        read.lexical_minus_structural,
        at_least(0.20),
        "Every net understands known words in new places better than new structures, by .20",
        "indifferent",
        supported="words in new places are easier than new structures",
        refuted="a net finds words in new places no easier than new structures",
    ),
    Claim(
        "relative-positions-help",
        read.gain_of_positions,
        at_least(0.20),
        "With relative positions a transformer understands .20 more of the cases",
        "same-arms",
        source="Csordas et al. 2021 (arXiv 2108.12284), .81 by a tuned net; the threshold is ours",
        scales=LATER,
        needs={"net": ["transformer", read.RELATIVE]},
    ),
]

MEASUREMENTS = [
    Measurement("lexical", read.lexical, "Known words in new places"),
    Measurement("gap", read.gap, "Sentences as in training minus the 21 cases"),
]
