"""What tests of nets that draw share: nets whose weights are all in use, run by one compiled program."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine import Product
from recombine.tasks import Batch, Bumps


def bumps(side: int, encoding: str = "bump", **options) -> Bumps:
    return Bumps(Product(x=side, y=side), encoding=encoding, **options)


def plain(tree):
    """In double precision, for numpy."""
    return jax.tree.map(lambda leaf: np.asarray(leaf, float), tree)


def filled(blueprint, task):
    """A net with weights that are written down: none is zero or one, and random numbers take long to compile."""
    shapes = eqx.filter_eval_shape(blueprint.build, task, jax.random.key(0))
    leaves, structure = jax.tree.flatten(shapes)
    scales = [0.3 if leaf.ndim < 2 else (leaf.size / leaf.shape[-1]) ** -0.5 for leaf in leaves]
    weights = [
        jnp.asarray(scale * np.cos(1 + number + 1.7 * np.arange(leaf.size) ** 1.3).reshape(leaf.shape), jnp.float32)
        for number, (leaf, scale) in enumerate(zip(leaves, scales, strict=True))
    ]
    return jax.tree.unflatten(structure, weights)


def run(blueprint, task, at=None, code=None):
    """The weights of a net and a code in double precision, what it draws, and its trace."""
    net = filled(blueprint, task)
    codes = jax.jit(task.code_of)(jnp.asarray(at, jnp.float32)) if code is None else jnp.asarray(code)
    prediction, trace = jax.jit(lambda n, c: n.answer(Batch(None, c)))(net, codes)
    assert set(trace) == set(blueprint.layers())
    return plain(net), plain(codes), prediction, trace


def scattered(x, kernel, stride, padding):
    """A transposed convolution by its definition: each pixel adds to its neighbors."""
    t, h, w, _ = x.shape
    k, d = kernel.shape[0], kernel.shape[-1]
    out = np.zeros((t, (h - 1) * stride + k, (w - 1) * stride + k, d))
    for a in range(h):
        for b in range(w):
            for i in range(k):
                for j in range(k):
                    out[:, stride * a + i, stride * b + j] += x[:, a, b] @ kernel[i, j]
    return out[:, padding : out.shape[1] - padding, padding : out.shape[2] - padding]
