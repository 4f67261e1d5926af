"""The nets that a hypernetwork makes, against plain numpy."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import draw, jolted, norm

from recombine import Subsets
from recombine.nets import Hypernetwork
from recombine.tasks import Batch, Hyperteacher

#: one over the deviation of a standard normal that is cut at +-2, whose variance is 1 - 4 phi(2) / (2 Phi(2) - 1)
CUT = (1 - 4 * math.exp(-2) / math.sqrt(2 * math.pi) / math.erf(math.sqrt(2))) ** -0.5


def test_kernels_are_larger_by_the_cut_of_a_truncated_normal_as_published():
    assert pytest.approx(1.137, abs=5e-4) == CUT


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("width", [4, 24], ids=["narrow", "wide"])
@pytest.mark.parametrize("encoding", ["identity", "tokens"])
def test_the_net_that_a_hypernetwork_makes_in_plain_numpy(samples, width, encoding):
    """Width 4 is less than the 16 inputs, and 24 more than the 7 outputs: every order of the sum is taken."""
    task = Hyperteacher(Subsets(6, 2), outputs=7, encoding=encoding)
    net = jolted(Hypernetwork(width, embedding=3).build(task, jax.random.key(0)))
    drawn = draw(task, samples, tasks=5)
    prediction, trace = jax.jit(lambda n, b: n(b))(net, drawn)
    plain = jax.tree.map(lambda leaf: np.asarray(leaf, float), net)
    for row in range(5):
        code = np.asarray(drawn.code[row], float)
        code = code if plain.words is None else plain.words[code.astype(int)].ravel()
        n = norm(code, plain.code_scale) + plain.code_bias

        def made(generator, *shape, n=n):
            return (n @ generator.kernel + generator.bias).reshape(shape)

        hidden = np.asarray(drawn.inputs[row], float) @ made(plain.hidden_kernel, 16, width) / 4 * CUT
        hidden = hidden + made(plain.hidden_bias, width)
        out = np.maximum(hidden, 0) @ made(plain.output_kernel, width, 7) * math.sqrt(2 / width) * CUT
        np.testing.assert_allclose(trace["layer1/pre"][row], hidden, atol=2e-5)
        np.testing.assert_allclose(prediction[row], out + made(plain.output_bias, 7), atol=5e-5)
    assert (trace["layer1/post"] == jnp.maximum(trace["layer1/pre"], 0)).all() and (trace["output"] == prediction).all()


def test_a_fresh_hypernetwork_makes_nets_whose_deviation_is_that_of_the_published_kernels(teacher):
    net = Hypernetwork(256).build(teacher, jax.random.key(0))
    drawn = draw(teacher, samples=1, tasks=64)._replace(inputs=jax.random.normal(jax.random.key(2), (64, 16, 16)))
    prediction, trace = jax.jit(lambda n, b: n(b))(net, drawn)
    assert trace["layer1/pre"].std() == pytest.approx(CUT, abs=0.05)
    assert prediction.std() == pytest.approx(CUT**2, abs=0.1)


def test_a_hypernetwork_cannot_tell_the_size_of_a_code(small):
    net = Hypernetwork(8).build(small, jax.random.key(0))
    batch = Batch(None, jnp.eye(6)[:1], jnp.ones((1, 1, 16)))
    np.testing.assert_allclose(net(batch)[0], net(batch._replace(code=batch.code / 2))[0], atol=1e-4)
