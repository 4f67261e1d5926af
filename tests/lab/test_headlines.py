"""Headlines: what came out, in one sentence."""

from __future__ import annotations

import pytest

from recombine.lab.headlines import headline_of
from recombine.lab.verdicts import Claim, at_least


def claim(id: str, supported: str) -> Claim:
    return Claim(id, lambda t: t.value.mean(), at_least(0.5), "text", "control", "reads", supported=supported)


@pytest.mark.parametrize(
    "said, outcome, words",
    [
        ("it rises", "supported", "It rises."),
        ("it rises", "open", "Nothing is settled."),
        ("", "supported", "Of 2 claims: 1 supported."),
        ("", "refuted", "Of 2 claims: 1 refuted."),
        ("", "tie", "Nothing is settled."),
    ],
)
def test_a_headline_says_what_was_settled_and_that_something_was(said, outcome, words):
    claims = [claim("c", said), claim("other", "")]
    assert headline_of(claims, {"c": outcome, "other": "open"}, "Nothing is settled.") == words
