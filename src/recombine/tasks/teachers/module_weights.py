"""Constituents: the weights that a task's active modules are drawn with, and the encoding that shows them to a net."""

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp

from ...encodings import ConstituentEncoding, encodings, showing
from ...errors import UserError, unknown
from ...keys import key_for
from ...spaces import Space

#: by name, or the values that a weight can take
Weights = Literal["discrete", "khot", "continuous"] | tuple[float, ...]
WEIGHTS = ("discrete", "khot", "continuous")


def draw_weights(key: jax.Array, active: jax.Array, kind: Weights) -> jax.Array:
    """Constituents z: zero where inactive, else by `kind`. `active` is (T, M) of booleans."""
    if kind == "khot":
        weights = jnp.ones(active.shape)
    elif kind == "discrete":  # one of .5, .6, ..., 1
        weights = (5 + jax.random.randint(key, active.shape, 0, 6)) / 10.0
    elif isinstance(kind, tuple):
        weights = jnp.asarray(kind)[jax.random.randint(key, active.shape, 0, len(kind))]
    else:  # e ~ Exp(1) on the active ones, w = e / (1 + sum e), z = (1 + w) / 2
        drawn = jnp.where(active, jax.random.exponential(key, active.shape), 0.0)
        weights = 0.5 + 0.5 * drawn / (1 + drawn.sum(-1, keepdims=True))
    return jnp.where(active, weights, 0.0)


def require_modules(what: str, space: Space) -> Space:
    """`space` if its combinations are sets of modules that weights can be drawn for."""
    if space.ordered or not space.free:
        raise UserError(f"a {what} needs a Subsets space, got {space}")
    return space


def require_weights(weights: Any) -> Weights:
    """A kind of weights by name, or values from above 0 to 1."""
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise unknown("kind of weights", weights, WEIGHTS)
        return weights  # type: ignore[return-value]
    values = tuple(weights)
    if not values or not all(isinstance(value, (int, float)) and 0 < value <= 1 for value in values):
        raise UserError(f"weights={weights!r} must be {', '.join(WEIGHTS)} or numbers above 0 and at most 1")
    return tuple(float(value) for value in values)


def make_encoding(
    name: str, options: dict[str, Any] | None, space: Space, seed: int, example_size: int | None = None
) -> ConstituentEncoding:
    """The encoding called `name` for the elements of a space; `example_size` only if the task can make examples."""
    made = encodings[name]
    if made.shows != "constituents":  # type: ignore[attr-defined]
        raise unknown("encoding of constituents", name, showing("constituents"))
    return made(len(space.element_names), key_for("encoding", seed), example_size=example_size, **(options or {}))
