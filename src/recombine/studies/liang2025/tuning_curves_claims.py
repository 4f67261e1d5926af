"""What tuning-curves claims, and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least
from .tuning_curves_readings import STRIPES, WORDS, of_last_layer, tuned_by_coordinates, tuned_by_stripes

CLAIMS = [
    Claim(
        "stripes-tune",
        tuned_by_stripes,
        at_least(0.05),
        "Units of nets trained with stripes are more tuned to one factor, by .05 of their variance",
        "same-arms",
        supported="stripes tune units to one factor",
        refuted="stripes do not tune units to one factor, not of every net",
        needs={"who": [who for pair in STRIPES for who in pair]},
    ),
    Claim(
        "composing-nets-are-tuned",
        tuned_by_coordinates,
        at_least(0.05),
        "Training tunes units of the net that composes more to one factor than units of plain nets",
        "same-arms",
        supported="training tunes units of the net that composes more to one factor than those of nets that fail",
        refuted="training does not tune units of the net that composes more to one factor than those of nets that fail",
        needs={"who": [who for who in WORDS if "stripes" not in who]},
    ),
]
MEASUREMENTS = [
    Measurement(f"{who}-{metric}", of_last_layer(who, metric), f"{WORDS[who]}: {words}", words)
    for metric, words in (
        ("index", "median index of the last hidden layer"),
        ("tuned", "share of its units with an index above .8"),
        ("dead", "share of its units that are dead"),
    )
    for who in WORDS
]
