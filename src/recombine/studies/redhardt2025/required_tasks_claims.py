"""What is claimed and measured of the number that is required, and the headline."""

from __future__ import annotations

from ...lab.headlines import headline_from
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .required_tasks_readings import exponents_fall, fewer, log_likelihoods, log_likelihoods_of_space, size_exponents

OTHERWISE = "No claim on numbers is settled at this scale."

SUB_EXPONENTIAL = Claim(
    "sub-exponential",
    size_exponents,
    at_most(0.5),
    "The number needed is sub-exponential in K: for each M it grows as the space to a power of at most .5",
    "lookup",
    floor=0.02,
    needs={"net": ["mlp"]},
    supported="the number of combinations needed grows slower than the root of the space",
    refuted="the number of combinations needed grows faster than the root of the space",
)
CLAIMS = [
    SUB_EXPONENTIAL,
    Claim(
        "transformer-needs-fewer",
        fewer,
        at_least(0.25),
        "The transformer needs fewer, by at least a quarter of an octave",
        "same-arms",
        tie=0.05,
        supported="the transformer needs fewer than the MLP",
        refuted="the transformer does not need fewer than the MLP",
    ),
]

MEASUREMENTS = [
    Measurement(
        "power-against-exponential",
        log_likelihoods,
        "By how much a power of K is likelier to give what is needed than an exponential in K",
    ),
    Measurement(
        "power-against-exponential-space",
        log_likelihoods_of_space,
        "The same for the size of the space, to compare with",
    ),
]


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    """In the words of the claims, and where the number even falls as the space grows, so."""
    words = {claim.id: (claim.supported, claim.refuted) for claim in CLAIMS}
    if outcomes.get("sub-exponential") == "supported" and all(exponents_fall(part) for _, part in t.seeds()):
        words["sub-exponential"] = ("the number of combinations needed falls as the space grows", "")
    return headline_from(words, outcomes, OTHERWISE)
