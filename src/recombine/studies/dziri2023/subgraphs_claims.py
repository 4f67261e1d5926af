"""What is claimed of nets that compute step by step. The thresholds were written before any run."""

from __future__ import annotations

from functools import partial

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import subgraphs_readings as read
from .subgraphs_arms import ALL, OF_LISTS, PADDED, PRODUCTS, STEPS, USUAL, WITH_STEPS

LATER = ("night", "paper")
OURS = "ours"


def of(*arms: str) -> dict[str, list[str]]:
    return {"arm": list(arms), "data": [ALL], "net_size": [USUAL]}


CLAIMS = [
    Claim(
        "in-domain",
        read.in_domain,
        at_least(0.95),
        "New lists of trained sizes come out right, with every step, in .95 of cases",
        "lookup",
        supported="within the trained sizes new lists are no problem",
        refuted="lists of trained sizes were not learned",
        needs=of(STEPS),
    ),
    Claim(
        "first-size",
        read.drop,
        at_least(0.40),
        "The first larger size costs .40 of exact match",
        "indifferent",
        supported="one number more than in training breaks the algorithm",
        refuted="the algorithm carries to the first larger size",
        needs=of(STEPS),
    ),
    Claim(
        "largest-size",
        partial(read.learned_beyond, number=-1),
        at_most(0.05),
        "At the largest size at most .05 come out right",
        "indifferent",
        description="exact match at the largest size that was asked",
        needs=of(STEPS),
    ),
    Claim(
        "first-size-padded",
        partial(read.drop, arm=PADDED),
        at_least(0.40),
        "The first larger size costs .40 where answers of its length were trained, too",
        "indifferent-padded",
        description="exact match on trained sizes minus that on the first larger size, all texts and answers as long",
        source=OURS,
        supported="and not because answers of that length are new",
        refuted="of that loss, the new length of the answers is the larger part",
        needs=of(PADDED),
    ),
    Claim(
        "no-net-extends",
        read.two_beyond,
        at_most(0.5),
        "No net gets more than half of the lists right two sizes beyond training",
        "indifferent",
        supported="no net extends what it was trained on",
        refuted="a net goes two sizes beyond training: what is falsified is that none can",
        needs=of(*OF_LISTS),
    ),
    Claim(
        "propagation",
        read.propagation_above_local,
        at_least(0.0),
        "At deep layers more errors follow from earlier ones than are new",
        "scattered",
        needs=of(*WITH_STEPS),
    ),
    Claim(
        "correct-falls",
        read.correct_against_layer,
        at_most(-0.8),
        "The deeper the layer, the fewer of its nodes are fully correct",
        "all-or-nothing",
        needs=of(*WITH_STEPS),
    ),
    Claim(
        "frequency",
        read.right_to_wrong,
        at_least(2.0),
        "Training showed the full computations of right nodes twice as often as those of wrong nodes of their layer",
        "scattered",
        transform="log",
        needs=of(*WITH_STEPS),
    ),
    Claim(
        "frequency-same-size",
        partial(read.right_to_wrong, same_size=True),
        at_least(2.0),
        "And so it is among nodes of one layer and one size",
        "scattered",
        description="how often training showed right nodes, by that of wrong ones of their layer and size",
        source=OURS,
        transform="log",
        needs=of(*WITH_STEPS),
    ),
    Claim(
        "information",
        read.accuracy_against_gain,
        at_least(0.7),
        "Digits of products that a pair of digits tells are those that come out right",
        "unrelated",
        needs=of(PRODUCTS),
    ),
    Claim(
        "scale-buys-coverage",
        read.gain_of_data,
        at_least(0.5),
        "A hundred times the data raise exact match on new lists of trained sizes by .5",
        "same-arms",
        source=OURS,
        scales=LATER,
        needs={"arm": [STEPS], "net_size": [USUAL]},
    ),
    Claim(
        "scale-buys-no-size",
        read.beyond_by_scale,
        at_most(0.05),
        "Whatever the data and the net, at most .05 come out right at the first larger size",
        "indifferent-scales",
        source=OURS,
        scales=LATER,
        needs={"arm": [STEPS]},
    ),
]

MEASUREMENTS = [
    Measurement("unseen", read.unseen, "Steps of the first larger size that training never showed, as a share"),
    Measurement("stops-early", read.stops_early, "Answers of the first larger size that end where trained ones do"),
    Measurement("not-written", read.not_written, "Steps of the first larger size that are not written"),
    Measurement(
        "not-written-padded",
        partial(read.not_written, arm=PADDED),
        "And where all texts and answers are equally long",
        "share of the steps of the first larger size that are not written, padded",
    ),
]
