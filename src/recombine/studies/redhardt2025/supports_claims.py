"""What is claimed and measured of supports, by what is combined."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ...lab.study_table import RESOLUTION
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import supports_readings as read
from .supports_readings import COMPOSING, SUPPORTS

OURS = "ours: the same number of trained combinations, in two equal blocks and drawn at random"


def lies_at(*supports: str) -> dict[str, list[str]]:
    """What a claim about these supports needs."""
    return {"support": list(supports), "recipe": ["default"]}


def claims_about(element: str, published: bool = True, at_laptop: Sequence[str] = SUPPORTS) -> list[Claim]:
    """The claims of one family, of what is combined in it: the same thresholds for all of them.

    published: with those on the published disconnected split, which takes modules. at_laptop: the supports of laptop
    scale; claims about others are not asked there.
    """
    composes = [
        Claim(
            f"{support}-composes",
            lambda t, s=support: read.gap(t, s),
            at_most(0.05),
            f"Trained on a {support} support, the held-out gap is at most .05",
            "lookup",
            description=f"gap of {support}",
            needs=lies_at(support),
        )
        for support in COMPOSING
    ]
    found = [*composes, *(apart(element) if published else []), *fails(element)]
    return [claim if reads_only(claim, at_laptop) else elsewhere(claim) for claim in found]


def reads_only(claim: Claim, supports: Sequence[str]) -> bool:
    return isinstance(claim.needs, dict) and set(claim.needs["support"]) <= set(supports)


def elsewhere(claim: Claim) -> Claim:
    """The claim, not asked at laptop scale."""
    return dataclasses.replace(claim, scales=tuple(scale for scale in claim.scales if scale != "laptop"))


def apart(element: str) -> list[Claim]:
    """What the paper says of its disconnected split, which trains as many combinations as the supports that compose."""
    return [
        Claim(
            "disconnected-fails",
            read.one_apart_gap,
            at_least(0.05),
            f"Where blocks of {element}s are never combined, as published, the gap is at least .05",
            "indifferent-apart",
            needs=lies_at("one-apart"),
        ),
        Claim(
            "disconnected-above-composing",
            read.above_composing,
            at_least(RESOLUTION),
            "That gap is above those of random, balanced and popular",
            "indifferent-apart",
            needs=lies_at("one-apart", *COMPOSING),
        ),
    ]


def fails(element: str) -> list[Claim]:
    """Where a net fails, and why."""
    return [
        Claim(
            "missing-fails",
            read.missing_gap,
            at_least(0.15),
            f"With one {element} never trained, the gap is at least .15",
            "indifferent",
            needs=lies_at("missing"),
        ),
        Claim(
            "blocks-fail",
            read.above_equal_size,
            at_least(0.05),
            f"With two equal blocks of {element}s never combined, the gap is larger by .05 than with as many at random",
            "indifferent",
            source=OURS,
            scales=("smoke", "laptop", "night"),  # the paper has no such split
            needs=lies_at("disconnected", "as-many"),
        ),
        Claim(
            "unpopular-between",
            read.between,
            at_least(RESOLUTION),
            "The unpopular gap lies between those of popular and missing",
            "indifferent",
            needs=lies_at("unpopular", "popular", "missing"),
        ),
        Claim(
            "unpopular-rarest",
            read.rarest_difference,
            at_least(0.05),
            f"The loss of unpopular sits in the combinations with the rarest {element}",
            "indifferent",
            needs=lies_at("unpopular"),
        ),
    ]


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
