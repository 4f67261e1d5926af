"""Rendering against plain numpy, and its regularizers in closed form."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from filled_nets import bumps, filled, run, scattered

from recombine.nets import Moment, Rendering
from recombine.nets.rendering import Pages


def test_rendering_in_plain_numpy():
    task = bumps(5, "one-hot")
    at = np.asarray([[1, 3], [4, 0]])
    numbers, _, prediction, trace = run(Rendering(), task, at)
    h = np.zeros((2, 5, 5, 2))
    for factor, pages in enumerate(numbers.pages):
        for row, level in enumerate(at[:, factor]):
            left, right = (
                v[level] / np.linalg.norm(v[level], axis=-1, keepdims=True) for v in (pages.left, pages.right)
            )
            h[row, :, :, factor] = sum(pages.eigenvalues[level, j] * np.outer(left[j], right[j]) for j in range(5))
        np.testing.assert_allclose(trace[f"{'xy'[factor]}/rendered"][:, 0], h[..., factor].reshape(2, 25), atol=1e-5)
    for i in range(3):
        np.testing.assert_allclose(trace[f"layer{i + 1}/pre"][:, 0], h.reshape(2, -1), atol=1e-5)
        h = np.where(h > 0, h, numbers.slopes[i] * h)
        h = scattered(h, numbers.kernels[i], 1, 1) + numbers.biases[i]
    np.testing.assert_allclose(prediction[:, 0], h.reshape(2, 25), atol=1e-5)


def test_other_codes_mix_pages():
    task = bumps(5, "bump")
    codes = np.eye(10, dtype=np.float32)
    codes = np.stack([codes[1], codes[4], 0.3 * codes[1] + 0.7 * codes[4] + codes[7]])
    pages = run(Rendering(), task, code=codes)[3]["x/rendered"][:, 0]
    np.testing.assert_allclose(pages[2], 0.3 * pages[0] + 0.7 * pages[1], atol=1e-5)


def test_regularizers_at_the_beginning_are_as_published():
    """About 17.6 and 1.3 at N = 32, next to an error of .0065: notes on the public code."""
    task = bumps(32, "one-hot", sigma=1.5)

    @jax.jit
    def terms(key):
        pages = Rendering().build(task, key).pages
        return sum(p.entropy() for p in pages), *(sum(p.variance(of) for p in pages) for of in ("raw", "normalized"))

    entropy, raw, normalized = terms(jax.random.key(0))
    assert 0.1 * float(entropy) == pytest.approx(17.6, abs=0.4)
    assert 0.01 * float(raw) == pytest.approx(1.28, abs=0.02) and float(raw) == pytest.approx(
        float(normalized), rel=1e-4
    )


def test_regularizers_in_closed_form():
    flat, random = np.ones((3, 4, 4), np.float32), np.random.default_rng(0).normal(size=(3, 4, 4)).astype(np.float32)
    eigenvalues = np.stack([np.eye(4, dtype=np.float32)[:3], np.full((3, 4), -0.7, np.float32)])

    @jax.jit
    def terms(eigenvalues, left, right):
        pages = Pages(eigenvalues, left, right)
        return pages.entropy(), pages.variance("raw"), pages.variance("normalized"), jax.grad(Pages.entropy)(pages)

    entropy, raw, normalized, gradient = terms(eigenvalues[0], flat, flat)  # rank 1, constant
    assert float(entropy) == pytest.approx(0, abs=1e-5) and float(raw) == float(normalized) == 0
    assert jnp.isfinite(gradient.eigenvalues).all()
    entropy, raw, normalized, _ = terms(eigenvalues[1], random, 2 * random)  # all components alike, any vectors
    assert float(entropy) == pytest.approx(3 * math.log(4), rel=1e-5)
    assert float(raw) == pytest.approx(5 * random.var(-1, ddof=1).sum(), rel=1e-4), "left once, right twice as long"
    unit = random / np.linalg.norm(random, axis=-1, keepdims=True)
    assert float(normalized) == pytest.approx(2 * unit.var(-1, ddof=1).sum(), rel=1e-4)


def test_weights_of_zero_switch_a_regularizer_off():
    task = bumps(4, "one-hot")
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1]]))
    pairs = [(1.0, 0.0), (0.0, 1.0), (0.5, 2.0), (0.0, 0.0)]
    nets = [filled(Rendering(*pair), task) for pair in pairs]
    moment = Moment(jax.random.key(0), jnp.zeros(()))
    found = jax.jit(lambda nets: [n.losses(task, batch, moment, None).parts for n in nets])(nets)
    entropy, variance, both, none = ({name: float(value) for name, value in parts.items()} for parts in found)
    assert [set(parts) for parts in (entropy, variance, both)] == [
        {"loss", "entropy"},
        {"loss", "variance"},
        {"loss", "entropy", "variance"},
    ]
    assert both["entropy"] == pytest.approx(0.5 * entropy["entropy"], rel=1e-5) and entropy["entropy"] > 0
    assert both["variance"] == pytest.approx(2 * variance["variance"], rel=1e-5) and variance["variance"] > 0
    assert set(none) == {"loss"} and none["loss"] == both["loss"] > 0, "the loss of the task stays as it is"
