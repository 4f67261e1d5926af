"""What render claims, and what it measures beside. Training may fail here, so all but one say how often."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .liang_setting import COMPOSES, OFTEN, OURS
from .render_readings import AS_PUBLISHED, NOT_SEPARABLE, OTHERS, WORLD, error_of, lost_alone, memorized, not_separable


def on_bumps(*variants: str) -> dict[str, list[str]]:
    """The trials of some variants on bumps."""
    return {"target": [WORLD], "variant": list(variants)}


CLAIMS = [
    Claim(
        "rendering-composes",
        error_of(AS_PUBLISHED),
        at_most(COMPOSES),
        "With both regularizers as published it draws unseen bumps: the error is at most .1",
        "lookup",
        description="held-out error, both regularizers as published, weights scaled to N",
        supported="a net that must draw each factor composes",
        refuted="even a net that must draw each factor fails",
        transform="log",
        how_often=OFTEN,
        needs=on_bumps(AS_PUBLISHED),
    ),
    Claim(
        "rendering-composes-normalized",
        error_of("normalized"),
        at_most(COMPOSES),
        "So it does where the variance is that of the vectors that are used",
        "lookup",
        description="held-out error, both regularizers, variance of normalized vectors",
        source=OURS,
        transform="log",
        how_often=OFTEN,
        needs=on_bumps("normalized"),
    ),
    Claim(
        "rendering-alone-memorizes",
        memorized,
        at_least(0.5),
        "Without regularizers it memorizes: the error is at least half a blank's",
        "indifferent",
        description="held-out error, no regularizer",
        supported="without regularizers it memorizes",
        refuted="without regularizers it composes, too",
        transform="log",
        needs=on_bumps("neither"),
    ),
    Claim(
        "both-are-needed",
        lost_alone,
        at_least(2.0),
        "Neither regularizer alone will do: the error is at least twice that of both",
        "indifferent",
        source=OURS,
        transform="log",
        how_often=OFTEN,
        needs=on_bumps(AS_PUBLISHED, "entropy", "variance"),
    ),
    Claim(
        "other-shapes",
        not_separable,
        at_most(COMPOSES),
        "It also draws unseen shapes that are no product of stripes",
        "lookup",
        source=OURS,
        supported="shapes that are no product of stripes come out, too",
        refuted="other shapes do not come out",
        transform="log",
        how_often=OFTEN,
        needs={"target": list(NOT_SEPARABLE), "variant": [AS_PUBLISHED]},
    ),
]
MEASUREMENTS = [
    Measurement(target, error_of(AS_PUBLISHED, target), f"Held-out error on {words}, both regularizers")
    for target, words in OTHERS.items()
]
