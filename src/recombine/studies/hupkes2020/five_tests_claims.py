"""What is claimed of nets on the five tests. The thresholds are ours, and were written before any run."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import five_tests_readings as read

LATER = ("night", "paper")

CLAIMS = [
    Claim(
        "task",
        lambda t: read.of_every_net(t, "task"),
        at_least(0.75),
        "Of new expressions every net answers .75 right",
        "lookup",
        description="exact match on expressions held out at random",
        supported="nets learn the task",
        refuted="a net does not learn the task",
        needs={"test": ["task"]},
    ),
    Claim(
        "systematicity",
        lambda t: read.cost(t, "systematicity"),
        at_least(0.10),
        "Pairs of functions that were never trained side by side cost every net .10",
        "indifferent-costs",
        description="exact match on new expressions minus that on those with a pair of functions held out",
        supported="functions that were never seen together are often not put together",
        refuted="a net puts together functions that it never saw together",
        needs={"test": ["task", "systematicity"]},
    ),
    Claim(
        "productivity",
        lambda t: read.cost(t, "productivity"),
        at_least(0.20),
        "Expressions of more functions than any that was trained cost every net .20",
        "indifferent-costs",
        description="exact match on new expressions minus that on those of more functions",
        supported="longer expressions than those of training come out wrong",
        refuted="a net goes on to longer expressions than it was trained on",
        needs={"test": ["task", "productivity"]},
    ),
    Claim(
        "localism",
        lambda t: read.consistency(t, "task", "localism"),
        at_most(0.75),
        "Computed step by step, every net gives at most .75 of its answers again",
        "indifferent",
        description="share of answers that are the same as step by step",
        supported="nets do not compute what is within an expression as they do by itself",
        refuted="a net answers whole expressions as it does step by step",
        needs={"test": ["task"]},
    ),
    Claim(
        "substitutivity",
        lambda t: read.consistency(t, "task", "substitutivity"),
        at_most(0.95),
        "With a synonym that was only trained alone, every net gives at most .95 of its answers again",
        "indifferent",
        description="share of answers that are the same with a synonym",
        supported="what was only seen alone is not taken for a synonym",
        refuted="a net takes for a synonym what it only saw alone",
        needs={"test": ["task"]},
    ),
    Claim(
        "synonyms-by-use",
        read.gain_of_use,
        at_least(0.05),
        "Synonyms that are used like the word are taken for it more often than those seen alone, by .05",
        "same-arms",
        scales=LATER,
        needs={"test": ["task", read.EQUAL]},
    ),
    Claim(
        "overgeneralizes",
        read.peak,
        at_least(0.50),
        "At its peak, every net answers half of the exceptions by the rule",
        "no-rule",
        supported="nets follow the rule before they learn its exceptions",
        refuted="a net learns exceptions without following the rule first",
        scales=LATER,
        needs={"test": [read.OVER, read.NO_RULE]},
    ),
]

MEASUREMENTS = [
    Measurement("memorized", read.memorized, "Exceptions that are answered as trained in the end"),
]
