"""What is claimed about nets that learn ciphers from a corpus. Thresholds were written before any run."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import embers_readings as read

OURS = "the control of McCoy et al. 2024 (arXiv 2309.13638), who ask language models: the threshold is ours"
SKEWED = {"frequency": list(read.LAWS)}

CLAIMS = [
    Claim(
        "frequency",
        read.with_frequency,
        at_least(0.7),
        "The commoner a shift is in training, the better it is decoded",
        "chance",
        description="Spearman correlation of exact match in decoding with the frequency of the shift, over 25 shifts",
        transform="fisher",
        supported="how well a shift is decoded follows how common it is",
        refuted="how well a shift is decoded does not follow how common it is",
        needs=SKEWED,
    ),
    Claim(
        "uniform",
        read.where_uniform,
        at_most(0.3),
        "Where all shifts are equally common, that order says little",
        "planted",
        description="the same correlation where all shifts are equally common, with the order of either law",
        source=OURS,
        transform="fisher",
        supported="no longer so where all are equally common",
        refuted="also where all are equally common: it is the shift itself",
        needs={"frequency": ["uniform"]},
    ),
    Claim(
        "decode-gap",
        read.decode_gap,
        at_least(0.20),
        "At shifts of middle frequency probable sentences are decoded better than improbable ones by .2",
        "chance",
        description="exact match in decoding on probable minus improbable sentences, at shifts of middle frequency",
        supported="improbable answers are missed",
        refuted="improbable answers are given as well as probable ones, or nearly",
        needs=SKEWED,
    ),
    Claim(
        "encode-gap",
        read.encode_gap,
        at_most(0.10),
        "In encoding, where every answer is gibberish, that gap is below .1",
        "planted",
        description="exact match in encoding on probable minus improbable sentences, at shifts of middle frequency",
        supported="and improbable questions matter little",
        refuted="and improbable questions matter, too",
        needs=SKEWED,
    ),
    Claim(
        "output-over-input",
        read.output_over_input,
        at_least(0.0),
        "The log-probability of the answer weighs more than that of the question",
        "chance",
        description="standardized weight of output minus that of input in a joint logistic fit",
        needs=SKEWED,
    ),
    Claim(
        "output-effect",
        read.output_effect,
        at_least(0.0),
        "The interval of the weight of the answer's log-probability excludes 0",
        "chance",
        description="lower end of the 95 % interval, over tests, of the standardized weight of output",
        needs=SKEWED,
    ),
]

MEASUREMENTS = [
    *(
        Measurement(f"weight-{name}", read.weight_of(name), f"Weight of {words}", f"standardized weight of {words}")
        for name, words in read.NUMBERS_IN_WORDS.items()
    ),
    Measurement("pairs", read.common_task_first, "The common task of a pair over the rare one"),
    Measurement("size", read.larger_minus_smaller, "What size does to the gap between levels"),
]
