"""What to collect next: risk x frequency, what is forbidden, what may be impossible, how many examples."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas
import pytest
from planted_failures import LEVELS, failing

import recombine as rc
from recombine.audit.findings import Impossible
from recombine.audit.frequency import Frequency
from recombine.audit.seen import Seen
from recombine.audit.suggestions import next_combinations

FACTORS = list(LEVELS)


def split_table(hole: dict[str, str], n: int = 3000, risky: float = 0.8) -> pandas.DataFrame:
    """Half of the rows are trained on, none of the hole, which fails."""
    table = failing({tuple(hole.items()): risky}, n)
    inside = np.all([table[name] == level for name, level in hole.items()], axis=0)
    table["split"] = np.where(~inside & (np.arange(n) % 2 == 0), "train", "test")
    return table


def test_frequency_is_of_rows_in_use_and_sums_to_one():
    table = failing({}, 2000)
    table["split"] = np.where(np.arange(2000) % 4 == 0, "train", "test")
    observed = rc.audit(table, FACTORS, split="split").observed
    frequency = Frequency(observed)
    assert frequency.in_use and "1,500 rows" in frequency.words
    every = frequency(observed.space.enumerate())
    assert every.sum() == pytest.approx(1, abs=0.02)  # the product of margins is a little less where pairs are rarer
    counts = table[table.split == "test"].groupby(FACTORS).size()
    row = observed.rows[:1]
    met = counts[tuple(observed.labels(row[0]).values())]
    q = np.prod([(table[table.split == "test"][n] == v).mean() for n, v in observed.labels(row[0]).items()])
    least = frequency(row)[0] * (1500 + 36) - met
    assert 0.8 * 36 * q <= least <= 36 * q * (1 + 1e-9)


def test_without_rows_in_use_common_levels_count_and_weights_do():
    table = pandas.DataFrame({"a": ["x"] * 8 + ["y"] * 2, "b": ["p", "q"] * 5, "w": [1] * 8 + [6] * 2})
    frequency = Frequency(rc.audit(table, ["a", "b"]).observed)
    assert not frequency.in_use and frequency(np.array([[0, 0], [1, 1]])) == pytest.approx([0.4, 0.1])
    weighed = Frequency(rc.audit(table, ["a", "b"], weight="w").observed)
    assert weighed(np.array([[0, 0], [1, 1]])) == pytest.approx([0.2, 0.3])


def test_what_pairs_less_often_than_levels_would_is_less_frequent():
    """The old marry young in no row: a pair that is rare for no reason of its levels."""
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"age": rng.choice(["17", "40", "60"], 900), "married": rng.choice(["0", "13"], 900)})
    table["on"] = rng.choice(["mon", "tue"], 900)
    table = table[~((table.age == "17") & (table.married == "13"))]
    table["split"] = np.where(np.arange(len(table)) % 3 == 0, "train", "test")
    observed = rc.audit(table, ["age", "married", "on"], split="split").observed
    frequency = Frequency(observed)
    levels = observed.space.factors
    young = np.array([[levels["age"].index("17"), levels["married"].index("13"), 0]])
    grown = np.array([[levels["age"].index("40"), levels["married"].index("13"), 0]])
    assert frequency(young)[0] < 0.02 * frequency(grown)[0]


def suggested(audit, probability, seen_probability=None, **more):
    """Suggestions of an audit whose risks are planted: probability is a function of rows."""
    observed = audit.observed
    seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
    known = seen_probability or probability
    risk = replace(
        audit.risk,
        probability=probability(audit.risk.combinations),
        seen_probability=known(observed.rows[observed.seen]),
        reference=0.05,
    )
    return next_combinations(observed, seen, risk, **more)


def test_priority_is_risk_times_frequency():
    hole = {"language": "pl", "topic": "insurance"}
    table = split_table(hole)
    test = table[(table.split == "test") & (table.place != "kiosk")]
    table = pd_concat(table, test)  # kiosks are rare in use
    audit = rc.audit(table, FACTORS, outcome="right", split="split")
    found = suggested(audit, lambda rows: np.full(len(rows), 0.8), lambda rows: np.full(len(rows), 0.01))
    assert {tuple(one.combination.values())[1:] for one in found} == {("pl", "insurance")}
    assert [one.combination["place"] for one in found][-1] == "kiosk"
    assert all(one.priority == pytest.approx(one.risk * one.frequency) and one.pairs == 1 for one in found)
    # a rarer one of higher risk
    place = list(audit.observed.space.factors["place"]).index("kiosk")
    rare = suggested(audit, lambda rows: np.where(rows[:, 0] == place, 0.9, 0.1), lambda rows: np.full(len(rows), 0.01))
    assert rare[0].combination["place"] == "kiosk" and rare[0].frequency < rare[1].frequency


def pd_concat(table: pandas.DataFrame, more: pandas.DataFrame) -> pandas.DataFrame:
    return pandas.concat([table, more, more], ignore_index=True)


def test_what_holds_is_not_suggested_and_what_was_seen_and_fails_is():
    audit = rc.audit(split_table({"place": "kiosk", "topic": "bank"}), FACTORS, outcome="right", split="split")
    assert suggested(audit, lambda rows: np.full(len(rows), 0.04)) == []
    first = audit.observed.rows[audit.observed.seen][:1]
    fails = suggested(
        audit,
        lambda rows: np.full(len(rows), 0.01),
        lambda rows: np.where((rows == first).all(1), 0.9, 0.01),
    )
    assert [one.combination for one in fails] == [audit.observed.labels(first[0])]
    assert fails[0].trained > 0 and "there are" in fails[0].buys


def test_how_many_examples_it_takes():
    """As many as the median trained combination has, less those there are; where none are lacking, as many again."""
    rows = [("a", "p")] * 10 + [("a", "q")] * 30 + [("b", "p")] * 50
    table = pandas.DataFrame(rows, columns=["x", "y"])
    (one,) = rc.audit(table, ["x", "y"]).next
    assert one.combination == {"x": "b", "y": "q"} and one.examples == 30 and "about 30 examples" in one.buys
    assert math.isnan(one.risk) and math.isnan(one.priority)


def test_what_is_forbidden_is_nowhere():
    hole = {"language": "pl", "topic": "insurance"}
    table = split_table(hole)
    free = rc.audit(table, FACTORS, outcome="right", split="split")
    forbidden = rc.audit(table, FACTORS, outcome="right", split="split", forbid="language=pl & topic=insurance")
    assert free.coverage.pairs().missing == 1 and forbidden.coverage.pairs().missing == 0
    assert forbidden.coverage.combinations == 36 - 3 and forbidden.coverage.unseen == 0
    assert not any(
        one.combination["language"] == "pl" and one.combination["topic"] == "insurance" for one in forbidden.next
    )
    at_risk = forbidden.risk.combinations
    assert len(at_risk) == 0 and len(free.risk.combinations) == 3
    assert any("rows are of combinations that are forbidden" in note for note in forbidden.notes)
    assert forbidden.to_json()["forbid"] == ["language=pl & topic=insurance"]
    assert not [s for s in rc.plan(forbidden, budget=3) if (s.row[1:] == free.risk.combinations[0][1:]).all()]
    with pytest.raises(rc.UserError, match="unknown level"):
        rc.audit(table, FACTORS, forbid="language=fr")


def test_what_may_be_impossible_comes_last_and_is_asked_about():
    rows = [(a, b) for a in "xyz" for b in "pqr" for _ in range(20) if (a, b) not in (("x", "p"), ("y", "q"))]
    table = pandas.DataFrame(rows, columns=["a", "b"])
    audit = rc.audit(table, ["a", "b"])
    observed = audit.observed
    seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
    for a, b in (("x", "p"), ("y", "q")):
        doubt = [Impossible({"a": a, "b": b}, 15.0)]
        found = next_combinations(observed, seen, audit.risk, doubt)
        assert [one.questioned for one in found] == [False, True]
        assert found[1].combination == {"a": a, "b": b} and "blind spot?" in found[1].buys


def test_a_plan_prefers_common_partners():
    """Of the combinations that show the same new pair, the one with the common third level comes first."""
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"a": rng.choice(["x", "y"], 400), "b": rng.choice(["p", "q"], 400)})
    table["c"] = rng.choice(["often", "rare", "rarer"], 400, p=[0.8, 0.15, 0.05])
    table = table[~((table.a == "x") & (table.b == "p"))]
    for seed in range(5):
        found = rc.plan(table, ["a", "b", "c"], budget=1, seed=seed)
        assert list(found.table[["a", "b", "c"]].iloc[0]) == ["x", "p", "often"]
    weights = table.assign(w=np.where(table.c == "rarer", 1000, 1))
    assert rc.plan(weights, ["a", "b", "c"], budget=1, weight="w").table["c"].iloc[0] == "rarer"
