"""What data-efficiency claims: how needs grow with N, and what stripes save."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least, at_most
from .data_efficiency_readings import exponent_of_bumps, exponent_with_stripes, saved_for_pixels, saved_for_places
from .paper import OURS

CLAIMS = [
    Claim(
        "linear-with-stripes",
        exponent_with_stripes,
        at_most(1.5),
        "With stripes the pictures needed grow about as N: to a power of at most 1.5",
        "lookup",
    ),
    Claim(
        "cubic-without-stripes",
        exponent_of_bumps,
        at_least(2.5),
        "Without stripes they grow about as N^3: to a power of at least 2.5",
        "lookup",
    ),
    Claim(
        "stripes-save-places",
        saved_for_places,
        at_least(1.0),
        "Stripes halve the number of pictures needed to put bumps in place",
        "lookup",
        source=OURS,
    ),
    Claim(
        "stripes-save-pixels",
        saved_for_pixels,
        at_least(1.0),
        "Stripes halve the number of pictures needed to draw bumps",
        "lookup",
        source=OURS,
    ),
]
