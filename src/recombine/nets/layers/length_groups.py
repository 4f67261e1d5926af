"""Sequences of unlike lengths without the price of padding: a batch in groups of about equal length.

Padded to the longest, commands of SCAN cost 3.4 times the words that they have. Here a batch is sorted by the length of
its targets and cut into groups of equal size; each group is computed at the shortest of a few lengths that holds it,
one after the other, by a compiled switch. The result is the same sum up to rounding.

The gradient of a switch as jax derives it keeps what *every* branch would need; so value and gradient are computed
together within the branch, by a derivative that is written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

SHORTEST = 12  # no length below it has a program of its own
FACTOR = 1.5  # from one length to the next
Weights = Any
NatsOf = Callable[[Weights, jax.Array, jax.Array], jax.Array]  # weights, codes, targets -> a sum over all words


def lengths_up_to(longest: int) -> tuple[int, ...]:
    """The lengths that have a program of their own, shortest first."""
    found = [longest]
    while found[-1] / FACTOR >= SHORTEST:
        found.append(-int(-found[-1] // FACTOR))
    return tuple(reversed(found))


def sum_in_groups(nats_of: NatsOf, weights: Weights, code: jax.Array, target: jax.Array, rows: int) -> jax.Array:
    """nats_of(weights, code, target), computed in groups of `rows` sequences."""
    lengths = lengths_up_to(target.shape[1])
    order = jnp.argsort((target >= 0).sum(1))
    groups = [part[order].reshape(-1, rows, part.shape[1]) for part in (code, target)]

    def over_groups(of_group: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
        """The sum over groups of a function of weights, codes and targets, each group cut to its length."""
        at = [lambda weights, code, target, n=n: of_group(weights, code, target[:, :n]) for n in lengths]

        def total(weights: Weights, code: jax.Array, target: jax.Array) -> Any:
            def add(so_far: Any, group: tuple[jax.Array, jax.Array]) -> tuple[Any, None]:
                needed = (group[1] >= 0).sum(1).max()
                found = jax.lax.switch(jnp.searchsorted(jnp.asarray(lengths), needed), at, weights, *group)
                return jax.tree.map(jnp.add, so_far, found), None

            return jax.lax.scan(add, nothing(weights), (code, target))[0]

        return total

    def both_nothing(weights: Weights) -> Any:
        return jnp.zeros(()), jax.tree.map(jnp.zeros_like, weights)

    value = over_groups(nats_of, lambda _: jnp.zeros(()))
    value_and_gradient = over_groups(jax.value_and_grad(nats_of), both_nothing)

    @jax.custom_vjp
    def summed(weights: Weights, code: jax.Array, target: jax.Array) -> jax.Array:
        return value(weights, code, target)

    def back(gradient: Weights, g: jax.Array) -> tuple:
        return jax.tree.map(lambda leaf: g * leaf, gradient), None, None

    summed.defvjp(value_and_gradient, back)
    return summed(weights, *groups)
