"""What `stripes` claims: each about the error of pixels, or about the place of a bump, and of one net or of each."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least, at_most
from .liang_setting import COMPOSES, LOCALIZED, OURS, SOURCE
from .stripes_readings import error_ratio, error_with_few, gain_of_place, held_out_error, loss_by_mask, place_with_few

MIXED = {"variant": ["mixed"]}
#: the CNN is the paper's decoder; that an MLP learns it too is for us to ask
NETS = {"cnn-decoder": ("a CNN", SOURCE, "lookup-cnn"), "mlp": ("an MLP", OURS, "lookup")}


def cured(net: str) -> Claim:
    words, source, control = NETS[net]
    return Claim(
        f"stripes-cure-{net}",
        held_out_error(net),
        at_most(COMPOSES),
        f"With all stripes and bumps {words} draws unseen bumps: the error is at most .1",
        control,
        source=source,
        transform="log",
        needs={"net": [net], **MIXED},
    )


def lowered(net: str) -> Claim:
    words, source, control = NETS[net]
    return Claim(
        f"stripes-lower-the-error-of-{net}",
        error_ratio(net),
        at_most(0.5),
        f"Stripes halve the held-out error of pixels of {words}",
        control,
        source=source,
        transform="log",
        needs={"net": [net], **MIXED},
    )


CLAIMS = [
    *(cured(net) for net in NETS),
    *(lowered(net) for net in NETS),
    Claim(
        "stripes-teach-where",
        gain_of_place,
        at_least(0.4),
        "Stripes put at least 40 % more of the unseen bumps in the right place, whatever net",
        "lookup",
        source=OURS,
        needs=MIXED,
    ),
    Claim(
        "ink-is-needed",
        loss_by_mask,
        at_least(0.3),
        "Stripes teach where by their ink in the hole: masked there, .3 of the places are lost, whatever net",
        "lookup",
        source=OURS,
        needs={"variant": ["mixed", "masked"]},
    ),
    Claim(
        "few-bumps-suffice",
        error_with_few,
        at_most(COMPOSES),
        "With all stripes, ten bumps are enough for a CNN to draw unseen ones: the error is at most .1",
        "lookup-cnn",
        transform="log",
        needs={"net": ["cnn-decoder"], **MIXED},
    ),
    Claim(
        "few-bumps-place",
        place_with_few,
        at_least(LOCALIZED),
        "With all stripes, ten bumps are enough to put 60 % of the unseen ones in place",
        "lookup",
        transform="logit",
        by_construction="a net that adds two stripes draws most ink where they cross, so that stripes alone put every "
        "bump in place; it says nothing of the picture, which `few-bumps-suffice` asks about",
        needs=MIXED,
    ),
]
