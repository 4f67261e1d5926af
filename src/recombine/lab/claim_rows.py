"""What the picture of a claim shows, as tidy rows: one dot per seed, one interval per look."""

from __future__ import annotations

import math
from typing import Any

from ..charts.claim_sequence import claim_sequence
from ..charts.figure import Figure
from .sequential import TRANSFORMS
from .verdicts import Verdict


def sequence_rows(verdict: Verdict) -> list[dict[str, Any]]:
    """Rows of kind "seed" (seeds, seed, value) and "look" (seeds, low, high, mean), in the order of seeds.

    Of a claim about how often, a seed is 1 on the claim's side and 0 off it.
    """
    cell, claim = verdict.lead, verdict.claim
    transform = TRANSFORMS[claim.transform]
    values = {
        seed: float(claim.bound.holds(value)) if claim.how_often is not None else value
        for seed, value in cell.values.items()
    }
    rows: list[dict[str, Any]] = [
        {"kind": "seed", "seeds": number, "seed": seed, "value": value}
        for number, (seed, value) in enumerate(values.items(), start=1)
        if math.isfinite(value)
    ]
    known = list(values.values())
    for seeds, low, high in cell.judgement.looks if cell.met else ():
        if low > high:  # no value is left: there is nothing to draw
            break
        so_far = known[:seeds]
        if claim.how_often is None and all(map(transform.takes, so_far)):
            y = transform(so_far, claim.resolution)
            mean = float(transform.back(y.mean()))
        else:
            mean = sum(so_far) / len(so_far)
        rows.append({"kind": "look", "seeds": seeds, "low": low, "high": high, "mean": mean})
    return rows


def claim_figure(verdict: Verdict) -> Figure | None:
    """The picture of a claim; None where there is no seed to show."""
    rows, claim = sequence_rows(verdict), verdict.claim
    if not any(row["kind"] == "seed" for row in rows):
        return None
    often = claim.how_often is not None
    where = f" For {verdict.lead.cell}, which stands farthest from the claim's side." if verdict.lead.cell else ""
    caption = (
        "Dots are seeds, bars the confidence sequence at each look, the dashed line the threshold "
        f"({claim.wanted}).{' A dot is 1 on the claim’s side and 0 off it.' if often else ''}{where}"
    )
    return claim_sequence(
        claim.text,
        caption,
        rows,
        claim.how_often if claim.how_often is not None else claim.threshold,
        "share of seeds" if often else "reading",
        log=claim.transform == "log" and not often,
    )
