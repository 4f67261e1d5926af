"""What nets that draw have in common: they serve tasks of pictures, and read nothing but the code.

Their kernels and biases begin uniform within 1/sqrt(fan in), PReLUs with slope 1/4: the defaults of torch, in which the
published decoders (Liang, Qian, Ziyin, Fiete 2025) were written.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...errors import UserError
from ...tasks import Pictures, Task
from ..base import Blueprint, Trace

SLOPE = 0.25  # of a PReLU below zero, before training


def require_pictures(blueprint: Blueprint, task: Task) -> Pictures:
    """The task, if it is one of pictures."""
    if not isinstance(task, Pictures):
        raise UserError(f"net {blueprint.name!r} draws pictures and {task.id} asks for none; bumps-v1 does")
    return task


def uniform(key: jax.Array, shape: tuple[int, ...], fan_in: int) -> jax.Array:
    """Uniform within 1/sqrt(fan in)."""
    bound = fan_in**-0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def slope() -> Float[Array, " one"]:
    """The slope of a fresh PReLU. Of shape (1,), as a bias: weight decay is for matrices."""
    return jnp.full(1, SLOPE, jnp.float32)  # a weak type would become a strong one in a step, and be compiled twice


def prelu(x: jax.Array, slope: Float[Array, " one"]) -> jax.Array:
    return jnp.where(x > 0, x, slope * x)


def flat(trace: Trace) -> Trace:
    """Layers as (T, 1, units): one row per task, since the code says all there is to draw."""
    return {name: value.reshape(len(value), 1, -1) for name, value in trace.items()}
