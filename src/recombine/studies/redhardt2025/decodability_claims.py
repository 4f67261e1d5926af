"""What is claimed and measured of decodability."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...lab.verdicts import Claim, Measurement, at_least
from .decodability_readings import (
    FAILING,
    PANELS,
    RULES,
    at_published_layer,
    foreseen,
    lost_with_depth,
    mean_correlation,
    shallow_on_disconnected,
)

OURS = (
    "ours: scores and decodability both fall where training is short; what is kept from trained combinations need not"
)
ON_SUPPORTS = {"lender": "supports", "support": [*FAILING, *FAILING.values()], "recipe": "default"}


def of_figures(at: Mapping[str, Any]) -> bool:
    """Whether a trial is one that the published figures pool."""
    return any(
        at.get("lender") == study and modules in (None, at.get("modules")) and at.get("setting", "mlp") == "mlp"
        for study, modules in PANELS.values()
    )


CLAIMS = [
    Claim(
        "predicts-at-published-layer",
        at_published_layer,
        at_least(0.5),
        "At the layer that the paper reads, decodability goes with the held-out score, in each of its figures",
        "unrelated",
        transform="fisher",
        needs=of_figures,
        supported="decodability goes with the held-out score, as in the figures of the paper",
        refuted="decodability does not go with the held-out score in every figure of the paper",
    ),
    Claim(
        "predicts",
        foreseen,
        at_least(0.5),
        "By a layer rule chosen on other studies, decodability predicts how much of the score is kept",
        "unrelated",
        source=OURS,
        transform="fisher",
        supported="it predicts what is kept of the score, by a layer rule chosen on other studies",
        refuted="it does not predict what is kept of the score, by a layer rule chosen on other studies",
    ),
    Claim(
        "lost-with-depth",
        lost_with_depth,
        at_least(0.05),
        "Where blocks were never combined, decodability is lost in deeper layers",
        "same-arms",
        needs=ON_SUPPORTS,
        supported="where a network fails, decodability is lost in deeper layers",
        refuted="where a network fails, decodability is not lost in deeper layers",
    ),
    Claim(
        "shallow-layer-misleads",
        shallow_on_disconnected,
        at_least(0.9),
        "On a disconnected support the first layer, linear in what it is shown, stays decodable",
        "same-arms",
        source="ours",
        needs=ON_SUPPORTS,
        by_construction=(
            "the first layer before its ReLU is a linear map of what the net is shown, and the identity encoding shows "
            "the constituents: a probe reads them there whatever was trained"
        ),
    ),
]

MEASUREMENTS = [
    Measurement(
        f"{outcome}-{rule.replace(' ', '-')}",
        partial(mean_correlation, rule=rule, outcome=outcome),
        f"Correlation with the {words}: {rule}",
        f"Spearman correlation with the {words}, mean over studies",
    )
    for outcome, words in (("score", "held-out score"), ("kept", "score on held-out minus on trained combinations"))
    for rule in RULES
]
