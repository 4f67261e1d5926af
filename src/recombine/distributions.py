"""Distributions that teachers and nets are drawn from."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
from jax.core import Tracer

from .machine.precision import one_thread

# A standard normal cut at +-2 has this standard deviation.
TRUNCATED_SD = 0.87962566103423978


def truncated_normal(key: jax.Array, shape: tuple[int, ...], sd: float) -> jax.Array:
    """Normal, cut at two standard deviations and rescaled so that `sd` is what is left after the cut."""
    inside = isinstance(key, Tracer)  # part of a program: compiled with it
    drawn = _between(key, shape) if inside else _program()(key, shape)
    return drawn * (sd / TRUNCATED_SD)


def _between(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return jax.random.truncated_normal(key, -2.0, 2.0, shape)


@functools.cache
def _program() -> Callable[[jax.Array, tuple[int, ...]], jax.Array]:
    return jax.jit(_between, static_argnums=1, compiler_options=one_thread())
