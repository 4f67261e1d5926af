"""Encodings: how a combination's constituents are shown to a net.

An encoding is a pytree with `size` (numbers it emits for `constituents` numbers it gets) and a call that maps
constituents (..., M) to a code (..., size). Chance (a random matrix) is drawn once, when the encoding is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .registry import Registry


class Encoding(eqx.Module):
    """What every encoding has."""

    linear: ClassVar[bool]
    injective: ClassVar[bool]
    size: int = eqx.field(static=True)

    def __call__(self, constituents: jax.Array) -> jax.Array:
        raise TypeError("use a registered encoding")


encodings: Registry[Callable[[int, jax.Array], Encoding]] = Registry("encoding")


@encodings.register("identity")
class Identity(Encoding):
    """The constituents themselves."""

    linear = True
    injective = True

    def __init__(self, constituents: int, key: jax.Array):
        self.size = constituents

    def __call__(self, constituents: jax.Array) -> jax.Array:
        return constituents


@encodings.register("orthogonal")
class Orthogonal(Encoding):
    """The constituents turned by a fixed random rotation, uniform over the orthogonal matrices."""

    linear = True
    injective = True
    matrix: jax.Array

    def __init__(self, constituents: int, key: jax.Array):
        self.size = constituents
        self.matrix = jax.random.orthogonal(key, constituents)

    def __call__(self, constituents: jax.Array) -> jax.Array:
        return jnp.matmul(constituents, self.matrix.T, precision="highest")
