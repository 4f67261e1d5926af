"""Readings of `stripes`: what stripes add to the place of unseen bumps, and to their pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...lab.study_table import Missing, StudyTable
from ...lab.verdicts import Reading
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
        raise Missing(f"{what} was not run")
    drawn.learned(part, what)
    return drawn.score(part, metric, "held_out", what)


def held_out_error(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Held-out error with all stripes and bumps."""
        return held_out(t, "error", net, stripes="all")

    return reading


def error_ratio(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Held-out error with all stripes by that with none."""
        return held_out(t, "error", net, stripes="all") / held_out(t, "error", net, stripes="none")

    return reading


def of_each_net(t: StudyTable, read: Callable[[str], float]) -> dict[str, Any]:
    return drawn.each({net: t.where(net=net) for net in nets_of(t)}, lambda _, net: read(net))


def gain_of_place(t: StudyTable) -> dict[str, Any]:
    """Share localized with all stripes minus with none, each net."""
    return of_each_net(
        t, lambda net: held_out(t, "localized", net, stripes="all") - held_out(t, "localized", net, stripes="none")
    )


def loss_by_mask(t: StudyTable) -> dict[str, Any]:
    """Share localized, full minus masked stripes, each net."""
    return of_each_net(
        t,
        lambda net: (
            held_out(t, "localized", net, stripes="all")
            - held_out(t, "localized", net, stripes="all", variant="masked")
        ),
    )


def fewest(t: StudyTable) -> int:
    """The fewest bumps above none."""
    return int(t[t.bumps > 0].bumps.min())


def place_with_few(t: StudyTable) -> dict[str, Any]:
    """Share localized with all stripes and the fewest bumps, each net."""
    return of_each_net(t, lambda net: held_out(t, "localized", net, stripes="all", bumps=fewest(t)))


def error_with_few(t: StudyTable) -> float:
    """Held-out error of the CNN with all stripes and the fewest bumps."""
    return held_out(t, "error", "cnn-decoder", stripes="all", bumps=fewest(t))


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
