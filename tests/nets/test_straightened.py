"""The penalty on the angle between factors: planted layers, exact tangents, and what its gradient does."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from filled_nets import bumps, filled

from recombine import Recipe, supports
from recombine.nets import MLP, CNNDecoder, Moment, Net, Rendering, Straightened
from recombine.nets.wrappers import straightened
from recombine.nets.wrappers.straightened import StraightenedNet
from recombine.tasks import Batch, draw_batch
from recombine.training.step import fresh_state, one_step


class Planted(Net):
    """A hidden layer that is a linear map of the code."""

    map: jax.Array

    def __call__(self, batch, key=None):
        hidden = (batch.code @ self.map)[:, None]
        return hidden, {"layer1/post": hidden, "layer1/pre": hidden**2, "output": hidden}


def parts(net, task, batch, key):
    return net.losses(task, batch, Moment(key, jnp.zeros(())), None).parts


def obliqueness(net, task, at) -> float:
    return float(straightened.obliqueness(straightened.tangents(net, task, jnp.asarray(at, jnp.float32))))


@pytest.mark.parametrize(
    "matrix, wanted",
    [([[1, 1], [1, -1]], 0), ([[1], [1]], 0.5), ([[1, 0], [1, 1]], 1 / 3), ([[-2, 0], [1, 0]], 2 / 5)],
    ids=["right angle", "same direction", "between", "opposite"],
)
def test_obliqueness_of_planted_layers(matrix, wanted):
    """|g_01| / (g_00 + g_11) of rows of the map: the code of a ramp is the coordinates."""
    net = Planted(jnp.asarray(matrix, jnp.float32))
    assert obliqueness(net, bumps(6, "ramp"), [[1, 2], [4, 0]]) == pytest.approx(wanted, abs=1e-6)


def test_tangents_of_one_hot_codes_are_differences_between_levels():
    """The published metric: central within, one-sided at the border."""
    task = bumps(4, "one-hot")
    values = jax.random.normal(jax.random.key(0), (8, 3))
    ((first, second),) = straightened.tangents(Planted(values), task, jnp.asarray([[0.0, 2.0], [1.0, 3.0]]))
    wanted = [values[1] - values[0], (values[2] - values[0]) / 2]
    np.testing.assert_allclose(first[:, 0], jnp.stack(wanted), atol=1e-6)
    wanted = [(values[7] - values[5]) / 2, values[7] - values[6]]
    np.testing.assert_allclose(second[:, 0], jnp.stack(wanted), atol=1e-6)


def test_tangents_are_exact_where_the_code_is_smooth():
    task = bumps(6)
    at = jnp.asarray([[1.3, 2.6], [3.4, 4.1]])

    @jax.jit
    def exact_and_differences(net):
        def layers(at):
            trace = net(Batch(None, task.code_of(at)))[1]
            return [trace["layer1/post"], trace["layer2/post"]]

        step = 1e-2 * jnp.eye(2)
        differences = [[(a - b) / 2e-2 for a, b in zip(layers(at + e), layers(at - e), strict=True)] for e in step]
        return straightened.tangents(net, task, at), list(zip(*differences, strict=True))

    for pair, wanted in zip(*exact_and_differences(filled(CNNDecoder(4, 1, base=4), task)), strict=True):
        for found, near in zip(pair, wanted, strict=True):
            assert np.median(abs(found - near)) < 1e-4 and np.corrcoef(found.ravel(), near.ravel())[0, 1] > 0.99


def test_straightened_is_the_net_within_plus_a_penalty():
    task = bumps(6, "ramp")
    inner = MLP(16, 2)
    blueprint = Straightened(inner, weight=3.0)
    assert blueprint == Straightened({"net": "mlp", "width": 16, "depth": 2}, weight=3.0)
    assert blueprint.layers() == inner.layers() and hash(blueprint) == hash(Straightened(inner, weight=3.0))
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1], [2, 5]]))
    one, other = jax.random.split(jax.random.key(1))

    @jax.jit
    def facts(within):
        bent = straightened.obliqueness(straightened.tangents(within, task, batch.constituents))
        net, everywhere, off = (
            StraightenedNet(within, b)
            for b in (blueprint, Straightened(inner, everywhere=True), Straightened(inner, weight=0.0))
        )
        penalties = [parts(n, task, batch, k)["obliqueness"] for n in (net, everywhere) for k in (one, other)]
        return bent, penalties, parts(off, task, batch, one), parts(within, task, batch, one)

    within = filled(inner, task)
    assert eqx.tree_equal(within, filled(blueprint, task).net)
    bent, penalties, off, own = facts(within)
    assert off == own and set(off) == {"loss"}
    assert float(penalties[0]) == pytest.approx(3 * float(bent), rel=1e-4)
    assert penalties[0] == penalties[1], "at the points of the batch there is nothing to draw"
    assert penalties[2] != penalties[3]


def test_the_penalty_of_the_net_within_stays():
    task = bumps(4, "one-hot")
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1], [2, 3]]))

    @jax.jit
    def penalties(net, key):
        weighted = [StraightenedNet(net, Straightened(Rendering(), weight=weight)) for weight in (0.0, 1.0)]
        return [parts(n, task, batch, key) for n in (net, *weighted)]

    own, unweighted, both = penalties(filled(Rendering(), task), jax.random.key(0))
    assert own == unweighted and set(own) == {"loss", "entropy", "variance"}
    assert 0 < both.pop("obliqueness") <= 0.5 and both == own


def test_following_its_gradient_straightens_and_a_step_adds_it_to_the_loss():
    """Of the tangents of an MLP on a ramp code, on the whole grid."""
    task, recipe = bumps(6, "ramp"), Recipe(tasks=16, learning_rate=0.0, precision="float32")
    grid = jnp.asarray(task.space.enumerate(), jnp.float32)
    blueprint = Straightened(MLP(16, 1), weight=10.0)
    sampler = supports.donut(task.space).train.sampler()

    @jax.jit
    def facts(net):
        def bent(net):
            return straightened.obliqueness(straightened.tangents(net, task, grid))

        def step(_, net):
            return jax.tree.map(lambda w, g: w - 0.3 * g, net, jax.grad(bent)(net))

        key = jax.random.key(0)
        whole = StraightenedNet(net, blueprint)
        batch = draw_batch(task, sampler, jax.random.fold_in(key, 0), 16, 1)
        loss, penalty = task.loss(net(batch)[0], batch), parts(whole, task, batch, key)["obliqueness"]
        state = fresh_state(whole, recipe, task, lambda: batch)
        state = one_step(*state, task, sampler, recipe.rates(), key, recipe.shape())
        return bent(net), bent(jax.lax.fori_loop(0, 60, step, net)), loss, penalty, state.loss_sum, state.sums

    before, after, loss, penalty, both, sums = facts(filled(MLP(16, 1), task))
    assert after < 0.5 * before
    assert float(both) == pytest.approx(float(loss + penalty), rel=1e-5) and penalty > 0.01 * loss
    assert {name: float(total) for name, total in sums.items()} == pytest.approx(
        {"loss": float(loss), "obliqueness": float(penalty)}, rel=1e-5
    )
