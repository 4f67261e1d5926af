"""`rc.plan` and `recombine plan` on tables, files, supports and audits."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest

import recombine as rc
from recombine import cli
from recombine.errors import UserError

FRAME = pandas.DataFrame(
    {
        "weather": ["sun", "sun", "rain", "snow", "rain", "snow"] * 20,
        "time": ["noon", "night", "noon", "night", "night", "dawn"] * 20,
        "road": ["city", "rural", "city", "city", "rural", "rural"] * 20,
        "price": [1.0, 2, 1, 11, 2, 12] * 20,
        "part": ["train"] * 114 + ["test"] * 6,
    }
)
FACTORS = ["weather", "time", "road"]


def test_a_table():
    found = rc.plan(FRAME, FACTORS)
    assert found.already == 6
    rows = np.concatenate(
        [
            found.rows,
            found.space.check(
                [
                    [found.space.factors[n].index(v) for n, v in zip(FACTORS, one, strict=True)]
                    for one in FRAME[FACTORS].drop_duplicates().itertuples(index=False)
                ]
            ),
        ]
    )
    coverage = rc.supports.certificate.tuple_coverage(found.space, rows, (2,))[0]
    assert coverage.seen == coverage.possible == 3 * 3 + 3 * 2 + 3 * 2
    same = rc.plan(FRAME.to_dict("list"), "weather,time,road")
    assert (same.rows == found.rows).all()


def test_levels_that_the_data_lack_are_trained_first():
    found = rc.plan(FRAME, FACTORS, levels=["weather=fog,hail"], budget=2)
    assert list(found.table["weather"]) in (["fog", "hail"], ["hail", "fog"])
    with pytest.raises(UserError, match="unknown factor"):
        rc.plan(FRAME, FACTORS, levels={"wether": ["fog"]})
    for empty in ("weather=", "weather=, ,"):
        with pytest.raises(UserError, match="names no level"):
            rc.plan(FRAME, FACTORS, levels=[empty])


def test_a_cost_column_makes_dear_levels_come_late():
    found = rc.plan(FRAME, FACTORS, cost="price", budget=8)
    assert found.cost <= 8
    assert "snow" not in set(found.table["weather"])
    with pytest.raises(UserError, match="did you mean 'price'"):
        rc.plan(FRAME, FACTORS, cost="prize")
    with pytest.raises(UserError, match="not a number"):
        rc.plan(FRAME, FACTORS, cost="part")


def test_cost_files(tmp_path):
    levels = tmp_path / "levels.csv"
    levels.write_text("factor,level,cost\nweather,snow,10\nweather,sun,1\nweather,rain,1\n")
    assert "snow" not in set(rc.plan(FRAME, FACTORS, cost=str(levels), budget=3).table["weather"])
    whole = tmp_path / "whole.csv"
    FRAME.rename(columns={"price": "cost"})[[*FACTORS, "cost"]].to_csv(whole, index=False)
    assert "snow" not in set(rc.plan(FRAME, FACTORS, cost=str(whole), budget=8).table["weather"])
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="no costs that can be read"):
        rc.plan(FRAME, FACTORS, cost=str(bad))


def test_a_table_of_risks_decides_once_all_is_covered():
    space = rc.Product(a=["0", "1", "2"], b=["0", "1", "2"], c=["0", "1", "2"])
    rows = space.enumerate()
    trained = rows[rows.sum(1) % 3 == 0]
    risks = pandas.DataFrame(rows.astype(str), columns=list("abc")).assign(risk=(rows == 1).mean(1) * 0.5)
    risks.loc[(risks.a == "2") & (risks.b == "2") & (risks.c == "0"), "risk"] = 0.9
    found = rc.plan(space, covered=trained, budget=1, risk=risks)
    assert found.rows.tolist() == [[2, 2, 0]]


def test_a_support_and_an_audit():
    support = rc.supports.stair(rc.Product(a=4, b=4))
    found = rc.plan(support)
    assert found.already == support.train.size and found.after["unseen"] == 0
    audit = rc.audit.run(FRAME, FACTORS, split="part") if hasattr(rc, "audit") else None
    assert audit is not None
    assert (rc.plan(audit).rows == rc.plan(FRAME, FACTORS, split="part").rows).all()
    with pytest.raises(UserError, match="are for tables"):
        rc.plan(support, factors=["a"])


def test_the_command_line(tmp_path, capsys):
    table = tmp_path / "data.csv"
    FRAME.to_csv(table, index=False)
    out = tmp_path / "plan.csv"
    arguments = ["plan", str(table), "--factors", "weather,time,road", "--budget", "3", "--out", str(out), "--json"]

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as stop:
            cli.main(list(arguments))
        return stop.value.code

    assert run(*arguments, "--forbid", "weather=snow & time=noon", "road=rural & weather=snow") == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["steps"]) == 3 == len(pandas.read_csv(out))
    assert all(
        step["combination"]["weather"] != "snow" or step["combination"]["time"] != "noon" for step in said["steps"]
    )
    assert run(*arguments[:-1]) == 2  # a CSV cannot say that it is ours
    capsys.readouterr()
    assert run(*arguments[:-1], "--force") == 0
    assert "Before: 6 of 18 combinations trained" in capsys.readouterr().out
    assert run("plan", str(table), "--forbid", "wether=snow") == 2
    assert "did you mean 'weather'" in capsys.readouterr().err
