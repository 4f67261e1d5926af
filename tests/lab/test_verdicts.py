"""Verdicts: what the seeds of a study decide, seed by seed, cell by cell, and what is in the way where they do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from seed_values import claim, table

import recombine as rc
from recombine.lab.plain_rows import PlainRows
from recombine.lab.study_table import Censored, Missing, PreconditionFailed, StudyTable
from recombine.lab.verdicts import OUTCOMES, Measurement, Verdict, counts, judge, measured
from recombine.statistics.intervals import over_seeds

DECIDED = ("supported", "refuted", "tie")
sides = st.sampled_from(["at least", "at most"])
many = st.lists(st.floats(-1, 1), min_size=3, max_size=30)


def by_seed(**at: Any):
    """A reading that gives what is named for a seed (s3=...), raises it if it is an exception, else the value."""

    def reading(part: StudyTable) -> Any:
        found = at.get(f"s{part.seed.iloc[0]}", part.value.mean())
        if isinstance(found, Exception):
            raise found
        return found

    return reading


# -- intervals over seeds ---------------------------------------------------------------------------------------------
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9))
@settings(deadline=None)
def test_interval_is_that_of_student(values):
    interval = over_seeds(values)
    if np.std(values) == 0:
        assert interval.low == interval.high == pytest.approx(values[0])
        return
    low, high = scipy.stats.t.interval(0.95, len(values) - 1, np.mean(values), scipy.stats.sem(values))
    assert interval.low == pytest.approx(low, abs=1e-9) and interval.high == pytest.approx(high, abs=1e-9)


def test_interval_of_few_values():
    assert math.isnan(over_seeds([]).mean) and over_seeds([1.0]).low == -math.inf
    with pytest.raises(ValueError, match="NaN"):
        over_seeds([1.0, math.nan])


def scored(seeds: int) -> StudyTable:
    """A trial per seed and support, with a score on what was trained, on what was held out, and with a wrong code."""
    shared = {"reading": "score", "metric": "r2", "group": ""}
    values = {"test": 0.9, "held_out": 0.7, "blind": 0.2}
    rows = [
        shared | {"cell": f"{seed}{name}", "seed": seed, "support": name, "stream": stream, "value": value + seed / 100}
        for seed in range(seeds)
        for name in ("near", "far")
        for stream, value in values.items()
    ]
    return StudyTable(pd.DataFrame(rows).assign(asked=lambda rows: rows.stream == "held_out"), "r2")


def test_claims_that_ask_for_the_same_scores_find_them(monkeypatch):
    """Of 300 claims the first reads each seed's scores, and the others are judged by these."""
    seen, found = [], PlainRows.values
    monkeypatch.setattr(PlainRows, "values", lambda *asked: seen.append(asked) or found(*asked))
    t = scored(8)
    for number in range(300):
        verdict = judge(claim(threshold=number / 300, reading=lambda t: t.gap(support="near")), t, "laptop")
        assert verdict.values == pytest.approx({seed: 0.2 / (0.8 - seed / 100) for seed in range(8)})
    assert len(seen) == 8 * len(["test", "held_out", "blind"])


def test_what_was_read_at_one_place_is_not_taken_for_another():
    t = scored(2)
    assert t.where(seed=0).score("test", support="near") == t.where(seed=0).score("test", support="far") == 0.9
    assert t.score("test", support="near", seed=1) == 0.91 and t.score(support="near", seed=1) == 0.71
    assert t.score("test", support=["near"], seed=[0]) == 0.9  # several places are no key
    with pytest.raises(Missing, match="twice"):
        t.score("test", support="near")
    with pytest.raises(Missing, match="no score"):
        t.score("test", support="nowhere")


# -- one number per seed ----------------------------------------------------------------------------------------------
@given(many, st.floats(-1, 1), sides)
@settings(deadline=None)
def test_a_claim_is_judged_as_anybodys_seeds_are(values, threshold, side):
    verdict = judge(claim(side, threshold), table(*values), "smoke")
    bound = {"at_least" if side == "at least" else "at_most": threshold}
    own = rc.verdict(values, **bound)
    assert verdict.outcome == own.outcome and verdict.judgement == own
    assert verdict.scale == "smoke" and verdict.to_json()["seeds"] == own.n
    outside = bool(own.looks) and not own.low <= own.mean <= own.high  # later seeds speak against earlier ones
    assert (verdict.why != "") == (own.outcome == "open" or outside)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_seeds_than_the_first_look_leave_it_open(n):
    verdict = judge(claim(), table(*[9.0] * n), "laptop")
    assert verdict.outcome == "open" and verdict.why and verdict.would_decide == ""


