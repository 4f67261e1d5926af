"""(a) A teacher-forced encoder-decoder copies and reverses words it has never seen, decoding without a target."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from words import EncoderDecoder, Words

import recombine as rc
from recombine.errors import UserError
from recombine.testing import check_net, check_task
from recombine.training import evaluate


@pytest.fixture(scope="module")
def trained():
    task = Words()
    support = rc.supports.random(task.space, held_out=0.25, seed=0)
    recipe = rc.Recipe(steps=1500, tasks=128, learning_rate=3e-3, weight_decay=0.01, evaluations=3)
    return rc.train(task, support, EncoderDecoder(), recipe, progress=False)


def test_words_are_a_task_and_the_decoder_is_a_net():
    check_task(Words())
    check_net(EncoderDecoder(), Words())


def test_a_net_that_reads_the_target_when_it_is_asked_is_refused():
    with pytest.raises(AssertionError, match="target"):
        check_net(EncoderDecoder(peeks=True), Words())
    task = Words()
    support = rc.supports.random(task.space, seed=0)
    with pytest.raises(UserError, match=r"PeekingNet\.answer.*without batch\.target"):
        rc.train(task, support, EncoderDecoder(peeks=True), rc.Recipe(steps=1), progress=False)


def test_held_out_words_are_decoded_without_a_target(trained):
    score = trained.score("held_out")
    assert score.metric == "exact"
    assert float(score) > 0.95
    assert trained.history["validation/exact"].iloc[-1] > 0.95
    assert trained.history["validation/loss"].is_monotonic_decreasing


def test_the_likelihood_of_the_target_agrees_with_the_loss_and_needs_a_net_that_has_one(trained):
    task, net = trained.task, trained.nets[0]
    rows = trained.support.held_out.combinations()[:300]
    items = evaluate(net, task, rows, key=jax.random.key(0), by="likelihood")
    batch = task.sample(jax.random.key(0), rows)
    loss = float(task.loss(net(batch)[0], batch))
    assert items.statistics["nats"].shape == (300,)
    assert items.scores()["nats"] == pytest.approx(-4 * loss, abs=1e-4)  # four letters each
    assert np.exp(items.statistics["nats"]).mean() > 0.9
    plain = rc.nets.MLP(8, 1).build(rc.tasks.Hyperteacher(rc.Subsets(4, 2)), jax.random.key(0))
    with pytest.raises(UserError, match=r"MLPNet has no likelihood.*answer"):
        evaluate(plain, task, rows, key=jax.random.key(0), by="likelihood")
