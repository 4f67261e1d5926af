"""What is claimed and measured of scaling both a model and its data."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least
from .joint_scaling_readings import (
    both_scaled,
    examples_gain,
    interaction,
    interaction_of_scores,
    spread_of_gaps,
    width_gain,
)

CLAIMS = [
    Claim(
        "scaling-both-composes",
        both_scaled,
        at_least(0.8),
        "Scaling data and model size composes: the widest net with the most examples reaches a held-out R2 of .8",
        "lookup",
        supported="scaling data and model size leads to composition",
        refuted="the widest net with the most examples does not compose",
    ),
    Claim(
        "width-pays",
        width_gain,
        at_least(0.1),
        "With the most examples, the widest net is better than the narrowest by at least .1",
        "same-arms",
        supported="width pays where there are examples",
        refuted="width pays little even with many examples",
    ),
    Claim(
        "examples-pay",
        examples_gain,
        at_least(0.1),
        "In the widest net, the most examples are better than the fewest by at least .1",
        "same-arms",
        supported="examples pay where there is width",
        refuted="examples pay little even in a wide net",
    ),
    Claim(
        "they-help-each-other",
        interaction,
        at_least(1.25),
        "Width divides the error by at least 1.25 times as much with the most examples as with the fewest",
        "same-arms",
        source="ours, after Redhardt, Akram, Schug 2025",
        transform="log",
        supported="each pays more with the other",
        refuted="neither needs the other: width divides the error by as much with few examples as with many",
    ),
]

MEASUREMENTS = [
    Measurement("interaction-of-scores", interaction_of_scores, "The same as a difference of differences of R2"),
    Measurement(
        "gap-of-few-examples",
        spread_of_gaps,
        "Whether few examples cost unseen combinations more than trained ones",
    ),
]
