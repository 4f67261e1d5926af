"""What is claimed of nets on the splits of SCAN. The thresholds were written before any run."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import systematicity_episodes as mlc
from . import systematicity_readings as read

LATER = ("night", "paper")
KEYSERS = "Keysers et al. 2020 (arXiv 1912.09713), without a number for this measure: the threshold is ours"


def every_net(split: str, **needs: list[str]) -> dict[str, list[str]]:
    return {"split": [split], "data": ["published"], **needs}


CLAIMS = [
    Claim(
        "simple",
        lambda t: read.of_every_net(t, "simple"),
        at_least(0.98),
        "Of a random fifth of the commands every net gets .98 right",
        "lookup",
        description="exact match on the random split",
        supported="new commands at random are no problem",
        refuted="a net misses commands that were held out at random",
        needs=every_net("simple"),
    ),
    Claim(
        "jump",
        lambda t: read.of_every_net(t, "add-jump", learned=True),
        at_most(0.10),
        "Trained on jump alone, every net gets at most .10 of the commands with jump right",
        "indifferent",
        description="exact match on commands with jump",
        supported="a verb that was only seen alone is not used in any command",
        refuted="a plain net uses a verb that it only saw alone",
        needs=every_net("add-jump"),
    ),
    Claim(
        "length",
        lambda t: read.of_every_net(t, "length", learned=True),
        at_most(0.25),
        "Trained on short answers, every net gets at most .25 of the long ones right",
        "indifferent-length",
        description="exact match on commands that ask for more actions than any that was trained",
        supported="longer answers than those of training come out wrong",
        refuted="a plain net gives longer answers than it was trained on",
        needs=every_net("length"),
    ),
    Claim(
        "turn-left",
        lambda t: read.of_every_net(t, "add-turn-left"),
        at_least(0.60),
        "Trained on turn left alone, every net gets .60 of the commands with turn left right",
        "lookup-left",
        description="exact match on commands with turn left",
        scales=LATER,
        needs=every_net("add-turn-left"),
    ),
    Claim(
        "around-right",
        lambda t: read.of_every_net(t, "around-right", learned=True),
        at_most(0.35),
        "Without any around right, every net gets at most .35 of the commands with it right",
        "indifferent-right",
        description="exact match on commands with around right",
        scales=LATER,
        needs=every_net("around-right"),
    ),
    Claim(
        "lstm-jump",
        read.lstm_on_jump,
        at_most(0.03),
        "An LSTM without attention gets at most .03 of the commands with jump right",
        "indifferent-lstm",
        scales=LATER,
        needs=every_net("add-jump", net=["lstm"]),
    ),
    Claim(
        "coverage-composes",
        read.gain_of_coverage,
        at_least(0.5),
        "At as many commands, 50 verbs or more instead of 4 raise exact match on jump by .5",
        "same-arms",
        scales=LATER,
        supported="what it takes is more verbs, and no other net",
        refuted="more verbs at as many commands do not make a net use a new one",
        needs={"split": ["add-jump"], "data": list(read.COVERAGE)},
    ),
    Claim(
        "divergence-hurts",
        read.against_divergence,
        at_most(-0.7),
        "Of splits of one size, nets do worse the higher the compound divergence",
        "same-divergence",
        source=KEYSERS,
        scales=LATER,
        needs={"split": list(read.DIVERGENCES)},
    ),
    *mlc.CLAIMS,
]

MEASUREMENTS = [
    Measurement("few-shot", read.gain_of_examples, "What 32 commands with jump give over one"),
    *mlc.MEASUREMENTS,
]
