"""Cells that several studies share are trained once, whichever of the studies is run first."""

from __future__ import annotations

import pytest
from kept_bases import BASE, WORLD, counting

from recombine.lab.driver.run import run_study
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least


def study(id: str, **more) -> Study:
    """A study of one net on two splits."""
    return Study(
        id=id,
        title="t",
        question="q",
        source="s",
        world=WORLD,
        support={"name": "random", "held_out": 0.3},
        net=BASE["net"],
        recipe=BASE["recipe"],
        vary={"support.held_out": [0.3, 0.5]},
        claims=[Claim("c", lambda t: t.held_out(held_out=0.3), at_least(0.0), "c", "lookup", description="score")],
        controls={"lookup": {}},
        **more,
    )


@pytest.mark.parametrize("stored", [True, False])
def test_a_net_of_two_studies_is_trained_once_and_read_alike(tmp_path, monkeypatch, stored):
    folder, trained = counting(tmp_path, monkeypatch)
    options = {"seeds": 1, "engine": "inprocess", "quiet": True}
    one = run_study(study("one"), "smoke", out=folder / "one-smoke", **options)
    assert len(trained) == 2
    other = study("other", probes=[{"name": "decodability"}])
    two = run_study(other, "smoke", out=folder / "other-smoke" if stored else None, **options)
    assert len(trained) == (2 if stored else 4)  # without a store no net is kept, and none is looked for
    scores = [[row for row in record.rows if row["reading"] == "score"] for record in (*one.records, *two.records)]
    assert scores[:2] == scores[2:] and scores[0] != scores[1]


def test_another_split_or_seed_is_another_net(tmp_path, monkeypatch):
    folder, trained = counting(tmp_path, monkeypatch)
    options = {"engine": "inprocess", "quiet": True}
    run_study(study("one"), "smoke", seeds=1, out=folder / "one-smoke", **options)
    run_study(study("other"), "smoke", seeds=2, changes={"held_out": [0.4]}, out=folder / "other-smoke", **options)
    assert len(trained) == 2 + 2
