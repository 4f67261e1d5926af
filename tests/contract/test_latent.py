"""(f) A latent that is fitted inside a step: its bound against a closed form, with fresh noise at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import recombine as rc
from recombine.nets import Blueprint, Moment, Net, Step
from recombine.tasks import Batch, Task
from recombine.testing import check_net
from recombine.training import evaluate

SEEN, HIDDEN, NOISE = 6, 1, 0.5  # one latent: its posterior is one that q can be, so the bound can be tight


class Gaussian(Task):
    """x = W z + noise, with a planted W: every item has a log-likelihood that is known in closed form."""

    id = "gaussian"
    planted: jax.Array  # (SEEN, HIDDEN)

    def __init__(self):
        self.space = rc.Product(a=4, b=4)
        self.constituent_names, self.samples = ("a", "b"), 1
        self.planted = jax.random.normal(jax.random.key(0), (SEEN, HIDDEN))

    def sample(self, key, combinations, samples=None):
        first, second = jax.random.split(key)
        t = len(combinations)
        z, e = jax.random.normal(first, (t, HIDDEN)), jax.random.normal(second, (t, SEEN))
        return Batch(combinations, None, None, z @ self.planted.T + NOISE * e, None)


@dataclass(frozen=True)
class Climb:
    """How long the latent is fitted, and on how many draws the bound is averaged."""

    steps: int = 40
    draws: int = 200


class LatentNet(Net):
    """p(x | z) = N(W z, noise^2), z ~ N(0, 1); q(z) = N(m, s^2), fitted to each item by gradient ascent."""

    How = Climb
    likelihood_is = "bound"
    weights: jax.Array  # (SEEN, HIDDEN)

    def bound(self, x, mean, log_sd, noise):
        """(T,): log p(x | z) at one draw of q, less KL(q | N(0, 1))."""
        z = mean + jnp.exp(log_sd) * noise
        off = (x - z @ self.weights.T) / NOISE
        nll = 0.5 * (off**2 + jnp.log(2 * jnp.pi * NOISE**2)).sum(-1)
        kl = (0.5 * (mean**2 + jnp.exp(2 * log_sd) - 1) - log_sd).sum(-1)
        return nll, kl

    def fit(self, x, key, steps):
        """The latent of each item after some steps, each with a noise of its own."""

        def step(i, q):
            noise = jax.random.normal(jax.random.fold_in(key, i), (8, *q[0].shape))
            loss = lambda q: sum(part.sum(-1).mean() for part in jax.vmap(lambda n: self.bound(x, *q, n))(noise))  # noqa: E731
            gradient = jax.grad(loss)(q)
            return jax.tree.map(lambda leaf, g: leaf - 0.05 * g, q, gradient)

        zero = jnp.zeros((len(x), HIDDEN))
        return jax.lax.stop_gradient(jax.lax.fori_loop(0, steps, step, (zero, zero - 1.0)))

    def __call__(self, batch, key=None):
        prediction = jnp.zeros((len(batch.combinations), SEEN))  # without a latent: its mean
        return prediction, {"output": prediction}

    def losses(self, task, batch, moment, memory):
        fit_key, draw_key = jax.random.split(moment.key)
        q = self.fit(batch.target, fit_key, 20)
        noise = jax.random.normal(draw_key, q[0].shape)
        nll, kl = self.bound(batch.target, *q, noise)
        return Step({"nll": nll.mean(), "kl": kl.mean()}, {"first_noise": noise[0, 0]}, memory)

    def likelihood(self, task, batch, key, how):
        fit_key, draw_key = jax.random.split(key)
        q = self.fit(batch.target, fit_key, how.steps)
        noise = jax.random.normal(draw_key, (how.draws, *q[0].shape))
        nll, kl = jax.vmap(lambda n: self.bound(batch.target, *q, n))(noise)
        return -(nll + kl).mean(0)


@dataclass(frozen=True)
class Latent(Blueprint):
    name: ClassVar[str] = "latent"

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        return LatentNet(0.3 * jax.random.normal(key, (SEEN, HIDDEN)))


def exact(weights, x):
    """log N(x; 0, W W' + noise^2)."""
    weights = np.asarray(weights, float)
    covariance = weights @ weights.T + NOISE**2 * np.eye(SEEN)
    return scipy.stats.multivariate_normal(np.zeros(SEEN), covariance).logpdf(np.asarray(x, float))


@pytest.fixture(scope="module")
def trained():
    task = Gaussian()
    support = rc.supports.random(task.space, seed=0)
    recipe = rc.Recipe(
        steps=1200,
        tasks=128,
        learning_rate=5e-3,
        weight_decay=0.0,
        evaluations=4,
        history="losses",
        precision="float32",
    )
    return rc.train(task, support, Latent(), recipe, progress=False)


def test_the_bound_lies_below_the_closed_form_and_touches_it_when_the_latent_is_fitted(trained):
    task, net = trained.task, trained.nets[0]
    rows = task.space.sample(0, 512)
    items = evaluate(net, task, rows, key=jax.random.key(1), by="likelihood", how={"steps": 200}, keep=["target"])
    truth = exact(net.weights, items.kept["target"])
    gap = truth - items.statistics["nats"]
    error = 4 * gap.std() / len(gap) ** 0.5
    assert gap.mean() > -error, "a bound that lies above the likelihood"
    assert gap.mean() < 0.2
    hasty = evaluate(net, task, rows, key=jax.random.key(1), by="likelihood", how={"steps": 2})
    assert hasty.scores()["nats"] < items.scores()["nats"] - 0.5


def test_the_planted_direction_is_found(trained):
    """Its length is not: in training the latent climbs for 20 steps only, and stays short of its posterior."""
    found, planted = (np.asarray(w, float).ravel() for w in (trained.nets[0].weights, trained.task.planted))
    assert abs(found @ planted) / (np.linalg.norm(found) * np.linalg.norm(planted)) > 0.99


def test_noise_is_fresh_at_every_step_and_parts_are_logged(trained):
    task = trained.task
    batch = task.sample(jax.random.key(0), jnp.asarray(task.space.sample(0, 8)))
    noise = [
        float(trained.nets[0].losses(task, batch, Moment(jax.random.key(i), jnp.zeros(())), None).notes["first_noise"])
        for i in range(3)
    ]
    assert len(set(noise)) == 3
    history = trained.history
    assert {"train/nll", "train/kl", "train/first_noise", "validation/nll", "held_out/kl"} <= set(history.columns)
    assert history["loss"].tolist() == pytest.approx((history["train/nll"] + history["train/kl"]).tolist(), rel=1e-5)
    # a mean over 300 steps of a number drawn afresh in each; a noise that stays has the mean of one draw
    assert history["train/first_noise"].abs().max() < 0.3
    assert "validation/r2" not in history  # only losses were asked for


def test_latent_is_a_net():
    check_net(Latent(), Gaussian())
    assert eqx.tree_equal(*(Latent().build(Gaussian(), jax.random.key(0)) for _ in range(2)))
