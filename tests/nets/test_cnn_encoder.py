"""The convolutional encoder: published size, convolutions against their definition, refusals."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import READ, draw, jolted

from recombine import Product, Subsets, UserError
from recombine.nets import CNNEncoder, initialize
from recombine.nets.layers import convolution
from recombine.tasks import BumpsRead, Hyperteacher


def read_by_definition(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """out[a] = sum_i x[2 a + i - 1] @ kernel[i]."""
    t, h, w, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    out = np.zeros((t, -(-h // 2), -(-w // 2), kernel.shape[-1]))
    for a in range(out.shape[1]):
        for b in range(out.shape[2]):
            out[:, a, b] = np.einsum("tijc,ijcd->td", padded[:, 2 * a : 2 * a + 3, 2 * b : 2 * b + 3], kernel)
    return out


@pytest.mark.parametrize("side", [4, 5, 7])
def test_a_map_is_halved_by_the_definition(side):
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, side, side, 3)), rng.normal(size=(3, 3, 3, 5))
    found = convolution.halve(jnp.asarray(x, jnp.float32), jnp.asarray(kernel, jnp.float32))
    np.testing.assert_allclose(found, read_by_definition(x, kernel), atol=1e-5)


def test_the_published_number_of_parameters():
    """32, 64 and 128 channels, 2048 -> 128 -> 56; and 128 for the one number of a code that says nothing."""
    task = BumpsRead(Product(x=28, y=28))
    shapes = eqx.filter_eval_shape(CNNEncoder().build, task, jax.random.key(0))
    assert (
        sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes)) == 320 + 18_496 + 73_856 + 262_272 + 7_224 + 128
    )


def test_an_answer_is_that_of_its_layers_one_after_the_other():
    net = jolted(initialize(CNNEncoder(4, 2, 12), READ, jax.random.key(0), "float32"))
    batch = draw(READ, 2)
    found, trace = net(batch)
    h = np.asarray(batch.inputs, float).reshape(-1, READ.drawn.side, READ.drawn.side, 1)
    for kernel, bias in zip(net.kernels[:2], net.biases[:2], strict=True):
        h = np.maximum(read_by_definition(h, np.asarray(kernel)) + np.asarray(bias), 0)
    h = np.concatenate([h.reshape(len(h), -1), np.ones((len(h), 1))], axis=1)
    h = np.maximum(h @ np.asarray(net.kernels[2]) + np.asarray(net.biases[2]), 0)
    h = h @ np.asarray(net.kernels[3]) + np.asarray(net.biases[3])
    np.testing.assert_allclose(found.reshape(len(h), -1), h, atol=1e-4)
    assert tuple(trace) == CNNEncoder(4, 2, 12).layers()


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: CNNEncoder(width=0), ["width=0", "at least 1"]),
        (lambda: CNNEncoder(depth=-1), ["depth=-1", "at least 1"]),
        (lambda: CNNEncoder(hidden=0.5), ["hidden=0.5", "whole number"]),
        (lambda: CNNEncoder().require(Hyperteacher(Subsets(6, 2), inputs=15)), ["15 numbers", "9 would do", "'mlp'"]),
        (lambda: CNNEncoder().require(READ.drawn), ["no", "'mlp'"]),
        (lambda: CNNEncoder().require(Hyperteacher(Subsets(6, 2), encoding="tokens")), ["words", "'mlp'"]),
    ],
)
def test_what_it_cannot_read_is_refused_in_a_sentence(make, words):
    with pytest.raises(UserError) as refusal:
        make()
    for word in words:
        assert word in str(refusal.value)
