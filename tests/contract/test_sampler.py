"""A net whose answer is a sampler: the trace at chosen times is a buffer in its loop, and probes read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import pytest

import recombine as rc
from recombine.nets import MLP, Blueprint, Step, Wrapper
from recombine.probes import decodability
from recombine.tasks import Batch, Task
from recombine.testing import check_net
from recombine.training import evaluate

SIZE = 6


class Points(Task):
    """A noisy point for each combination: the sum of the places of its levels."""

    id = "points"
    places: jax.Array  # (elements, SIZE)

    def __init__(self):
        self.space = rc.Product(a=4, b=4)
        self.constituent_names, self.samples = self.space.element_names, 1
        self.places = jax.random.normal(jax.random.key(0), (8, SIZE))

    def sample(self, key, combinations, samples=None):
        hot = self.space.multihot(combinations).astype(jnp.float32)
        point = hot @ self.places + 0.05 * jax.random.normal(key, (len(hot), SIZE))
        return Batch(combinations, hot, None, point[:, None], hot)


@dataclass(frozen=True)
class Sampling:
    """Steps of the sampler, and after which of them the point is kept."""

    steps: int = 10
    kept: tuple[int, int] = (1, 10)


class SamplerNet(Wrapper):
    """Rectified flow: the net within says which way to go from a noisy point, and the sampler goes there."""

    @property
    def How(self):
        return Sampling

    def flow(self, code, point, time):
        seen = jnp.concatenate([code, point, jnp.broadcast_to(time, (len(point), 1))], axis=-1)
        return self.net(Batch(None, seen))[0][:, 0]

    def losses(self, task, batch, moment, memory):
        noise_key, time_key = jax.random.split(moment.key)
        data = batch.target[:, 0]
        noise, time = jax.random.normal(noise_key, data.shape), jax.random.uniform(time_key, (len(data), 1))
        found = self.flow(batch.code, (1 - time) * noise + time * data, time)
        return Step({"flow": jnp.mean((found - (data - noise)) ** 2)}, {}, memory)

    def __call__(self, batch, key=None):
        return self.answer(batch, key, Sampling())

    def answer(self, batch, key=None, how=None):
        point = jax.random.normal(key, (len(batch.code), SIZE))
        kept = jnp.zeros((len(how.kept), *point.shape))  # not a stack of all steps

        def step(i, carry):
            point, kept = carry
            point = point + self.flow(batch.code, point, jnp.full((1, 1), i / how.steps)) / how.steps
            chosen = (jnp.asarray(how.kept) == i + 1)[:, None, None]
            return point, jnp.where(chosen, point, kept)

        point, kept = jax.lax.fori_loop(0, how.steps, step, (point, kept))
        return point[:, None], {"early": kept[0][:, None], "late": kept[1][:, None]}


@dataclass(frozen=True)
class Sampler(Blueprint):
    name: ClassVar[str] = "sampler"

    def layers(self):
        return ("early", "late")

    def fresh(self, task, key, precision):
        class Seen(Points):  # what the net within reads: code, point and time
            def sample(self, key, combinations, samples=None):
                batch = task.sample(key, combinations, samples)
                code = jnp.concatenate([batch.code, batch.target[:, 0], batch.target[:, 0, :1]], axis=-1)
                return batch._replace(code=code)

        return SamplerNet(MLP(64, 2).fresh(Seen(), key, precision))


@pytest.fixture(scope="module")
def trained():
    task = Points()
    support = rc.supports.random(task.space, held_out=0.25, seed=0)
    recipe = rc.Recipe(steps=1500, tasks=128, learning_rate=3e-3, weight_decay=0.0, evaluations=2, history="losses")
    return rc.train(task, support, Sampler(), recipe, progress=False)


def test_the_sampler_draws_the_right_points(trained):
    check_net(Sampler(), trained.task)
    task = trained.task
    items = evaluate(trained.nets[0], task, task.space.enumerate(), 8, key=jax.random.key(0))
    assert items.scores()["r2_pooled"] > 0.9
    hasty = evaluate(trained.nets[0], task, task.space.enumerate(), 8, key=jax.random.key(0), how=Sampling(1, (1, 1)))
    assert hasty.scores()["r2_pooled"] < items.scores()["r2_pooled"]
    assert "held_out/flow" in trained.history and "held_out/r2" not in trained.history


def test_a_probe_reads_the_trace_of_the_answer_at_chosen_times(trained):
    readings = decodability(trained, layer=["early", "late"], fit_tasks=512, score_tasks=256)
    early, late = (readings.value(layer=name).mean for name in ("early", "late"))
    assert late > 0.5 > early
    assert readings.value("r2_untrained", layer="late").mean < 0.2
