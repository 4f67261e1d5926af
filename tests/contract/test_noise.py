"""(d) Dropout in training and not in evaluation, an average of the weights, and nets made of `eqx.nn` layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import recombine as rc
from recombine.nets import Blueprint, Moment, Net, sizes_of
from recombine.testing import check_net
from recombine.training import evaluate


class NoisyNet(Net):
    """A network with functions as leaves, and dropout."""

    body: eqx.nn.MLP
    dropout: eqx.nn.Dropout

    def __call__(self, batch, key=None):
        rows = jnp.concatenate(
            [jnp.broadcast_to(batch.code[:, None], (*batch.inputs.shape[:2], batch.code.shape[1])), batch.inputs], -1
        )
        hidden = self.dropout(rows, key=key)
        prediction = jax.vmap(jax.vmap(self.body))(hidden)
        return prediction, {"output": prediction}


@dataclass(frozen=True)
class Noisy(Blueprint):
    name: ClassVar[str] = "noisy"
    rate: float = 0.1

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        sizes = sizes_of(self, task)
        body = eqx.nn.MLP(sizes.code + sizes.inputs, sizes.outputs, 64, 2, key=key)
        return NoisyNet(body, eqx.nn.Dropout(self.rate))


@pytest.fixture(scope="module")
def world():
    space = rc.Subsets(4, 2)
    return rc.tasks.Hyperteacher(space, inputs=4, hidden=4, outputs=4), rc.supports.random(space, seed=0)


def test_dropout_is_a_net():
    check_net(Noisy(), rc.tasks.Hyperteacher(rc.Subsets(4, 2)))


def test_training_is_noisy_and_evaluation_is_not(world):
    task, support = world
    recipe = rc.Recipe(steps=1500, weight_decay=0.0, ema=0.99, evaluations=2)
    run = rc.train(task, support, Noisy(), recipe, progress=False)
    net = run.nets[0]
    batch = task.sample(jax.random.key(0), jnp.asarray(task.space.sample(0, 64)))

    def loss(seed):
        return float(net.losses(task, batch, Moment(jax.random.key(seed), jnp.ones(())), None).parts["loss"])

    assert loss(0) != loss(1)
    rows = support.train.combinations()
    first, second = (evaluate(net, task, rows, 20, key=jax.random.key(3), keep=["answer"]) for _ in range(2))
    assert (first.kept["answer"] == second.kept["answer"]).all()
    assert float(run.score("test")) > 0.8
    # the average is what is scored, and it is smoother than the last step
    raw = evaluate(run.members[0].raw, task, rows, 20, key=jax.random.key(3)).scores()["r2"]
    assert first.scores()["r2"] != raw


def test_a_stage_takes_over_the_arrays_and_keeps_its_own_rate_of_dropout(world):
    task, support = world
    still = rc.Recipe(steps=1, learning_rate=0.0)
    run = rc.train(task, support, [rc.Stage(Noisy(0.1), still), rc.Stage(Noisy(0.5), still)], progress=False)
    assert run.nets[0].dropout.p == 0.5
    alone = rc.train(task, support, Noisy(0.1), still, progress=False)
    assert eqx.tree_equal(run.nets[0].body, alone.nets[0].body)
