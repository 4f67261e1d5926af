"""Averages of nets, and which net of a run is kept."""

from __future__ import annotations

import dataclasses
import math

import pytest
from one_weight import Multiple, OneWeight

from recombine.tasks import Metric
from recombine.training import Recipe, train

RISING = Recipe(
    steps=15, tasks=4, optimizer="sign-sgd", learning_rate=0.1, schedule="constant", warmup=0.0, evaluations=15
)


def test_the_average_is_that_computed_by_hand(space, support):
    recipe = dataclasses.replace(RISING, ema=0.8)
    (member,) = train(Multiple(space), support, OneWeight(), recipe, progress=False).members
    weights = [0.1 + 0.1 * step for step in range(1, 16)]
    average = 0.1
    for weight in weights:
        average = 0.8 * average + 0.2 * weight
    assert float(member.net.weight) == pytest.approx(average, abs=1e-5)
    assert float(member.raw.weight) == pytest.approx(weights[-1], abs=1e-5)
    # on the way, too, it is the average that is scored
    early = 0.8 * 0.1 + 0.2 * 0.2
    assert member.history[0]["held_out/pull"] == pytest.approx(2 - early, abs=1e-5)


def test_without_an_average_what_is_scored_is_the_last_net(space, support):
    (member,) = train(Multiple(space), support, OneWeight(), RISING, progress=False).members
    assert float(member.net.weight) == float(member.raw.weight) == pytest.approx(1.6, abs=1e-5)


@pytest.mark.parametrize("seeds, ensemble", [(1, "threads"), (3, "vmap")])
def test_the_best_on_the_validation_stream_is_kept(space, support, seeds, ensemble):
    """The weight passes 1, where the score is best, at another step for each seed, and goes on."""
    recipe, net = dataclasses.replace(RISING, keep="best"), OneWeight(by_seed=True)
    run = train(Multiple(space), support, net, recipe, seeds=seeds, ensemble=ensemble, progress=False, watch=())
    for member in run.members:
        assert float(member.net.weight) == pytest.approx(1.0, abs=1e-5)
        assert float(member.raw.weight) > 1.5
        scores = [row["validation/r2"] for row in member.history]
        assert max(scores) == pytest.approx(1.0, abs=1e-5) and scores[-1] < 0.9
    assert len({float(member.raw.weight) for member in run.members}) > 1 or seeds == 1


def test_an_undefined_score_is_worse_than_any_other(space, support):
    recipe, net = dataclasses.replace(RISING, keep="best"), OneWeight(undefined_below=0.45)
    (member,) = train(Multiple(space), support, net, recipe, progress=False).members
    assert math.isnan(member.history[0]["validation/r2"]) and member.diverged_at is None
    assert float(member.net.weight) == pytest.approx(1.0, abs=1e-5)


def test_where_lower_is_better_the_lowest_is_kept(space, support):
    class ByError(Multiple):
        metrics = (Metric("mse", "squared error", lambda s: float(s["squared_error"].mean()), higher_is_better=False),)

        def given(self, support):
            return self

    recipe = dataclasses.replace(RISING, keep="best")
    (member,) = train(ByError(space), support, OneWeight(), recipe, progress=False).members
    assert float(member.net.weight) == pytest.approx(1.0, abs=1e-5)


def test_where_no_scores_are_taken_the_lowest_loss_is_kept(space, support):
    recipe = dataclasses.replace(RISING, steps=25, evaluations=25, keep="best", history="losses")
    (member,) = train(Multiple(space), support, OneWeight(), recipe, progress=False).members
    assert float(member.net.weight) == pytest.approx(2.0, abs=1e-4), "the loss is lowest at 2, the score best at 1"
