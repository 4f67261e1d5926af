"""check_control and check_power refuse what they are for: claims that hold where they must not, or that cannot turn."""

from __future__ import annotations

import dataclasses

import pytest
from small_studies import coin

from recombine.context import Measured
from recombine.lab import controls
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least
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


# -- scores that rise along one axis, and with nothing else -------------------------------------------------------


def scored(*claims: Claim) -> Study:
    """Scores of two kinds at three sizes, which a control replaces."""

    def measure(spec, context):
        row = {"reading": "score", "stream": "held_out", "group": "", "layer": "", "metric": "share", "asked": True}
        return Measured([row | {"value": 0.3}], {"seconds": 0.0})

    return Study(
        id="scored",
        title="Scores",
        question="What do scores rise with?",
        source="nobody",
        metric="share",
        options={"size": 1, "kind": "a"},
        vary={"options.size": [1, 2, 4], "options.kind": ["a", "b"]},
        claims=claims,
        controls={"size-alone": {"control": "unrelated:size"}},
        measure=measure,
    )


def of_kinds(t):
    """Score of one kind minus of the other, at the size in the middle."""
    return t.held_out(size=2, kind="b") - t.held_out(size=2, kind="a")


def of_sizes(t):
    """Score at the largest minus at the smallest size."""
    return t.held_out(size=4, kind="a") - t.held_out(size=1, kind="a")


def test_of_scores_that_rise_along_one_axis_nothing_else_can_be_read():
    kinds = Claim("kinds-differ", of_kinds, at_least(0.05), "Kinds differ", "size-alone")
    sizes = Claim("larger-is-better", of_sizes, at_least(0.05), "Larger is better", "size-alone")
    check_control(scored(kinds), "size-alone", 1)
    with pytest.raises(AssertionError, match="'larger-is-better' is supported in its control 'size-alone'"):
        check_control(scored(kinds, sizes), "size-alone", 1)


def test_a_control_in_which_kinds_do_differ_is_refused(monkeypatch):
    real = controls._score
    monkeypatch.setattr(controls, "_score", lambda cell, stream: real(cell, stream) + (cell.spec["at"]["kind"] == "b"))
    kinds = Claim("kinds-differ", of_kinds, at_least(0.05), "Kinds differ", "size-alone")
    with pytest.raises(AssertionError, match="'kinds-differ' is supported in its control"):
        check_control(scored(kinds), "size-alone", 1)
