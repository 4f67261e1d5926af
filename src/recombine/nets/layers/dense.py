"""Kernels of products: how they begin, and their product with rows of any number of axes."""

from __future__ import annotations

import jax
from jaxtyping import Array, Float

from ...distributions import truncated_normal
from ...machine.precision import matmul


def rows_matmul(x: Float[Array, "*n _in"], kernel: Float[Array, "_in _out"], precision: str) -> Float[Array, "*n _out"]:
    """x @ kernel as one product of matrices."""
    return matmul(x.reshape(-1, x.shape[-1]), kernel, precision).reshape(*x.shape[:-1], -1)


def lecun_normal(key: jax.Array, fan_in: int, fan_out: int) -> Float[Array, "_in _out"]:
    return truncated_normal(key, (fan_in, fan_out), fan_in**-0.5)


def xavier_uniform(key: jax.Array, fan_in: int, fan_out: int) -> Float[Array, "_in _out"]:
    """Uniform with variance 2 / (fan in + fan out)."""
    limit = (6 / (fan_in + fan_out)) ** 0.5
    return jax.random.uniform(key, (fan_in, fan_out), minval=-limit, maxval=limit)
