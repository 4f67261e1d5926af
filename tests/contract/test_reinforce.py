"""(e) REINFORCE: a net that is told nothing but a planted reward finds what is rewarded, not what is in the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import pytest

import recombine as rc
from recombine.nets import MLP, Blueprint, Step, Wrapper
from recombine.tasks import ANSWERS, Batch, Task
from recombine.testing import check_net, check_task
from recombine.training import evaluate

ACTIONS = 5


class Choices(Task):
    """One word for each combination: the sum of its levels. What pays is another: one more."""

    id = "choices"
    metrics = ANSWERS

    def __init__(self):
        self.space = rc.Product(a=4, b=4)
        self.constituent_names, self.samples = ("a", "b"), 1

    @property
    def words(self):
        return {"target": ACTIONS}

    @property
    def repeats(self):
        return True

    def sample(self, key, combinations, samples=None):
        target = (combinations.astype(jnp.int32).sum(1) % ACTIONS)[:, None]
        code = self.space.multihot(combinations).astype(jnp.float32)
        return Batch(combinations, code, None, target, combinations.astype(jnp.float32))


class Bandit(Choices):
    """The same, with a reward that is planted beside the target."""

    __init__ = Choices.__init__

    def reward(self, answer, batch):
        return (answer == (batch.target + 1) % ACTIONS).all(1).astype(jnp.float32)


class ReinforcedNet(Wrapper):
    def losses(self, task, batch, moment, memory):
        logits, _ = self.net.answer(batch.blind(), moment.key)
        chosen = jax.random.categorical(moment.key, logits)
        reward = task.reward(chosen, batch)
        chance = jnp.take_along_axis(jax.nn.log_softmax(logits), chosen[..., None], axis=-1)[..., 0].sum(-1)
        gain = jax.lax.stop_gradient(reward - reward.mean())
        return Step({"policy": -(gain * chance).mean()}, {"reward": reward.mean()}, memory)


@dataclass(frozen=True)
class Reinforced(Blueprint):
    name: ClassVar[str] = "reinforced"

    def layers(self):
        return MLP(64, 1).layers()

    def fresh(self, task, key, precision):
        return ReinforcedNet(MLP(64, 1).fresh(task, key, precision))


def test_what_pays_is_learned_and_logged():
    check_task(Choices())
    check_net(Reinforced(), Bandit())
    task = Bandit()
    support = rc.supports.random(task.space, seed=0)
    recipe = rc.Recipe(steps=1500, tasks=64, learning_rate=3e-3, weight_decay=0.0, evaluations=5)
    run = rc.train(task, support, Reinforced(), recipe, progress=False)
    rows = support.train.combinations()
    answer = evaluate(run.nets[0], task, rows, key=jax.random.key(0), keep=["answer"]).kept["answer"].argmax(-1)[:, 0]
    assert (answer == (rows.sum(1) + 1) % ACTIONS).mean() > 0.95
    assert float(run.score("test")) < 0.05  # the target itself is never right
    rewards = run.history["train/reward"]
    assert rewards.iloc[0] < rewards.iloc[-1] and rewards.iloc[-1] > 0.9
    assert run.history["validation/reward"].iloc[-1] > 0.9


def test_the_default_reward_is_an_exact_match():
    task = Choices()
    batch = task.sample(jax.random.key(0), jnp.asarray(task.space.enumerate()))
    assert task.reward(batch.target, batch).tolist() == [1.0] * 16
    assert task.reward((batch.target + 1) % ACTIONS, batch).sum() == 0
    assert task.reward(jax.nn.one_hot(batch.target, ACTIONS), batch).tolist() == pytest.approx([1.0] * 16)
