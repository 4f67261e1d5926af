"""Planted readings for the claims of scaling-data: scores that rise along one axis, or along none."""

from __future__ import annotations


def rising(**slopes: float):
    """Held-out scores that rise with the axes named, by so much per unit."""

    def scores(at: dict) -> dict[str, float]:
        return {"test": 0.9, "held_out": 0.4 + sum(slope * at[axis] for axis, slope in slopes.items())}

    return scores


CLAIMS = {
    "rises-with-coverage": (rising(held_out=-0.3), rising(held_out=0.2)),
    "rises-with-modules": (rising(modules=0.01), rising(modules=-0.02)),
    "rises-with-active": (rising(at_most=0.05), rising(at_most=-0.05)),
}
OTHERS = {f"{claim}-{one}": planted for claim, planted in CLAIMS.items() for one in ("transformer", "deep-teacher")}
#: of preferences the rise with K is asked at the scale that has several
PREFERENCES = CLAIMS | {"rises-with-active": (*CLAIMS["rises-with-active"], "paper")}
PLANTED = {"scaling-data": CLAIMS | OTHERS, "scaling-data-preference": PREFERENCES}
