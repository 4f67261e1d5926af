"""What superposition claims, of nets that fail and of nets that are cured, and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least
from ...probes.kernels import KERNELS
from .liang_setting import OFTEN, OURS, SOURCE
from .superposition_readings import (
    CURED,
    FAILING,
    alike,
    blend_over_truth,
    mean_explained,
    nearer_template,
    truth_over_blend,
)

CLAIMS = [
    Claim(
        "failing-nets-superpose",
        blend_over_truth,
        at_least(0.2),
        "Trained pictures that share a factor explain .2 more of failing drawings than as many others and the truth",
        "indifferent-untrained",
        source=SOURCE + "; how it is read is ours",
        supported="nets that fail draw blends of trained pictures",
        refuted="what failing nets draw is no blend of trained pictures",
        needs={"net": list(FAILING)},
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
        how_often=OFTEN,
        needs={"net": list(CURED)},
    ),
]
MEASUREMENTS = [
    Measurement("others", mean_explained("by_others"), "As many trained pictures that share no factor, failing nets"),
    Measurement("shared", mean_explained("by_shared"), "Trained pictures that share a factor, failing nets"),
    Measurement("filled", mean_explained("by_filled"), "The truth and pictures that share none, as many"),
    Measurement("truth", mean_explained("by_truth"), "The truth, failing nets"),
    Measurement(
        "mean-code",
        mean_explained("mean_code"),
        "Correlation with the sum of the two drawings with a mean code, failing nets",
        "correlation over pixels, mean over nets",
    ),
    *(
        Measurement(f"kernel-{kernel}", mean_explained(f"kernel_{kernel}"), f"A {kernel} kernel, failing nets")
        for kernel in KERNELS
    ),
    Measurement("ssim", alike("ssim_error_held_out"), "1 - SSIM of unseen pictures with the truth, failing nets"),
    Measurement("cosine", alike("cosine_sharing"), "Cosine of an unseen drawing with trained ones that share a factor"),
    Measurement(
        "transport",
        nearer_template,
        "How much nearer failing drawings are to the template of superposition than to the truth",
    ),
]
