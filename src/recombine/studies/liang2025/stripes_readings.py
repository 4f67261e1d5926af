"""Readings of `stripes`: what stripes add to the place of unseen bumps, and to their pixels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...lab.study_table import PreconditionFailed, StudyTable
from . import drawn


def nets_of(t: StudyTable) -> list[str]:
    return list(dict.fromkeys(t.net))


def held_out(
    t: StudyTable, metric: str, net: str, *, stripes: str, bumps: int | str = "all", variant: str = "mixed"
) -> float:
    """The held-out score of a net with no or all stripes and a number of bumps; PreconditionFailed if not run."""
    what = f"{net} with {stripes} stripes and {bumps} bumps, {variant},"
    part = t.where(net=net, variant=variant)
    part = part.where(
        stripes=0 if stripes == "none" else part.stripes.max(), bumps=part.bumps.max() if bumps == "all" else bumps
    )
    if not len(part):
        raise PreconditionFailed(f"{what} was not run")
    return drawn.score(part, metric, "held_out", what)


def least_error(t: StudyTable) -> float:
    """Held-out error with all stripes and bumps, best net."""
    return min(held_out(t, "error", net, stripes="all") for net in nets_of(t))


def error_ratio(t: StudyTable, net: str) -> float:
    """Held-out error of a net with all stripes by that with none."""
    return held_out(t, "error", net, stripes="all") / held_out(t, "error", net, stripes="none")


def loss_of_error(t: StudyTable) -> float:
    """Held-out error with all stripes by that with none, geometric mean over nets."""
    return float(np.exp(np.mean([np.log(error_ratio(t, net)) for net in nets_of(t)])))


def gain_of_place(t: StudyTable) -> float:
    """Share localized with all stripes minus with none, least over nets."""
    return min(
        held_out(t, "localized", net, stripes="all") - held_out(t, "localized", net, stripes="none")
        for net in nets_of(t)
    )


def loss_by_mask(t: StudyTable) -> float:
    """Share localized, full minus masked stripes, mean over nets."""
    return difference("mixed", "masked", "localized")(t)


def place_with_few(t: StudyTable) -> float:
    """Share localized with all stripes and the fewest bumps, least over nets."""
    few = int(t[t.bumps > 0].bumps.min())  # above none
    return min(held_out(t, "localized", net, stripes="all", bumps=few) for net in nets_of(t))


def difference(variant: str, than: str, metric: str) -> Callable[[StudyTable], float]:
    """How a score differs between two ways to show stripes, with all of them and all bumps, mean over nets."""

    def read(t: StudyTable) -> float:
        return float(
            np.mean(
                [
                    held_out(t, metric, net, stripes="all", variant=variant)
                    - held_out(t, metric, net, stripes="all", variant=than)
                    for net in nets_of(t)
                ]
            )
        )

    return read
