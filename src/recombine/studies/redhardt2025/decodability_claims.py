"""What is claimed and measured of decodability."""

from __future__ import annotations

from functools import partial

from ...lab.verdicts import Claim, Measurement, at_least
from .decodability_readings import RULES, at_published_layer, foreseen, mean_correlation, shallow_on_disconnected

CLAIMS = [
    Claim(
        "predicts",
        foreseen,
        at_least(0.5),
        "By a layer rule chosen on other studies, decodability predicts the held-out score",
        "unrelated",
        supported="decodability predicts the held-out score, by a layer rule chosen on other studies",
        refuted="decodability does not predict the held-out score by a layer rule chosen on other studies",
    ),
    Claim(
        "predicts-at-published-layer",
        at_published_layer,
        at_least(0.5),
        "At the layer that the paper reads, decodability predicts the score",
        "unrelated",
    ),
    Claim(
        "shallow-layer-misleads",
        shallow_on_disconnected,
        at_least(0.9),
        "Where a net fails on a disconnected support, its first layer, linear in what it is shown, stays decodable",
        "indifferent",
        source="ours",
        supported="a shallow layer stays decodable where the network fails",
    ),
]

MEASUREMENTS = [
    Measurement(
        f"{outcome}-{rule.replace(' ', '-')}",
        partial(mean_correlation, rule=rule, outcome=outcome),
        f"Correlation with the {words}: {rule}",
        f"Spearman correlation with the {words}, mean over studies",
    )
    for outcome, words in (("score", "held-out score"), ("gap", "gap between trained and held out"))
    for rule in RULES
]
