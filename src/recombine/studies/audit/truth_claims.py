"""What audit-truth claims: the targets of the audit's design, written before any run. Each names its control."""

from __future__ import annotations

from typing import Any

from ...lab.verdicts import Bound, Claim, at_least, at_most
from . import truth_readings as readings
from .truth_readings import EXACT, NOTHING


def _claim(name: str, reading: Any, bound: Bound, text: str, false_in: str, right: str, **more: Any) -> Claim:
    return Claim(name, reading, bound, text, false_in, supported=right, refuted=f"it is not so that {right}", **more)


CLAIMS = [
    _claim(
        "ranks-unanswered",
        readings.ranks_unanswered,
        at_least(0.94),
        "Combinations without answers are ranked with AUROC .94",
        "shuffled",
        "the audit ranks combinations that nobody asked about",
        transform="logit",
    ),
    _claim(
        "ranks-few-answers",
        readings.ranks_few,
        at_least(0.97),
        "Combinations with 1 to 5 answers are ranked with AUROC .97",
        "shuffled",
        "it ranks combinations with few answers",
        transform="logit",
    ),
    _claim(
        "ranks-lottery",
        readings.ranks_lottery,
        at_least(0.8),
        "Where each combination has a rate of its own, 1 to 5 answers rank it with AUROC .80",
        "shuffled-lottery",
        "it folds in the answers of a combination",
        transform="logit",
        needs={"kind": ["lottery"]},
    ),
    _claim(
        "numbers-are-right",
        readings.error_ratio,
        at_most(0.18),
        "The risk errs by at most .18 of what the overall rate errs by",
        "shifted",
        "its risks are close to the truth",
        transform="log",
    ),
    _claim(
        "intervals-are-narrow",
        readings.interval_score,
        at_most(0.25),
        "The interval score of its 90 % intervals is at most .25",
        "shifted",
        "its intervals are narrow where they can be",
        transform="log",
    ),
    _claim(
        "intervals-cover",
        readings.covered,
        at_least(0.88),
        "At least 88 % of the 90 % intervals hold the truth",
        "shifted",
        "its intervals hold the truth",
        transform="logit",
    ),
    _claim(
        "intervals-are-no-wider-than-said",
        readings.covered,
        at_most(0.96),
        "At most 96 % of the 90 % intervals hold the truth",
        "unsure",
        "its intervals are no wider than they say",
        transform="logit",
    ),
    _claim(
        "intervals-cover-every-kind",
        readings.covered_by_kind,
        at_least(0.85),
        "In every kind of world at least 85 % of the 90 % intervals hold the truth",
        "shifted",
        "in every kind of world its intervals hold the truth",
        transform="logit",
    ),
    _claim(
        "finds-causes",
        readings.recall,
        at_least(0.9),
        "Nine of ten planted causes are found",
        "shifted",
        "it finds what makes a model fail",
        transform="logit",
    ),
    _claim(
        "findings-are-right",
        readings.precision,
        at_least(0.85),
        "At least 85 % of what is found was planted",
        "shifted",
        "what it finds is right",
        transform="logit",
    ),
    _claim(
        "innocents-are-spared",
        readings.innocent,
        at_most(0.08),
        "At most .08 parts of a cause per table are blamed by themselves",
        "margins",
        "it does not blame a part for the whole",
    ),
    _claim(
        "nothing-in-nothing",
        readings.found_in_nothing,
        at_most(0.05),
        "At most 5 % of the tables of noise and lottery have a finding",
        "planted",
        "it finds nothing where nothing is",
        transform="logit",
        needs={"kind": list(NOTHING)},
    ),
    _claim(
        "holds-is-right",
        readings.wrong_holds,
        at_most(0.01),
        "At most 1 % of what is said to hold fails",
        "shifted",
        "what it says to hold does",
        transform="logit",
    ),
    _claim(
        "calls-most",
        readings.called,
        at_least(0.75),
        "Three of four combinations are said to fail or to hold",
        "unsure",
        "it makes up its mind",
        transform="logit",
    ),
    _claim(
        "coverage-is-exact",
        readings.exact_error,
        at_most(0.02),
        "Where failure is coverage and nothing else the risk errs by at most .02",
        "shifted",
        "it is exact where failure is coverage",
        transform="log",
        needs={"kind": list(EXACT)},
    ),
    _claim(
        "additive-is-no-cause",
        readings.additive_false,
        at_most(0.2),
        "Where levels add up there are at most 2 false findings in 10 tables",
        "planted",
        "it takes no sum of levels for a pattern",
        needs={"kind": ["additive"]},
    ),
]
