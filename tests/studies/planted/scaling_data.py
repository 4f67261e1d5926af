"""Planted readings for the claims of scaling-data: scores that rise along one axis, or along none."""

from __future__ import annotations


def rising(**slopes: float):
    """Held-out scores that rise with the axes named, by so much per unit."""

    def scores(at: dict) -> dict[str, float]:
        return {"test": 0.9, "held_out": 0.4 + sum(slope * at[axis] for axis, slope in slopes.items())}

    return scores


CLAIMS = {
    "rises-with-coverage": (rising(held_out=-0.3), rising()),
    "rises-with-modules": (rising(modules=0.01), rising(modules=-0.005)),
    "rises-with-active": (rising(at_most=0.05), rising(at_most=-0.05)),
}
PLANTED = {"scaling-data": CLAIMS, "scaling-data-preference": CLAIMS}
