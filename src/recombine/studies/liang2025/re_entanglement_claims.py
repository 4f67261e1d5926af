"""What re-entanglement claims, and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .paper import OURS
from .re_entanglement_readings import (
    LAST,
    cure,
    cure_everywhere,
    fall_by_training,
    mean_fall,
    mean_fall_untrained,
    prediction,
    raised,
)

FALL = "F of the first hidden layer minus the last, mean over nets, codes and depths"
RAISED = "F of the last hidden layer with minus without the penalty, mean over nets"
CLAIMS = [
    Claim(
        "layers-re-entangle",
        fall_by_training,
        at_least(0.01),
        "Training makes F fall over the layers, by at least .01",
        "untrained",
        "F of the first hidden layer minus the last, less that before training, mean over nets, codes and depths",
        supported="training re-entangles what came in factorized",
        refuted="training does not re-entangle: layers lose as much factorization before it",
    ),
    Claim(
        "the-fall-predicts",
        prediction,
        at_least(0.5),
        "Across nets the loss of F predicts the held-out error",
        "unrelated",
        f"Spearman correlation of {LAST} with held-out error, over nets",
        source=OURS,
        supported="how much predicts the error on unseen combinations",
        refuted="how much does not predict the error on unseen combinations",
    ),
    Claim(
        "straightening-cures",
        cure,
        at_most(0.8),
        "A penalty on g01 at trained points lowers the held-out error by a fifth",
        "lookup",
        source=OURS,
        supported="keeping trained points factorized helps",
        refuted="keeping trained points factorized does not help",
    ),
    Claim(
        "straightening-everywhere-cures",
        cure_everywhere,
        at_most(0.8),
        "A penalty on g01 on the whole frame lowers the held-out error by a fifth",
        "lookup",
        source=OURS,
        supported="keeping the whole frame factorized helps",
        refuted="keeping the whole frame factorized does not help",
    ),
]
MEASUREMENTS = [
    Measurement("fall", mean_fall, "How much F falls over the layers, trained", FALL),
    Measurement("fall-untrained", mean_fall_untrained, "The same before training", FALL),
    *(
        Measurement(
            f"raised-{where}",
            lambda t, everywhere=everywhere: raised(t, everywhere),
            f"What the penalty adds to F, {words}",
            RAISED,
        )
        for where, words, everywhere in (
            ("trained", "at trained points", False),
            ("frame", "on the whole frame", True),
        )
    ),
]
