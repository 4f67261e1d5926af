"""What data-efficiency claims: how needs grow with N, and what stripes save; and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .data_efficiency_readings import (
    CRITERIA,
    exponent,
    exponent_of_places,
    exponent_of_samples,
    exponent_with_stripes,
    saved_for_pixels,
    saved_for_places,
)
from .liang_setting import OURS

WHOLE = {"centers": ["whole"]}
CLAIMS = [
    Claim(
        "linear-for-pixels",
        exponent_with_stripes,
        at_most(1.5),
        "With stripes the pictures needed to draw bumps grow about as N: to a power of at most 1.5",
        "lookup",
        needs={**WHOLE, "with_stripes": [True]},
    ),
    Claim(
        "cubic-without-stripes",
        exponent_of_samples,
        at_least(2.5),
        "Without stripes the samples needed grow about as N^3: to a power of at least 2.5",
        "lookup",
        needs={"centers": ["real"]},
    ),
    Claim(
        "stripes-save-places",
        saved_for_places,
        at_least(1.0),
        "Stripes halve the number of pictures needed to put bumps in place, whatever net",
        "indifferent",
        source=OURS,
        needs=WHOLE,
    ),
    Claim(
        "stripes-save-pixels",
        saved_for_pixels,
        at_least(1.0),
        "Stripes halve the number of pictures needed to draw bumps",
        "indifferent",
        source=OURS,
        needs=WHOLE,
    ),
    Claim(
        "linear-with-stripes",
        exponent_of_places,
        at_most(1.5),
        "With stripes the pictures needed to put bumps in place grow about as N: to a power of at most 1.5",
        "lookup",
        by_construction="all 2N stripes are given, and a net that adds two of them draws most ink where they cross: no "
        "bump is needed, and 2N grows as N; `linear-for-pixels` asks about the drawing",
        needs={**WHOLE, "with_stripes": [True]},
    ),
]


def needs_of(net: str, stripes: bool, criterion: str) -> Measurement:
    words = "with stripes" if stripes else "bumps alone"
    return Measurement(
        f"{net}-{criterion}-{'stripes' if stripes else 'bumps'}",
        lambda t: exponent(t, net, stripes, criterion),
        f"Exponent for the {net}, {CRITERIA[criterion]}, {words}",
        "exponent of pictures needed against N",
    )


MEASUREMENTS = [
    needs_of(net, stripes, criterion)
    for net in ("mlp", "cnn-decoder", "coordinate-mlp")
    for criterion in CRITERIA
    for stripes in (True, False)
]
