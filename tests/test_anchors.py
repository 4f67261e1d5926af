"""Figures of independent re-implementations and of the laptop scale: minutes, so part of `make check-long`."""

from __future__ import annotations

import pytest

import recombine as rc
from recombine.lab.run import run_study
from recombine.studies import registry


@pytest.mark.long
def test_anchor_of_an_independent_implementation():
    """2 x 256, AdamW 1e-3 constant, 128 x 16 samples, 5,000 steps: R^2 .926 trained and .922 held out (one seed)."""
    space = rc.Subsets(16, 3)
    recipe = rc.Recipe.published(steps=5000, learning_rate=1e-3)
    run = rc.train(rc.tasks.Hyperteacher(space), rc.supports.random(space), rc.nets.MLP(256, 2), recipe)
    assert float(run.score("test")) == pytest.approx(0.926, abs=0.03)
    assert float(run.score("held_out")) == pytest.approx(0.922, abs=0.03)
    assert rc.probes.decodability(run, layer=2).value().mean == pytest.approx(0.968, abs=0.03)


@pytest.mark.long
def test_supports_at_laptop_scale_decides_every_claim():
    result = run_study(registry["supports"], "laptop", engine="local", quiet=True)
    assert not result.failures
    assert {verdict.claim.id: verdict.outcome for verdict in result.verdicts} == {
        claim.id: "supported" for claim in registry["supports"].claims
    }
