"""Optimizers: gradients -> directions. Decoupled weight decay and the learning rate come after, by parameter group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..registry import Registry

if TYPE_CHECKING:
    from .recipe import Rates

#: (rates, nesterov) -> what turns gradients into directions; made inside the compiled step, where rates are traced
optimizers: Registry[Callable[[Rates, bool], optax.GradientTransformation]] = Registry("optimizer")
EPSILON = 1e-8  # of Adam, in units of the gradient


class Moments(NamedTuple):
    """The state of Adam and Adam-atan2."""

    count: jax.Array
    mean: optax.Updates
    square: optax.Updates


def _no_moments(parameters: optax.Params) -> Moments:
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return Moments(jnp.zeros((), jnp.int32), zeros, zeros)


def _moved(old: optax.Updates, gradient: optax.Updates, order: int, decay: jax.Array) -> optax.Updates:
    return jax.tree.map(lambda m, g: decay * m + (1 - decay) * g**order, old, gradient)


@optimizers.register("adamw")
def adamw(rates: Rates, nesterov: bool) -> optax.GradientTransformation:
    """Adam with decoupled weight decay."""
    b1, b2 = rates.b1, rates.b2

    def update(
        gradient: optax.Updates, state: Moments, parameters: optax.Params | None = None
    ) -> tuple[optax.Updates, Moments]:
        count = state.count + 1
        mean, square = _moved(state.mean, gradient, 1, b1), _moved(state.square, gradient, 2, b2)
        # What all arrays are multiplied by is one vector, which is one kernel. As scalars it would be a kernel each, or
        # be computed in the kernel of each array: either takes longer to compile (docs/speed.md).
        decays = jnp.where(np.array([True, True, False]), b1, b2)
        of_mean, of_gradient, of_square = 1 / (1 - decays ** (count + np.array([nesterov, 0, 0])))

        def direction(m: jax.Array, v: jax.Array, g: jax.Array) -> jax.Array:
            ahead = b1 * of_mean * m + (1 - b1) * of_gradient * g if nesterov else of_mean * m
            return ahead / (jnp.sqrt(of_square * v) + EPSILON)

        return jax.tree.map(direction, mean, square, gradient), Moments(count, mean, square)

    return optax.GradientTransformation(_no_moments, update)  # type: ignore[arg-type]


@optimizers.register("adam-atan2")
def adam_atan2(rates: Rates, nesterov: bool) -> optax.GradientTransformation:
    """Adam with atan2(m, sqrt(v)) for m / (sqrt(v) + eps): no epsilon, and no direction longer than pi/2."""

    def update(
        gradient: optax.Updates, state: Moments, parameters: optax.Params | None = None
    ) -> tuple[optax.Updates, Moments]:
        count = state.count + 1
        mean, square = _moved(state.mean, gradient, 1, rates.b1), _moved(state.square, gradient, 2, rates.b2)
        ahead, ahead_count = (_moved(mean, gradient, 1, rates.b1), count + 1) if nesterov else (mean, count)
        mean_weight, square_weight = 1 - rates.b1**ahead_count, 1 - rates.b2**count

        def direction(m: jax.Array, v: jax.Array) -> jax.Array:
            return jnp.arctan2(m / mean_weight, jnp.sqrt(v / square_weight))

        return jax.tree.map(direction, ahead, square), Moments(count, mean, square)

    return optax.GradientTransformation(_no_moments, update)  # type: ignore[arg-type]


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


def least_square(gradient: Mapping[str, jax.Array]) -> jax.Array:
    """At most the squared norm, and not finite if an entry is not, or if the entries are so large that squares are not.

    Where no norm is needed: the sum of an array is a call of a library, that of its squares has kernels to compile.
    By the inequality of Cauchy and Schwarz, the squared sum of n numbers is at most n times the sum of their squares.
    """
    sums = (
        jnp.sum(g, dtype=jnp.promote_types(g.dtype, jnp.float32)) / max(g.size, 1) ** 0.5 for g in gradient.values()
    )
    return sum((one**2 for one in sums), start=jnp.zeros(()))
