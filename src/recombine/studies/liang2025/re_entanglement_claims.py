"""What re-entanglement claims, and what it measures beside."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .liang_setting import OURS
from .re_entanglement_readings import (
    cure,
    cure_everywhere,
    fall_by_training,
    mean_fall,
    mean_fall_untrained,
    prediction,
    published_fall,
    raised,
)

FALL = "F of the input minus that of the last hidden layer, mean over nets, codes and depths"
RAISED = "mean F of hidden layers where the penalty is taken, with minus without it, mean over nets"
PLAIN = {"penalty": [0.0]}
FLOOR, TIE = 0.002, 0.005  # F is read over a whole grid, and .01 of it is asked about


def cures(name: str, reading: object, where: str, words: str, everywhere: bool) -> Claim:
    return Claim(
        name,
        reading,  # type: ignore[arg-type]
        at_most(0.8),
        f"A penalty on g01 {where} lowers the held-out error by a fifth",
        "lookup",
        source=OURS,
        supported=f"keeping {words} factorized helps",
        refuted=f"keeping {words} factorized does not help",
        transform="log",
        needs={"everywhere": [False, True] if everywhere else [False]},
    )


CLAIMS = [
    Claim(
        "layers-re-entangle",
        published_fall,
        at_least(0.01),
        "F falls over the layers, by at least .01, whatever net, depth and code",
        "straightened",
        supported="layers of a trained decoder have lost factorization",
        refuted="not all layers of trained decoders lose factorization",
        needs=PLAIN,
        floor=FLOOR,
        tie=TIE,
    ),
    Claim(
        "training-re-entangles",
        fall_by_training,
        at_least(0.01),
        "Training makes F fall over the layers, by at least .01, whatever net and code",
        "straightened",
        source=OURS,
        supported="training re-entangles what came in factorized",
        refuted="training does not re-entangle all of them: with some code layers lose as much before it",
        needs=PLAIN,
        floor=FLOOR,
        tie=TIE,
    ),
    Claim(
        "the-fall-predicts",
        prediction,
        at_least(0.5),
        "Across nets the loss of F predicts the held-out error",
        "unrelated",
        source=OURS,
        supported="how much predicts the error on unseen combinations",
        refuted="how much does not predict the error on unseen combinations",
        transform="fisher",
        needs=PLAIN,
    ),
    cures("straightening-cures", cure, "at trained points", "trained points", False),
    cures("straightening-everywhere-cures", cure_everywhere, "on the whole frame", "the whole frame", True),
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
