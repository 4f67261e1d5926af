"""check_control and check_power refuse what they are for: claims that hold where they must not, or that cannot turn."""

from __future__ import annotations

import dataclasses

import pytest
from small_studies import coin

from recombine.testing import study_checks
from recombine.testing.study_checks import check_control, check_power


def test_a_claim_that_is_supported_in_its_control_is_refused():
    check_control(coin(), "fair", 1)
    unfair = dataclasses.replace(coin(), controls={"fair": {"bias": 9.0}})
    with pytest.raises(AssertionError, match="'biased' is supported in its control 'fair'"):
        check_control(unfair, "fair", 1)


def test_the_error_is_held_over_all_control_claims_of_a_run():
    """Readings of 9, 10, 11 and 12 against 0: p is about .0003, which one claim in a thousand shows by chance."""
    unfair = dataclasses.replace(coin(), controls={"fair": {"bias": 9.0}})
    check_control(unfair, "fair", 1000)


def test_a_control_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(study_checks, "CONTROL_SECONDS", -1.0)
    with pytest.raises(AssertionError, match="control 'fair' of coin took .* core-seconds"):
        check_control(coin(), "fair", 1)


def test_a_claim_must_turn_with_what_is_planted():
    def tossed(value: float):
        return lambda at: [{"reading": "toss", "value": value}]

    check_power(coin(), "biased", holds=tossed(1.0), fails=tossed(-1.0))
    with pytest.raises(AssertionError, match="planted to be refuted and is supported"):
        check_power(coin(), "biased", holds=tossed(1.0), fails=tossed(1.0))
