"""Optimizers: gradients -> directions. Decoupled weight decay and the learning rate come after, by parameter group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import optax

from ..registry import Registry

if TYPE_CHECKING:
    from .recipe import Rates

#: (rates, nesterov) -> what turns gradients into directions; made inside the compiled step, where rates are traced
optimizers: Registry[Callable[[Rates, bool], optax.GradientTransformation]] = Registry("optimizer")


@optimizers.register("adamw")
def adamw(rates: Rates, nesterov: bool) -> optax.GradientTransformation:
    """Adam with decoupled weight decay."""
    return optax.scale_by_adam(rates.b1, rates.b2, nesterov=nesterov)


class Moments(NamedTuple):
    """The state of Adam-atan2."""

    count: jax.Array
    mean: optax.Updates
    square: optax.Updates


@optimizers.register("adam-atan2")
def adam_atan2(rates: Rates, nesterov: bool) -> optax.GradientTransformation:
    """Adam with atan2(m, sqrt(v)) for m / (sqrt(v) + eps): no epsilon, and no direction longer than pi/2."""

    def init(parameters: optax.Params) -> Moments:
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        return Moments(jnp.zeros((), jnp.int32), zeros, zeros)

    def update(
        gradient: optax.Updates, state: Moments, parameters: optax.Params | None = None
    ) -> tuple[optax.Updates, Moments]:
        count = state.count + 1

        def moved(old: optax.Updates, order: int, decay: jax.Array) -> optax.Updates:
            return jax.tree.map(lambda m, g: decay * m + (1 - decay) * g**order, old, gradient)

        mean, square = moved(state.mean, 1, rates.b1), moved(state.square, 2, rates.b2)
        ahead, ahead_count = (moved(mean, 1, rates.b1), count + 1) if nesterov else (mean, count)
        mean_weight, square_weight = 1 - rates.b1**ahead_count, 1 - rates.b2**count

        def direction(m: jax.Array, v: jax.Array) -> jax.Array:
            return jnp.arctan2(m / mean_weight, jnp.sqrt(v / square_weight))

        return jax.tree.map(direction, ahead, square), Moments(count, mean, square)

    return optax.GradientTransformation(init, update)  # type: ignore[arg-type]


@optimizers.register("sign-sgd")
def sign_sgd(rates: Rates, nesterov: bool) -> optax.GradientTransformation:
    """The sign of the gradient, without momentum; what tables of identity vectors are trained with."""
    return optax.stateless(lambda updates, _: jax.tree.map(jnp.sign, updates))


# -- what is done to the gradient first -------------------------------------------------------------------------------

#: (gradient, its norm, wanted norm) -> gradient
gradients: Registry[Callable[[optax.Updates, jax.Array, jax.Array], optax.Updates]] = Registry("treatment of gradients")


@gradients.register("plain")
def plain(gradient: optax.Updates, norm: jax.Array, wanted: jax.Array) -> optax.Updates:
    """As it is."""
    return gradient


@gradients.register("clip")
def clip(gradient: optax.Updates, norm: jax.Array, wanted: jax.Array) -> optax.Updates:
    """Shortened where it is longer than `norm`."""
    return jax.tree.map(lambda g: jnp.where(norm < wanted, g, g / norm * wanted), gradient)


@gradients.register("normalize")
def normalize(gradient: optax.Updates, norm: jax.Array, wanted: jax.Array) -> optax.Updates:
    """Always of length `norm`; a zero gradient stays zero."""
    return jax.tree.map(lambda g: jnp.where(norm > 0, g / jnp.where(norm > 0, norm, 1.0) * wanted, g), gradient)
