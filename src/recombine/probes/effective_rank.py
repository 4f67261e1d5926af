"""effective-rank: how many directions does a layer use over the grid of two factors?

From the eigenvalues of the covariance of its activations over all points:

    rank            eigenvalues above a thousandth of the largest, as published (public code of Liang et al. 2025)
    components_99   leading eigenvalues that hold 99 % of the variance, as published
    entropy_rank    exp of the entropy of the eigenvalues' shares: a count without a threshold (ours)

A layer that is a sum of a function of x and one of y has no more than n0 + n1 - 2 of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from ..precision import one_thread
from ..trained import Trained
from .base import Readings, probes
from .grid import Grid
from .layers import Values, layer_readings

FRACTION = 1e-3  # of the largest eigenvalue
HELD = 0.99  # of the variance


@probes.register("effective-rank")
def effective_rank(trained: Trained, **options: Any) -> Readings:
    """How many directions each layer uses over the grid of two factors, counted in three ways, with controls.

    The options are those of `layer_readings`.
    """
    return layer_readings("effective-rank", "rank", _measure, trained, **options)


def spectrum(blocks: Iterator[jax.Array]) -> np.ndarray:
    """Eigenvalues of the covariance over the grid of a layer's units, falling; from the smaller of the two matrices."""
    gram: Any = 0.0
    points = 1
    ahead = next(blocks)
    while True:
        block, ahead = ahead, next(blocks, None)
        points = block.shape[0] * block.shape[1]
        # a layer in one block with fewer units than points: units x units is smaller, with the same eigenvalues
        by_units = ahead is None and isinstance(gram, float) and block.shape[2] < points
        gram = gram + np.asarray(_gram_program(by_units)(block), float)
        if ahead is None:
            break
    return np.maximum(scipy.linalg.eigvalsh(gram, check_finite=False)[::-1], 0) / points


def ranks(eigenvalues: np.ndarray) -> dict[str, float]:
    """The three counts; 0 for a layer that does not move."""
    total = eigenvalues.sum()
    if not total > 0:
        return {"rank": 0.0, "components_99": 0.0, "entropy_rank": 0.0}
    shares = eigenvalues / total
    held = np.searchsorted(np.cumsum(shares), HELD - 1e-9) + 1  # rounding must not ask for one more
    some = shares[shares > 0]
    return {
        "rank": float((eigenvalues > FRACTION * eigenvalues[0]).sum()),
        "components_99": float(held),
        "entropy_rank": float(np.exp(-(some * np.log(some)).sum())),
    }


def _measure(grid: Grid, blocks: Iterator[jax.Array]) -> Values:
    return {(metric, "mean"): value for metric, value in ranks(spectrum(blocks)).items()}


@functools.cache
def _gram_program(by_units: bool) -> Callable[[jax.Array], jax.Array]:
    def run(values: jax.Array) -> jax.Array:
        flat = values.reshape(-1, values.shape[-1])
        # units that do not move, up to rounding, span nothing
        still = jnp.ptp(flat, axis=0) <= 1e-6 * jnp.abs(flat).max(0)
        flat = jnp.where(still, 0.0, flat - flat.mean(0))
        left, right = (flat.T, flat) if by_units else (flat, flat.T)
        return jnp.dot(left, right, precision=jax.lax.Precision.HIGHEST)

    return jax.jit(run, compiler_options=one_thread())
