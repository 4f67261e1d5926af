"""Where a sentence, a stop or a count begins: exactly at its boundary, and not one step beside it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import recombine as rc
from recombine.audit import risk_model
from recombine.audit.coverage import IMBALANCED


@pytest.mark.parametrize(("losses", "expected"), [([1.0], 1.0), ([0.0, *[1.0] * 999], 1 / 200)])
def test_shuffles_that_fit_as_well_are_counted_from_none(losses, expected, monkeypatch):
    """Ten of ten as good: p = 1. None of 199: p = 1 / 200."""
    monkeypatch.setattr(risk_model, "_SHUFFLES", 199)
    found = iter(losses * 999)
    monkeypatch.setattr(risk_model.logistic, "log_loss", lambda *_: next(found))
    monkeypatch.setattr(risk_model.logistic, "fit", lambda *_: SimpleNamespace(probability=lambda x: x))
    assert risk_model._p_value(np.zeros((3, 1)), np.zeros(3), np.random.default_rng(0)) == expected


@pytest.mark.parametrize(("rows", "said"), [(IMBALANCED, True), (IMBALANCED - 1, False)])
def test_uneven_begins_at_the_ratio_that_is_said(rows, said):
    table = {"a": ["x"] * int(rows) + ["y"], "b": (["p", "q"] * 20)[: int(rows) + 1]}
    assert any("Uneven" in words for words in rc.audit(table, "a,b").coverage.sentences()) == said


def test_how_good_a_forecast_is_is_said_of_own_outcomes_only():
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(0, 5, 3000) for _ in range(3))
    train = (a + b) % 5 < 2
    table = {name: values.astype(str) for name, values in (("a", a), ("b", b), ("c", c))}
    outcome = {"right": (train | (rng.random(3000) < 0.3)).astype(int), "split": np.where(train, "train", "test")}
    risk = rc.audit(table | outcome, "a,b,c", outcome="right", split="split").risk
    # unseen ones fail at .7, and nothing tells them apart: a Brier score of .7 x .3 on their rows is the least
    least = 0.7 * 0.3 * np.mean(~train)
    assert risk.basis == "outcomes" and risk.quality is not None
    assert 0.98 * least < risk.quality["brier"] < 1.02 * least < risk.quality["brier_of_the_rate"]
    # every unseen one is ranked above every seen one; among themselves, with their own answers left out, they are not
    seen = risk.forecast.table.seen
    assert risk.forecast.mean[~seen].min() > 10 * risk.forecast.mean[seen].max()
    assert "own answers were left out" in risk.sentences()[1] and risk.rule in risk.sentences()
    prior = rc.audit({name: values[train] for name, values in table.items()}, "a,b,c", prior=True).risk
    assert prior.basis == "prior" and prior.quality is None and not prior.rule
    assert "AUROC within one net" in prior.said and "0.80" not in prior.said  # never the pooled figure


@pytest.mark.parametrize("how", ["audit", "plan"])
def test_an_outcome_that_is_not_named_is_no_factor(how):
    table = {"color": ["red", "blue", "red", "blue"] * 6, "shape": ["box", "box", "ball", "cone"] * 6}
    for name, values in (("right", ["1", "0"] * 12), ("Correct", ["true", "false"] * 12)):
        data = table | {name: values}
        notes = " ".join(rc.plan(data).notes) if how == "plan" else str(rc.audit(data))
        assert f"{name}' (an outcome; name it with --outcome)" in notes and "'color' and 'shape'" in notes
    side = {"right": ["left side", "right side"] * 12}  # a word is not enough: what it says must be right or wrong
    assert "an outcome" not in str(rc.audit(table | side))
    named = {"result": ["1", "1", "0"] * 8}
    assert "result" in rc.plan(table | named).table and "result" not in rc.plan(table | named, outcome="result").table
    with pytest.raises(rc.UserError, match="outcome"):
        rc.plan(table, outcome="nothing")
