"""What superposition claims: of nets that fail, and of nets that are cured."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least
from .paper import OURS
from .superposition_readings import blend_over_truth, truth_over_blend

CLAIMS = [
    Claim(
        "failing-nets-superpose",
        blend_over_truth,
        at_least(0.2),
        "Trained pictures explain .2 more of what failing nets draw than the truth does",
        "indifferent-untrained",
        supported="nets that fail draw blends of trained pictures",
        refuted="what failing nets draw is no blend of trained pictures",
    ),
    Claim(
        "cured-nets-do-not",
        truth_over_blend,
        at_least(0.2),
        "The truth explains .2 more of what cured nets draw than trained pictures do",
        "indifferent",
        source=OURS,
        supported="nets that compose draw the truth",
        refuted="cured nets blend, too",
    ),
]
