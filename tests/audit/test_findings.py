"""Findings of a table: what is said of them, their intervals, rows that show them, and pairs that never occur."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine.audit.found import interval
from recombine.audit.planted_worlds import world
from recombine.audit.scorecard import examine, score


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    """Snow at night fails mostly; nothing else does."""
    rng = np.random.default_rng(0)
    levels = {"weather": ["sun", "rain", "snow"], "light": ["day", "night"], "road": ["city", "field", "wood"]}
    frame = pandas.DataFrame({name: rng.choice(own, 3000) for name, own in levels.items()})
    hard = (frame.weather == "snow") & (frame.light == "night")
    frame["right"] = (rng.random(3000) >= np.where(hard, 0.8, 0.05)).astype(int)
    frame["name"] = [f"row {i}" for i in range(3000)]
    return frame


def test_the_pair_is_named_and_its_levels_are_not(table):
    audit = rc.audit(table, "weather,light,road", outcome="right", id="name")
    (one,) = audit.findings
    held = table[(table.weather == "snow") & (table.light == "night")]
    assert one.pattern == {"weather": "snow", "light": "night"} and not one.rule
    assert one.n == one.rows == len(held) and one.combinations == 3
    assert one.rate == pytest.approx(1 - held.right.mean()) and one.low < one.rate < one.high and one.p < 1e-6
    assert len(one.examples) == 20 and set(one.examples) <= set(held[held.right == 0].name)
    assert audit.headline.startswith("Fails on 'snow' with 'night' (2")
    said = audit.to_json()
    assert said["headline"] == audit.headline and said["impossible"] == []
    assert {"pattern", "rule", "rate", "low", "high", "n", "combinations", "rows", "examples"} <= set(
        said["findings"][0]
    )
    assert "snow" not in " ".join(audit.sections()["Seen against unseen"])  # no innocent margin is blamed there


def test_without_ids_rows_are_numbered(table):
    (one,) = rc.audit(table, "weather,light,road", outcome="right").findings
    shown = table.iloc[list(one.examples)]
    assert (shown.weather == "snow").all() and (shown.light == "night").all() and (shown.right == 0).all()


def test_a_rule_is_said_in_words_and_shows_rows():
    made = world("memorizer", 0, combinations=400)
    frame = made.frame()
    factors = [name for name in frame if name.startswith("f")]
    (one,) = rc.audit(frame, factors, outcome="right", split="split", weight="times").findings
    assert one.rule == "unseen" and not one.pattern and "never trained" in one.words
    assert (frame.loc[list(one.examples), "right"] == "0").all()


def test_a_rule_names_the_pairs_that_it_is_about_those_with_most_wrong_answers_first():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({name: rng.integers(0, 5, 4000).astype(str) for name in "abc"})
    held = {
        ("a", "b"): (frame.a == "0") & (frame.b == "1"),
        ("a", "c"): (frame.a == "2") & (frame.c == "3"),
        ("b", "c"): (frame.b == "4") & (frame.c == "4") & (rng.random(4000) < 0.5),
    }
    frame = frame[~((frame.b == "4") & (frame.c == "4")) | held["b", "c"]]  # half of these rows are left: it comes last
    untrained = np.logical_or.reduce([rows[frame.index] for rows in held.values()])
    harmless = frame.astype(int).sum(axis=1) % 4 == 0  # never trained either, but all their pairs are
    frame["split"] = np.where((rng.random(len(frame)) < 0.5) & ~untrained & ~harmless, "train", "test")
    frame["right"] = (rng.random(len(frame)) >= np.where(untrained, 0.9, 0.05)).astype(int)
    (one,) = rc.audit(frame, "a,b,c", outcome="right", split="split").findings
    assert one.rule == "unseen pair" and one.untrained_in_all == 3
    wrong = [((frame[list(pair)] == pair).all(axis=1) & (frame.right == 0)).sum() for pair in one.untrained]
    assert wrong == sorted(wrong, reverse=True) and one.untrained[-1] == {"b": "4", "c": "4"}
    assert one.words.endswith(" or '4' with '4'") and "'0' with '1'" in one.words and "'2' with '3'" in one.words


def test_scores_between_right_and_wrong_are_answers_too(table):
    rng = np.random.default_rng(1)
    scored = table.assign(right=np.where(table.right == 1, 0.9, 0.3) + 0.05 * rng.random(len(table)))
    (one,) = rc.audit(scored, "weather,light,road", outcome="right").findings
    assert one.pattern == {"weather": "snow", "light": "night"} and 0.4 < one.rate < 0.7


def test_pairs_that_never_occur_though_expected_are_named_with_both_readings(table):
    without = table[~((table.weather == "rain") & (table.road == "wood"))]
    audit = rc.audit(without, "weather,light,road", outcome="right")
    (one,) = audit.impossible
    assert one.pattern == {"weather": "rain", "road": "wood"}
    expected = (without.weather == "rain").sum() * (without.road == "wood").sum() / len(without)
    assert one.expected == pytest.approx(expected)
    assert "impossible, or a blind spot?" in str(one) and not rc.audit(table, "weather,light,road").impossible
    assert not rc.audit(without.head(30), "weather,light,road").impossible  # of so few rows none are expected


@pytest.mark.parametrize("rho", [0.0, 0.2])
def test_nine_of_ten_intervals_of_a_rate_hold_it(rho):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(600):
        n = rng.integers(1, 40, 25).astype(float)
        p = rng.beta(0.3 * (1 / rho - 1), 0.7 * (1 / rho - 1), 25) if rho else np.full(25, 0.3)
        low, high = interval(n, rng.binomial(n.astype(int), p).astype(float), rho)
        inside.append(low <= 0.3 <= high)
    assert 0.86 <= np.mean(inside) <= 0.95


def test_signals_of_the_model_are_features_and_are_checked(table):
    rng = np.random.default_rng(0)
    hard = (table.weather == "snow") & (table.light == "night")
    richer = table.assign(
        sure=np.where(hard, 0.4, 0.9) + 0.05 * rng.random(len(table)), a="x", b=np.where(hard, "y", "x")
    )
    options = {"factors": "weather,light,road", "outcome": "right"}
    plain = rc.audit(table, **options).risk.forecast
    more = rc.audit(richer, **options, confidence="sure", members=["a", "b"]).risk.forecast
    assert len(more.models[1].columns) == len(plain.models[1].columns) + 2
    with pytest.raises(rc.UserError, match="'sure' has 1.4; it must be a number from 0 to 1"):
        rc.audit(richer.assign(sure=1.4), **options, confidence="sure")
    with pytest.raises(rc.UserError, match="name the predictions of two or more"):
        rc.audit(richer, **options, members=["a"])
    with pytest.raises(rc.UserError, match="'shure'"):
        rc.audit(richer, **options, confidence="shure")


def test_a_scorecard_of_one_who_knows_is_perfect_and_of_one_who_does_not_is_not():
    made = world("pair-many", 0, combinations=1000)
    said = examine(made)
    known = score(made, type(said)(made.truth, made.truth, made.truth, said.calls, said.findings))
    assert known["rmse"] == 0 and known["covered"] == 1 and known["interval_score"] == 0 and known["caught"] == 1
    assert known["auroc_unanswered"] == 1 and known["hit"] == known["right"] == 1
    rate = np.full(len(made.truth), made.wrong.sum() / made.answers.sum())
    blind = score(made, type(said)(rate, rate, rate, np.full(len(rate), "holds"), []))
    assert blind["rmse_ratio"] == 1 and blind["auroc_unanswered"] == 0.5 and blind["wrong_holds"] > 0
    assert blind["hit"] == blind["found"] == 0 and blind["called"] == 1
    assert score(made, said)["rmse_ratio"] < 0.2
