"""What is claimed of planned combinations, of each family by itself."""

from __future__ import annotations

from functools import partial

from ...lab.scales import SCALES
from ...lab.verdicts import Claim, at_most
from .combinations_needed import plan_by_random, plan_by_variance

#: what a plan needs at most of what random needs, for the mean and for the worst 5 %
WANTED = {"mean": (0.7, "mean held-out score"), "worst": (0.6, "worst-5-% score")}
#: minutes of training learn no preferences
SCALES_OF = {"preference": ("smoke", "night", "paper")}
CONTROLS = {"hyperteacher": "indifferent", "preference": "indifferent-preference", "bumps": "same-ways-bumps"}


def claims_about(family: str) -> list[Claim]:
    """The claims on one family: against random, and against the rival that asks a Gaussian process."""
    scales = SCALES_OF.get(family, SCALES)
    saves = [
        Claim(
            f"plan-for-the-{metric}-{family}",
            partial(plan_by_random, family=family, metric=metric),
            at_most(most),
            f"In {family} plan needs at most {most:.1g} of random's combinations for the same {words}",
            CONTROLS[family],
            description="combinations of plan by those of random, geometric mean over random's scores",
            supported=f"planned combinations save at least {1 - most:.1g} of the data for the same {words} in {family}",
            refuted=f"planned combinations do not save {1 - most:.1g} of the data for the same {words} in {family}",
            needs={"family": [family], "method": ["plan", "random"]},
            scales=scales,
            transform="log",
        )
        for metric, (most, words) in WANTED.items()
    ]
    rival = Claim(
        f"plan-against-variance-{family}",
        partial(plan_by_variance, family=family),
        at_most(0.9),
        f"In {family} plan needs at most .9 of what choice by the variance of a Gaussian process needs",
        CONTROLS[family],
        description="combinations of plan by those of choice by variance, for the same mean, over its scores",
        supported=f"it beats choice by variance in {family}",
        refuted=f"it does not beat choice by variance in {family}",
        needs={"family": [family], "method": ["plan", "variance"]},
        scales=scales,
        transform="log",
    )
    return [*saves, rival]
