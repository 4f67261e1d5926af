"""What render claims, and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .paper import COMPOSES, OURS
from .render_readings import OTHERS, error_of, lost_alone, memorized, with_both, worst_not_separable

CLAIMS = [
    Claim(
        "rendering-composes",
        with_both,
        at_most(COMPOSES),
        "With both regularizers it draws unseen bumps: the error is at most .1",
        "lookup",
        supported="a net that must draw each factor composes",
        refuted="even a net that must draw each factor fails",
    ),
    Claim(
        "rendering-alone-memorizes",
        memorized,
        at_least(0.5),
        "Without regularizers it memorizes: the error is at least half a blank's",
        "indifferent",
        supported="without regularizers it memorizes",
        refuted="without regularizers it composes, too",
    ),
    Claim(
        "both-are-needed",
        lost_alone,
        at_least(2.0),
        "Neither regularizer alone will do: the error is at least twice that of both",
        "indifferent",
        source=OURS,
    ),
    Claim(
        "other-shapes",
        worst_not_separable,
        at_most(COMPOSES),
        "It also draws unseen shapes that are no product of stripes",
        "lookup",
        source=OURS,
        supported="shapes that are no product of stripes come out, too",
        refuted="other shapes do not come out",
    ),
]
MEASUREMENTS = [
    Measurement(
        "as-published", error_of("as-published"), "Held-out error with the variance of raw vectors, as published"
    ),
    *(
        Measurement(target, error_of("both", target), f"Held-out error on {words}, both regularizers")
        for target, words in OTHERS.items()
    ),
]
