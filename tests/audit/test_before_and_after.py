"""`--before`: which findings are cured, which remain, which are new, and what is not decided."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from planted_failures import KIOSK, PAIR, audited, failing, finding

import recombine as rc
from recombine.audit.before_and_after import compare_audits
from recombine.audit.pattern_rates import Share, apart, paired_change
from recombine.cli import main

BEFORE = {KIOSK: 0.6, PAIR: 0.8}
FRESH = (("place", "home"), ("topic", "bank"))


def verdicts(changes) -> dict[str, str]:
    return {one.finding.words: one.verdict for one in changes.changes}


def test_cured_remaining_and_new_ones_are_told_apart():
    before = audited(failing(BEFORE), finding(KIOSK), finding(PAIR))
    after = audited(failing({PAIR: 0.8, FRESH: 0.7}, seed=1), finding(PAIR), finding(FRESH))
    found = compare_audits(before, after)
    assert verdicts(found) == {
        "'kiosk'": "cured",
        "'pl' with 'insurance'": "remains",
        "'home' with 'bank'": "new",
    }
    (kiosk,) = found["cured"]
    assert kiosk.change[1] > 0.4 and kiosk.after.right > 0.85 and kiosk.rows == 0
    assert found.to_json()["findings"][0]["verdict"] == "cured" and "Cured: 'kiosk'" in " ".join(found.sentences())


def test_the_same_table_again_changes_nothing():
    table = failing(BEFORE)
    found = compare_audits(audited(table, finding(KIOSK)), audited(table, finding(KIOSK), finding(PAIR)))
    assert verdicts(found) == {"'kiosk'": "remains", "'pl' with 'insurance'": "remains"}  # found now, and there before
    innocent = (("place", "shop"), ("topic", "bank"))
    found = compare_audits(audited(table, finding(KIOSK)), audited(table, finding(KIOSK), finding(innocent)))
    assert verdicts(found)["'shop' with 'bank'"] == "undecided"
    assert found.overall[0] == 0 and found.overall[1] < 0 < found.overall[2]
    assert "undecided: the interval includes zero" in found.sentences()[0]


def test_better_is_not_cured_and_worse_is_said():
    before = audited(failing(BEFORE), finding(KIOSK), finding(PAIR))
    half = audited(failing({KIOSK: 0.3, PAIR: 1.0}, seed=1), finding(KIOSK), finding(PAIR))
    assert verdicts(compare_audits(before, half)) == {"'kiosk'": "remains", "'pl' with 'insurance'": "worse"}
    nearly = audited(failing({KIOSK: 0.10}, n=20_000, seed=1, base=0.05))  # worse than the others by the tolerance
    found = compare_audits(audited(failing(BEFORE, n=20_000), finding(KIOSK)), nearly)
    assert verdicts(found) == {"'kiosk'": "better"} and found.changes[0].others[2] < 0
    # too few answers to say whether it is as good as the others
    few = failing({}, n=3000, seed=2)
    kiosk = few.index[few.place == "kiosk"]
    few = few.drop(kiosk[25:])
    assert verdicts(compare_audits(before, audited(few, finding(PAIR))))["'kiosk'"] == "better"


@pytest.mark.parametrize("accuracy", [0.5, 0.9, 0.98])
def test_intervals_of_differences_hold_the_truth_as_often_as_said(accuracy):
    """2,000 pairs of tables: two samples that differ by .04, and the same rows of which some changed either way."""
    rng = np.random.default_rng(0)
    n, m, truth = 120, 300, 0.04 if accuracy < 0.95 else 0.01
    held = {"two samples": 0, "pairs": 0}
    for a, b in zip(rng.binomial(n, accuracy + truth, 2000), rng.binomial(m, accuracy, 2000), strict=True):
        shares = [Share(k / size, 0, 1, size, size, 1) for k, size in ((a, n), (b, m))]
        _, low, high = apart(*shares, 0.9)
        held["two samples"] += low <= truth <= high
    for _ in range(2000):
        before = rng.random(n) < accuracy
        after = np.where(before, rng.random(n) < 0.95, rng.random(n) < 0.4)
        _, low, high = paired_change(after.astype(float) - before, np.ones(n), 0.9)
        held["pairs"] += low <= accuracy * 0.95 + (1 - accuracy) * 0.4 - accuracy <= high
    assert all(0.88 <= count / 2000 <= 0.97 for count in held.values()), held


def test_rows_are_compared_one_by_one_where_ids_say_which_they_are():
    old, new = failing({KIOSK: 0.30}, n=2000), failing({KIOSK: 0.26}, n=2000)  # the same rows and lots
    found = rc.audit(new, ["place", "language", "topic"], outcome="right", id="id", before=old)
    assert found.changes.rows == 2000
    change = (new.right - old.right).mean()
    assert found.changes.overall[0] == pytest.approx(change) and found.changes.overall[1] > 0
    # as two samples the same difference is not shown
    unpaired = rc.audit(new, ["place", "language", "topic"], outcome="right", before=old)
    assert unpaired.changes.rows == 0 and unpaired.changes.overall[0] == pytest.approx(change)
    assert unpaired.changes.overall[1] < 0 < unpaired.changes.overall[2]


def test_rows_without_a_partner_are_said():
    old, new = failing({KIOSK: 0.5}, n=1000)[:900].copy(), failing({KIOSK: 0.5}, n=1000)
    new.loc[:9, "id"] = "twice"
    new.loc[10:19, "place"] = np.where(new.loc[10:19, "place"] == "shop", "home", "shop")
    found = rc.audit(new, ["place", "language", "topic"], outcome="right", id="id", before=old).changes
    assert found.rows == 900 - 20
    said = " ".join(found.notes)
    assert "10 rows of" in said and "share their id" in said and "have no partner" in said
    assert "have another combination" in said
    strangers = new.assign(id=[f"other {i}" for i in range(1000)])
    found = rc.audit(strangers, ["place", "language", "topic"], outcome="right", id="id", before=old).changes
    assert found.rows == 0 and "two samples" in " ".join(found.notes)


def test_a_rule_stands_for_the_combinations_that_it_was_found_on():
    """Pairs that were never trained are trained later: it is the same combinations that are asked about."""
    table = failing({PAIR: 0.8})
    hole = (table.language == "pl") & (table.topic == "insurance")
    table["split"] = np.where(~hole & (np.arange(len(table)) % 2 == 0), "train", "test")
    later = failing({}, seed=1)
    later["split"] = np.where(np.arange(len(later)) % 2 == 0, "train", "test")
    rule = finding((), "unseen pair")
    found = compare_audits(audited(table, rule, split="split"), audited(later, split="split"))
    (one,) = found.changes
    assert one.verdict == "cured" and one.before.combinations == one.after.combinations == 3
    assert one.before.right < 0.4 and one.after.right > 0.9


def test_a_model_that_is_right_everywhere_is_compared_and_not_refused():
    old, new = failing({KIOSK: 0.6}), failing({}, base=0.0)
    found = rc.audit(new, ["place", "language", "topic"], outcome="right", before=old).changes
    assert found.after.right == 1 and found.overall[1] > 0
    found = compare_audits(audited(old, finding(KIOSK)), audited(new, before=old))
    assert verdicts(found) == {"'kiosk'": "cured"}
    with pytest.raises(rc.UserError, match="never fails"):
        rc.audit(new, ["place", "language", "topic"], outcome="right")


def test_bins_are_those_of_the_later_table():
    rng = np.random.default_rng(0)
    tables = [failing({}, n=400, seed=i).assign(age=rng.integers(low, 60, 400)) for i, low in enumerate((0, 20))]
    found = rc.audit(tables[1], ["place", "age"], outcome="right", bin={"age": 3}, before=tables[0])
    assert found.changes.before.n == 400  # a row of the earlier table below all ages of the later one has a bin, too


def test_intervals_by_hand():
    # Bonett and Price 2012: 10 of 100 got worse, 30 better
    change = np.array([-1.0] * 10 + [1.0] * 30 + [0.0] * 60)
    mean, low, high = paired_change(change, np.ones(100), 0.95)
    p, q = 11 / 102, 31 / 102
    half = 1.959963985 * np.sqrt((p + q - (q - p) ** 2) / 102)
    assert mean == pytest.approx(0.2) and (low, high) == pytest.approx((q - p - half, q - p + half))
    # rows of weight 2 are worth as many as there are rows
    assert paired_change(change, np.full(100, 2.0), 0.95) == pytest.approx((mean, low, high))
    # Newcombe 1998, table II, first row: 56/70 and 48/80 differ by .2 [.0524, .3339]
    a, b = (Share(k / n, 0, 1, n, n, 1) for k, n in ((56, 70), (48, 80)))
    assert apart(a, b, 0.95) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_more_findings_make_wider_intervals():
    before = audited(failing(BEFORE), finding(KIOSK))
    after = audited(failing(BEFORE, seed=1), finding(KIOSK))
    (one,) = compare_audits(before, after).changes
    many = compare_audits(replace(before, found=replace(before.found, findings=[finding(KIOSK), finding(PAIR)])), after)
    other = next(c for c in many.changes if c.finding.words == "'kiosk'")
    assert other.change[1] < one.change[1] < one.change[2] < other.change[2]
    assert many.level == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--before", "none.csv"], "no file"),
        (["--before", "other.csv"], "did you mean"),
        (["--before", "old.csv", "--id", "nr"], "unknown column for the id"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    failing({KIOSK: 0.5}, n=200).to_csv("new.csv", index=False)
    failing({KIOSK: 0.5}, n=200).to_csv("old.csv", index=False)
    failing({KIOSK: 0.5}, n=200).rename(columns={"place": "places"}).to_csv("other.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["audit", "new.csv", "--factors", "place,language,topic", "--outcome", "right", *arguments])
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and not out and words in err and err.count("\n") == 1


def test_audits_that_cannot_be_compared():
    table = failing({KIOSK: 0.5}, n=300)
    plain = rc.audit(table, ["place", "language"], outcome="right")
    with pytest.raises(rc.UserError, match="same --factors"):
        rc.audit(table, ["place", "topic"], outcome="right", before=plain)
    with pytest.raises(rc.UserError, match="no outcome"):
        rc.audit(table, ["place", "language"], outcome="right", before=rc.audit(table, ["place", "language"]))
    with pytest.raises(rc.UserError, match="--outcome"):
        rc.audit(table, ["place", "language"], before=table)


def test_the_command_writes_what_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    failing({KIOSK: 0.6}).to_csv("old.csv", index=False)
    failing({}).to_csv("new.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(
            ["audit", "new.csv", "--factors", "place,language,topic", "--outcome", "right", "--id", "id"]
            + ["--before", "old.csv", "--json", "--out", "there"]
        )
    printed = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0 and printed["changes"]["paired_rows"] == 3000
    assert printed["changes"]["overall"]["low"] > 0
    assert 'id="changes"' in (tmp_path / "there" / "audit.html").read_text()


def test_the_tolerance_says_how_near_the_others_is_cured():
    before, after = failing({KIOSK: 0.6}, n=6000), failing({KIOSK: 0.13}, n=6000, seed=1, base=0.05)
    found = {
        tolerance: rc.audit(
            after, ["place", "language", "topic"], outcome="right", before=before, tolerance=tolerance
        ).changes
        for tolerance in (0.05, 0.2)
    }
    assert [verdicts(one)["'kiosk'"] for one in found.values()] == ["remains", "cured"]
