"""What `stripes` claims: each about the error of pixels, or about the place of a bump."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least, at_most
from .paper import COMPOSES, LOCALIZED, OURS
from .stripes_readings import gain_of_place, least_error, loss_by_mask, loss_of_error, place_with_few

CLAIMS = [
    Claim(
        "stripes-cure",
        least_error,
        at_most(COMPOSES),
        "With all stripes and bumps a plain decoder draws unseen bumps: the error is at most .1",
        "lookup",
    ),
    Claim(
        "stripes-lower-the-error",
        loss_of_error,
        at_most(0.5),
        "Stripes halve the held-out error of pixels",
        "lookup",
    ),
    Claim(
        "stripes-teach-where",
        gain_of_place,
        at_least(0.4),
        "Stripes put at least 40 % more of the unseen bumps in the right place",
        "lookup",
        source=OURS,
    ),
    Claim(
        "ink-is-needed",
        loss_by_mask,
        at_least(0.3),
        "Stripes teach where by their ink in the hole: masked there, .3 of the places are lost",
        "lookup",
        source=OURS,
    ),
    Claim(
        "few-bumps-suffice",
        place_with_few,
        at_least(LOCALIZED),
        "With all stripes, ten bumps are enough to put 60 % of the unseen ones in place",
        "lookup",
    ),
]
