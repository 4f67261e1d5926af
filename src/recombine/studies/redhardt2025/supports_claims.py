"""What is claimed and measured of supports, by what is combined."""

from __future__ import annotations

from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import supports_readings as read
from .supports_readings import COMPOSING


def claims_about(element: str) -> list[Claim]:
    """The claims of one family, of what is combined in it: the same thresholds for all of them."""
    composes = [
        Claim(
            f"{support}-composes",
            lambda t, s=support: read.gap(t, s),
            at_most(0.05),
            f"Trained on a {support} support, the held-out gap is at most .05",
            "lookup",
            description=f"gap of {support}",
        )
        for support in COMPOSING
    ]
    fails = [
        ("missing-fails", read.missing_gap, 0.15, f"With one {element} never trained, the gap is at least .15"),
        (
            "disconnected-fails",
            read.disconnected_gap,
            0.05,
            f"With two blocks of {element}s never combined, the cross-block gap is at least .05",
        ),
        (
            "disconnected-above-composing",
            read.above_composing,
            RESOLUTION,
            "The disconnected gap is above that of random, balanced and popular",
        ),
        (
            "unpopular-between",
            read.between,
            RESOLUTION,
            "The unpopular gap lies between those of popular and missing",
        ),
        (
            "unpopular-rarest",
            read.rarest_difference,
            0.05,
            f"The loss of unpopular sits in the combinations with the rarest {element}",
        ),
    ]
    return composes + [Claim(id, reading, at_least(value), text, "indifferent") for id, reading, value, text in fails]


def recipe_measurements(recipe: str) -> list[Measurement]:
    """What is measured of `disconnected` with one recipe."""
    return [
        Measurement(
            f"disconnected-gap-{recipe}",
            lambda t: read.gap(t, "disconnected", recipe),
            f"Cross-block gap at the end, {recipe} recipe",
            "cross-block gap",
        ),
        Measurement(
            f"disconnected-growth-{recipe}",
            lambda t: read.growth(t, recipe),
            f"Growth of the cross-block gap in the second half, {recipe} recipe",
            "cross-block gap at the end minus at half time",
        ),
    ]
