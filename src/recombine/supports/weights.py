"""Weights: how often each training combination is drawn, such as how often a data set repeats it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..spaces import Space

_LARGEST = 1e300  # any number of weights up to this has a sum


class WeightedSampler(eqx.Module):
    """Draws rows of a table on the device, each as often as its weight says. What is padded is never drawn.

    32 random bits fall between two starts, so a share is a whole number of 2^-32: one for each row, so that no row is
    never drawn, and of all the others the part that its weight gives. Of n rows no share is off by more than n / 2^32.
    """

    rows: jax.Array  # (padded, width)
    starts: jax.Array  # (padded,) uint32: the first number that is row i's, rising
    count: jax.Array  # how many of them are real

    def __call__(self, key: jax.Array, n: int) -> jax.Array:
        bits = jax.random.bits(key, (n,), jnp.uint32)
        at = jnp.searchsorted(self.starts, bits, side="right") - 1
        return self.rows[jnp.minimum(at, self.count - 1)]  # padding starts at the last number, which is the last row's


def starts_of(weights: np.ndarray, padded: int) -> np.ndarray:
    """(padded,) uint32: where the numbers below 2^32 that stand for each row begin, for `WeightedSampler`."""
    n = len(weights)
    before = np.concatenate([[0.0], np.cumsum(shares_of(weights))[:-1]])
    starts = np.full(padded, 2**32 - 1, dtype=np.uint32)
    starts[:n] = np.arange(n) + np.floor(np.minimum(before, 1.0) * (2**32 - n))
    return starts


def shares_of(weights: np.ndarray) -> np.ndarray:
    """Weights as shares that add up to one."""
    return weights / weights.sum()


def checked_weights(space: Space, rows: np.ndarray, weights: Any) -> np.ndarray:
    """(n,) weights of training rows, each above zero; or an error that names the first that is not."""
    try:
        found = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise UserError(f"weights={weights!r} are not numbers; give one above 0 per training row") from None
    if found.shape != (len(rows),):
        raise UserError(
            f"weights of shape {found.shape} do not cover the training side of {len(rows):,} rows; give one per row"
        )
    if len(found) and not found.any():
        raise UserError(f"all {len(found):,} weights are 0, so nothing would be trained; give weights above 0")
    with np.errstate(all="ignore"):
        tiny = found / found.sum() == 0
    for bad, why in (
        (~np.isfinite(found), "not a finite number; give one above 0"),
        (found < 0, "negative; give a number above 0"),
        (found == 0, "so it is not trained; leave it out of the training side"),
        (found > _LARGEST, "more than can be added up; divide all weights by the same number"),
        (tiny, "nothing beside the largest; leave it out of the training side, or weigh it more"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise UserError(f"the weight of {space.describe(rows[row])} is {found[row]:g}, {why}")
    return found
