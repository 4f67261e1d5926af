"""How a net reads a code: numbers as they are, words by a table that it learns.

A code is (T, C) numbers, or (T, L) whole numbers 0, 1, ..., V-1, which are words: word w is row w of a table (V, E).
The rows are gathered: on a CPU a product with one-hot rows takes 4 to 7 times as long, value and gradient together
inside a loop (V 28, 96 tasks of 17 or 32 words, E 16 and 256).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Num

from ...distributions import truncated_normal
from ..sizes import Sizes


def word_table(sizes: Sizes, key: jax.Array, size: int) -> Float[Array, "v e"] | None:
    """A fresh table for the words of a code, each a vector of length about 1; None if the code is numbers."""
    return None if sizes.words is None else truncated_normal(key, (sizes.words, size), size**-0.5)


def look_up(table: Float[Array, "v e"], words: Int[Array, "t w"]) -> Float[Array, "t w e"]:
    """The vector of each word. A number beyond the last word gives NaN, which training reports."""
    return jnp.take(table, words, axis=0, mode="fill")


def read(table: Float[Array, "v e"] | None, code: Num[Array, "t c"]) -> Float[Array, "t f"]:
    """The code as features: its numbers, or the vectors of its words one after the other."""
    return code if table is None else look_up(table, code).reshape(len(code), -1)


def features(sizes: Sizes, size: int) -> int:
    """How many numbers `read` gives for a code, with words of `size` numbers."""
    return sizes.code if sizes.words is None else sizes.code * size