def test_transform_tie_and_floor_are_those_of_the_claim():
    values = [1.5, 1.7, 1.6, 1.9, 1.6, 1.7]
    asked: list[dict[str, Any]] = [{"transform": "log"}, {"transform": "log", "tie": 0.5}, {"floor": 2.0}, {"tie": 5.0}]
    for more in asked:
        own: dict[str, Any] = {"scale" if name == "transform" else name: value for name, value in more.items()}
        verdict = judge(claim("at least", 1.55, **more), table(*values), "laptop")
        assert verdict.judgement == rc.verdict(values, at_least=1.55, **own)
    assert judge(claim("at least", 1.55, tie=5.0), table(*values), "laptop").outcome == "tie"


def test_what_is_not_asked_at_a_scale_is_not_read():
    verdict = judge(claim(scales=("night",), reading=lambda t: 1 / 0), table(1, 2, 3), "laptop")
    assert verdict.outcome == "not asked" and "night" in verdict.why and verdict.e_value is None


def test_what_holds_by_construction_is_shown_and_is_no_evidence():
    verdict = judge(claim(by_construction="it is how the world was made"), table(9, 9, 9, 9), "laptop")
    assert verdict.outcome == "by construction" and verdict.why == "it is how the world was made"
    assert verdict.interval.mean == 9 and verdict.e_value is None
    assert (
        not any("sd" in words for words in verdict.effect_words)
        and "sd above" in judge(claim(), table(9, 9, 9), "laptop").effect_words[0]
    )


def test_rare_outcomes_are_counted_where_they_occur():
    assert [name for name, _ in counts(["supported"])] == ["supported", "refuted", "open"]
    assert [name for name, _ in counts(list(OUTCOMES))] == list(OUTCOMES)


# -- seeds that are not there, and readings that cannot be ------------------------------------------------------------
def test_a_trial_that_is_missing_blocks_and_is_never_skipped():
    reading = by_seed(s3=Missing("wide was not run"))
    verdict = judge(claim(reading=reading), table(*[0.4, 0.6] * 4), "laptop")
    assert verdict.outcome == "open" and verdict.judgement.n == 3 and verdict.why == "seed 3: wide was not run"
    assert list(verdict.values) == [0, 1, 2]
    blocked = judge(claim(), table(*[0.4, 0.6] * 4), "laptop", {2: "wide has no record"})
    assert blocked.judgement.n == 2 and blocked.why == "seed 2: wide has no record"
    both = judge(claim(reading=by_seed(s1=NOT_LEARNED)), table(*[0.4, 0.6] * 4), "laptop", {4: "wide has no record"})
    assert both.why.startswith("seed 4: wide has no record; learned in 3 of 4 seeds")


def test_a_seed_that_is_not_there_blocks():
    holes = StudyTable(pd.DataFrame({"seed": [0, 1, 3, 4, 5], "value": [0.9, 0.91, 0.92, 0.9, 0.93]}), "r2")
    verdict = judge(claim(), holes, "laptop")
    assert verdict.outcome == "open" and verdict.judgement.n == 2 and "seed 2" in verdict.why


@pytest.mark.parametrize(
    "bad, words",
    [
        ("much", "'much'"),
        (math.nan, "NaN"),
        (math.inf, "infinite"),
        (-1e200, "too large"),
        (None, "None"),
        ({"a": 1.0}, "'a'"),
        (Censored(2, 1), "2 to 1"),
        (KeyError("width"), "KeyError"),
        (True, "True"),
    ],
)
def test_a_reading_that_cannot_be_is_an_error_of_the_study_and_takes_nothing_with_it(bad, words):
    verdict = judge(claim(reading=by_seed(s5=bad)), table(*[0.4, 0.6] * 4), "laptop")
    assert verdict.outcome == "open" and verdict.judgement.n == 4  # the last whole look
    assert verdict.error.startswith("seed 5: ") and words in verdict.error and verdict.error in verdict.why
    assert not verdict.may_be_fed and "error of the study" in verdict.why
    later = judge(claim(reading=by_seed(s5=bad)), table(*[0.9, 0.91] * 4), "laptop")
    assert later.outcome == "supported" and words in later.why


