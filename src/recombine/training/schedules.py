"""Schedules: the share of the peak learning rate at each step. All rise linearly to it over the warm-up first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from ..registry import Registry

if TYPE_CHECKING:
    from .recipe import Rates

#: (step, rates) -> share of the peak rate, without the warm-up
schedules: Registry[Callable[[jax.Array, Rates], jax.Array]] = Registry("schedule")


def learning_rate_at(step: jax.Array, rates: Rates, schedule: str) -> jax.Array:
    """Linear warm-up to the peak, then the schedule."""
    return rates.learning_rate * warmed_up(step, rates) * schedules[schedule](step, rates)


def warmed_up(step: jax.Array, rates: Rates) -> jax.Array:
    """Share of the warm-up that is behind, from 0 to 1."""
    return jnp.minimum(1.0, (step + 1) / jnp.maximum(rates.warmup, 1.0))


def _past(step: jax.Array, rates: Rates) -> jax.Array:
    """Share of the steps after the warm-up that is behind, from 0 to 1."""
    return jnp.clip((step - rates.warmup) / jnp.maximum(rates.steps - rates.warmup, 1.0), 0.0, 1.0)


def _to_floor(share: jax.Array, rates: Rates) -> jax.Array:
    return share + rates.floor * (1 - share)


@schedules.register("constant")
def constant(step: jax.Array, rates: Rates) -> jax.Array:
    """The peak rate until the end."""
    return jnp.ones_like(_past(step, rates))


@schedules.register("cosine")
def cosine(step: jax.Array, rates: Rates) -> jax.Array:
    """Half a cosine from the peak to `floor` of it at the last step."""
    return _to_floor(0.5 * (1 + jnp.cos(jnp.pi * _past(step, rates))), rates)


@schedules.register("linear")
def linear(step: jax.Array, rates: Rates) -> jax.Array:
    """A line from the peak to `floor` of it at the last step."""
    return _to_floor(1 - _past(step, rates), rates)


@schedules.register("noam")
def noam(step: jax.Array, rates: Rates) -> jax.Array:
    """As 1/sqrt(step) after the warm-up. A published factor f, width d and warm-up w make a peak of f / sqrt(d w)."""
    return jnp.minimum(1.0, jnp.sqrt(jnp.maximum(rates.warmup, 1.0) / (step + 1)))


@schedules.register("halving")
def halving(step: jax.Array, rates: Rates) -> jax.Array:
    """Half the rate after each `half_life` of the steps, smoothly."""
    return 0.5 ** (step / jnp.maximum(rates.half_life * rates.steps, 1.0))
