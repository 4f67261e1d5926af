"""What audit-truth claims: the thresholds of the audit's design."""

from __future__ import annotations

from ...lab.verdicts import Claim, at_least, at_most
from .truth_readings import confident, false_alarms, largest_error, least_auroc

CLAIMS = [
    Claim(
        "ranks-failures",
        least_auroc,
        at_least(0.95),
        "Where failure follows coverage, what fails is ranked above what does not",
        "shuffled",
        supported="the audit finds failures that follow from coverage",
        refuted="the audit misses failures that follow from coverage",
    ),
    Claim(
        "no-false-alarms",
        false_alarms,
        at_most(0.05),
        "Of a model that is right everywhere, at most 5 % of what is unseen is said to fail",
        "reversed",
        supported="it raises no false alarms",
        refuted="it raises false alarms",
    ),
    Claim(
        "nothing-sure-by-lot",
        confident,
        at_most(0.05),
        "Of a model that fails by lot, nothing sure is said",
        "related",
        supported="it says nothing sure about failures by lot",
        refuted="it is sure about failures by lot",
    ),
    Claim(
        "calibrated",
        largest_error,
        at_most(0.1),
        "Of ten combinations with a risk of .3, about three fail",
        "reversed",
        supported="its probabilities are calibrated",
        refuted="its probabilities are not calibrated",
    ),
]
