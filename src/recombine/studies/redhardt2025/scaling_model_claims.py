"""What is claimed of model size."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least
from .scaling_model_readings import extra_width, width_rise


def claims_at(target: float, false_in: str = "indifferent") -> list[Claim]:
    """The claims, with widths compared at a score. false_in: the control of the claim on nonlinear encodings."""
    return [
        Claim(
            "wider-is-better",
            width_rise,
            at_least(0.05),
            "Wider is better by at least .05, and never worse on the way, for every encoding that is learned",
            "same-arms",
            supported="wider networks compose better, whatever the encoding",
            refuted="wider networks do not compose better for every encoding",
        ),
        Claim(
            "nonlinear-needs-width",
            lambda t: extra_width(t, target),
            at_least(0.25),
            f"Nonlinear encodings need a quarter octave more width for a score of {target}",
            false_in,
            description="log2 of the width needed, nonlinear minus linear, mean over encodings and depths",
            supported="nonlinear encodings need more width",
            refuted="nonlinear encodings need no more width",
        ),
    ]