def test_a_reading_beyond_the_scale_of_its_claim_is_an_error_of_the_study():
    verdict = judge(claim(transform="log"), table(1, 2, -1, 3), "laptop")
    assert verdict.outcome == "open" and "-1" in verdict.error and "'log'" in verdict.error


def test_another_set_of_cells_for_one_seed_is_an_error_of_the_study():
    verdict = judge(claim(reading=by_seed(s0={"a": 1.0, "b": 2.0}, s1={"a": 1.0})), table(1, 1, 1, 1), "laptop")
    assert verdict.outcome == "open" and "'a', 'b'" in verdict.error and "seed 1" in verdict.error


# -- preconditions ----------------------------------------------------------------------------------------------------
NOT_LEARNED = PreconditionFailed("random was not learned")


def test_seeds_that_did_not_learn_are_counted_and_the_others_judged_where_most_do():
    reading = by_seed(s1=NOT_LEARNED)
    few = judge(claim(reading=reading), table(*[0.9, 0.92] * 3), "laptop")
    assert few.outcome == "open" and "learned in 5 of 6 seeds" in few.why and "random was not learned" in few.why
    enough = judge(claim(reading=reading), table(*[0.9, 0.92] * 8), "laptop")
    assert enough.outcome == "supported" and "learned in 15 of 16 seeds" in enough.why
    assert enough.judgement == rc.verdict([0.9, *[0.9, 0.92] * 7], at_least=0.5)


def test_a_decision_stays_when_a_later_seed_does_not_learn():
    values = [0.9, 0.92, 0.91, 0.9]
    assert judge(claim(), table(*values), "laptop").outcome == "supported"
    later = judge(claim(reading=by_seed(s4=NOT_LEARNED, s5=NOT_LEARNED)), table(*values, 0, 0), "laptop")
    assert later.outcome == "supported" and later.decided_at == 3 and "learned in 4 of 6" in later.why


def test_where_no_seed_learned_there_is_nothing_to_judge():
    every = {f"s{seed}": NOT_LEARNED for seed in range(8)}
    verdict = judge(claim(reading=by_seed(**every)), table(*[1] * 8), "laptop")
    assert verdict.outcome == "open" and "learned in 0 of 8" in verdict.why and verdict.hopeless
    assert "change the reading or the scale" in verdict.would_decide


# -- censored readings ------------------------------------------------------------------------------------------------
def test_censored_readings_decide_if_both_ends_do():
    values = [0.9, 0.92, 0.91, 0.9]
    inside = judge(claim(reading=by_seed(s3=Censored(0.85, 0.95))), table(*values), "laptop")
    assert inside.outcome == "supported" and inside.lead.censored == {3: (0.85, 0.95)}
    across = judge(claim(reading=by_seed(s1=Censored(-3, 0.95))), table(*values), "laptop")
    assert across.outcome == "open" and "interval" in across.why
    low, high = across.lead.ends
    assert low == rc.verdict([0.9, -3, 0.91, 0.9], at_least=0.5)
    assert high == rc.verdict([0.9, 0.95, 0.91, 0.9], at_least=0.5)


def test_what_was_never_reached_refutes_that_it_is_reached_early_and_supports_nothing_beyond():
    never = {f"s{seed}": Censored(low=100 + seed) for seed in range(4)}
    readings = table(*[1] * 4)
    assert judge(claim("at most", 10, reading=by_seed(**never)), readings, "laptop").outcome == "refuted"
    assert judge(claim("at least", 10, reading=by_seed(**never)), readings, "laptop").outcome == "supported"
    beyond = judge(claim("at most", 1000, reading=by_seed(**never)), readings, "laptop")
    assert beyond.outcome == "open" and beyond.hopeless


