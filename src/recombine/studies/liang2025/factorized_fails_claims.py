"""What factorized-fails claims: one claim for each plain net, and what sets the others apart."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least, at_most
from .factorized_fails_readings import (
    CODE_OF_COORDINATES,
    COORDINATES,
    coordinates_error,
    errors_of_plain,
    failures_of,
)
from .liang_setting import COMPOSES, OFTEN, OURS, SOURCE

PLAIN = {"mlp": "MLPs", "cnn-decoder": "CNNs", "pixel-transformer": "Transformers with one token per pixel"}


def fails(net: str, words: str) -> Claim:
    return Claim(
        f"{net}-fails",
        failures_of(net),
        at_least(5.0),
        f"{words} err at least 5 times as much on unseen combinations, whatever code and depth",
        "indifferent-transformer" if net == "pixel-transformer" else "indifferent",
        source=OURS if net == "pixel-transformer" else SOURCE,
        supported=f"{words} fail on unseen combinations, whatever the code",
        refuted=f"{words} draw some unseen combinations nearly as well as trained ones",
        transform="log",
        needs={"net": [net]},
    )


CLAIMS = [
    *(fails(net, words) for net, words in PLAIN.items()),
    Claim(
        "fails-as-if-blank",
        errors_of_plain,
        at_least(0.5),
        "What MLPs and CNNs draw there is at least half as wrong as an empty picture",
        "indifferent",
        transform="log",
        needs={"net": ["mlp", "cnn-decoder"]},
    ),
    Claim(
        "coordinates-compose",
        coordinates_error,
        at_most(COMPOSES),
        "A net that shares its weights over pixels and knows where they are does not fail",
        "lookup",
        source=f"{SOURCE}, public code",
        supported="a net that shares its weights over pixels does not fail",
        refuted="a net that shares its weights over pixels fails, too",
        transform="log",
        how_often=OFTEN,
        needs={"net": [COORDINATES], "encoding": [CODE_OF_COORDINATES]},
    ),
]
