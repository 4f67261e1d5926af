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

from ..training import Trained
from .base import Readings, probes
from .grid import STILL, Grid
from .layers import Values, layer_readings, measuring

FRACTION = 1e-3  # of the largest eigenvalue
HELD = 0.99  # of the variance


@probes.register("effective-rank")
def effective_rank(trained: Trained, **options: Any) -> Readings:
    """Effective rank: how many directions each layer uses over a grid of two factors, counted in three ways.

    Beside it stand its controls.

    Args:
        trained: what `train` gave, on a Product.
        options: those of every probe of layers: layers (names of the trace; all after their nonlinearity and the
            output, if none is named), factors and fixed (which two factors span the grid, and the levels of the
            others), at_once and megabytes (the memory), controls.

    Example:
        >>> found = rc.probes.effective_rank(drawn, layers="layer1/post")
        >>> found.value("rank").mean <= 8  # there are eight units
        True
    """
    return layer_readings("effective-rank", "rank", _measure, trained, **options)


def spectrum(blocks: Iterator[jax.Array]) -> np.ndarray:
    """Eigenvalues of the covariance over the grid of a layer's units, falling; from the smaller of the two matrices."""
    kept: list[np.ndarray] = []  # as long as there are fewer units than points
    by_points: np.ndarray | None = None
    points = 1
    for block in blocks:
        centered = _centered_program()(block)
        points = len(centered)
        if by_points is None and sum(part.shape[1] for part in kept) + centered.shape[1] <= points:
            kept.append(np.asarray(centered))
            continue
        for part in (*kept, centered):
            gram = np.asarray(_gram_program()(jnp.asarray(part).T), float)
            by_points = gram if by_points is None else by_points + gram
        kept = []
    gram = np.asarray(_gram_program()(jnp.concatenate(kept, 1)), float) if by_points is None else by_points
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
def _centered_program() -> Callable[[jax.Array], jax.Array]:
    def run(values: jax.Array) -> jax.Array:
        flat = values.reshape(-1, values.shape[-1])
        ones = jnp.full(len(flat), 1 / len(flat))
        square = ones @ flat**2
        flat = flat - flat[0]  # a constant becomes 0 exactly
        flat = flat - ones @ flat
        return jnp.where(ones @ flat**2 <= STILL * square, 0.0, flat)

    return measuring(run)


@functools.cache
def _gram_program() -> Callable[[jax.Array], jax.Array]:
    return measuring(lambda a: a.T @ a)