# -- how often, and for every X ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("side, good", [("at least", 0.9), ("at most", 0.1)])
def test_how_often_counts_seeds_on_the_side_of_the_bound(side, good):
    often = claim(side, 0.5, how_often=0.75)
    assert judge(often, table(*[good] * 16), "laptop").outcome == "open"
    assert judge(often, table(*[good] * 24), "laptop").outcome == "supported"
    assert judge(often, table(*[1 - good] * 4), "laptop").outcome == "refuted"
    mixed = judge(often, table(*[good, 1 - good] * 4), "laptop")
    assert mixed.outcome == "open" and mixed.on_side == (4, 8) and mixed.interval.mean == 0.5


def cells_reading(**shifts: float):
    return lambda part: {name: part.value.mean() + shift for name, shift in shifts.items()}


def test_a_claim_for_every_x_is_supported_if_every_cell_is():
    values = [0.6, 0.62, 0.64, 0.61]
    assert judge(claim(reading=cells_reading(a=0, b=0.3)), table(*values), "laptop").outcome == "supported"
    one_open = judge(claim(reading=cells_reading(a=0, b=-0.12)), table(*values), "laptop")
    assert one_open.outcome == "open" and one_open.lead.cell == "b" and "b" in one_open.why
    assert [cell["verdict"] for cell in one_open.to_json()["cells"]] == ["supported", "open"]


def test_it_is_refuted_if_some_cell_is_at_its_share_of_the_level():
    values = [0.6, 0.62, 0.64, 0.61]
    verdict = judge(claim(reading=cells_reading(a=0.0, b=-0.4)), table(*values), "laptop")
    assert verdict.outcome == "refuted" and verdict.lead.cell == "b"
    near = table(0.42, 0.45, 0.40, 0.43)  # alone it is refuted; as one of forty it is not yet
    assert judge(claim(), near, "laptop").outcome == "refuted"
    forty = {f"c{number}": 0.0 for number in range(40)}
    assert judge(claim(reading=cells_reading(**forty)), near, "laptop").outcome == "open"


def test_no_more_than_one_claim_in_twenty_is_refuted_by_chance_among_many_cells():
    """All cells at the threshold: refutation at level .05 / m over m cells."""
    rng, wrong = np.random.default_rng(4), 0
    for _ in range(150):
        drawn = rng.standard_normal((8, 5))
        reading = lambda part, drawn=drawn: dict(enumerate(drawn[int(part.seed.iloc[0])].tolist()))  # noqa: E731
        wrong += judge(claim("at least", 0.0, reading=reading, tie=0), table(*[0] * 8), "laptop").outcome == "refuted"
    assert wrong <= scipy.stats.binom.ppf(0.999, 150, 0.025)


def test_a_cell_may_fail_its_precondition_alone():
    reading = by_seed(
        **{f"s{seed}": {"a": 0.9 + seed / 100, "b": NOT_LEARNED if seed == 1 else 0.8} for seed in range(16)}
    )
    verdict = judge(claim(reading=reading), table(*[0] * 16), "laptop")
    assert verdict.outcome == "supported" and "learned in 15 of 16 seeds (b)" in verdict.why


# -- what stays -------------------------------------------------------------------------------------------------------
kinds = st.sampled_from(["plain", "often", "every", "censored", "learned"])


def odd_reading(kind: str) -> Any:
    """Readings of each kind, made of the value of a seed."""

    def reading(part: StudyTable) -> Any:
        value, seed = float(part.value.mean()), int(part.seed.iloc[0])
        if kind == "every":
            return {"a": value, "b": value + 0.3}
        if kind == "censored" and seed % 4 == 1:
            return Censored(value, value + 0.2)
        if kind == "learned" and seed % 5 == 4:
            raise PreconditionFailed("it was not learned")
        return value

    return reading


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40), st.floats(-1, 1), sides, kinds)
@settings(deadline=None, max_examples=60)
def test_a_decided_claim_never_changes_when_seeds_are_added(values, threshold, side, kind):
    asked = claim(side, threshold, reading=odd_reading(kind), how_often=0.4 if kind == "often" else None)
    verdicts = [judge(asked, table(*values[:n]), "laptop") for n in range(1, len(values) + 1)]
    decided = [(one.outcome, one.decided_at) for one in verdicts if one.outcome in DECIDED]
    assert len(set(decided)) <= 1
    if decided:
        first = next(i for i, one in enumerate(verdicts) if one.outcome in DECIDED)
        assert all(one.outcome == decided[0][0] for one in verdicts[first:])
        assert first + 1 == decided[0][1]


def test_a_sequence_without_a_value_left_says_that_seeds_disagree_with_themselves():
    verdict = judge(claim("at least", 0.5, floor=1e-3, tie=0), table(*[0.5] * 3, *[0.9] * 9), "laptop")
    assert verdict.outcome == "open" and "disagree with themselves" in verdict.why


def test_a_decision_that_later_seeds_speak_against_stays_and_says_so():
    early = claim("at least", 0.4, floor=1e-3, tie=0)
    verdict = judge(early, table(*[0.5] * 3, *[0.1] * 9), "laptop")
    assert (verdict.outcome, verdict.decided_at) == ("supported", 3)
    assert "disagree with themselves" in verdict.why and verdict.why in verdict.notes
    assert "disagree" not in judge(early, table(*[0.5] * 12), "laptop").why
    outside = judge(claim("at least", 0.4), table(*[0.5] * 3, 1.4, 0.5, 1.4), "laptop")
    assert outside.outcome == "supported" and not outside.judgement.disagree
    assert outside.judgement.mean > outside.judgement.high and "the mean of all seeds is none" in outside.why


# -- which trials a claim reads ---------------------------------------------------------------------------------------
def test_needs_name_trials_by_values_or_by_a_question():
    at = [{"support": s, "width": w} for s in ("random", "missing") for w in (8, 16)]
    assert [claim(needs={"support": ["random"]}).reads(one) for one in at] == [True, True, False, False]
    assert [claim(needs={"width": 8}).reads(one) for one in at] == [True, False, True, False]
    assert [claim(needs=lambda one: one["width"] > 8).reads(one) for one in at] == [False, True, False, True]
    assert all(claim().reads(one) for one in at)


def test_the_hash_of_a_claim_is_that_of_its_rule():
    same = claim()
    assert same.hash == claim(reading=lambda t: 0.0).hash
    others = [
        claim("at most"),
        claim(threshold=0.6),
        claim(transform="log"),
        claim(tie=0.3),
        claim(floor=0.1),
        claim(how_often=0.75),
    ]
    assert len({same.hash, *(one.hash for one in others)}) == 7


@pytest.mark.parametrize(
    "more, words",
    [
        (dict(transform="lag"), ["'lag'", "log"]),
        (dict(transform="log", threshold=-1.0), ["-1", "'log'"]),
        (dict(how_often=75), ["how_often=75", ".75"]),
        (dict(tie=-1), ["tie=-1", "0 or more"]),
        (dict(floor=0), ["floor=0", "above 0"]),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused_where_it_is_written(more, words):
    with pytest.raises(rc.UserError) as refusal:
        claim(**more)
    for word in words:
        assert word in str(refusal.value)


# -- measured without a threshold -------------------------------------------------------------------------------------
def test_a_question_is_answered_without_a_threshold():
    asked = Measurement("q", lambda t: t.value.mean(), "text", "reads")
    assert measured(asked, table(1.0, 2.0, 3.0))[1] == {0: 1, 1: 2, 2: 3}
    interval, values = measured(asked, table(1.0, -math.inf, 3.0))
    assert interval.mean == 2 and values == {0: 1, 2: 3}


def test_json_holds_what_was_decided_and_by_what():
    found = judge(claim(), table(0.9, 0.91, 0.92, 0.9), "laptop").to_json()
    assert found["verdict"] == "supported" and found["on_side"] == [4, 4] and found["decided_at"] == 3
    assert found["by_seed"] == {"0": 0.9, "1": 0.91, "2": 0.92, "3": 0.9}
    assert found["interval"][0] > 0.5 and found["e_value"] > 1 and found["effect"] > 1
    assert isinstance(judge(claim(), table(0.9), "laptop"), Verdict)
