"""separability: is a layer a sum of a function of x and one of y, or a product, also where it was not fitted?

For every unit, over the points of the grid that were trained on:

    additive    a(x, y) = b(x) + c(y)      least squares
    rank_one    a(x, y) = b(x) c(y)        alternating least squares, each level drawn a little to the mean of all

scored by R^2 at held-out points, pooled over units (so that a unit counts by its variance; 1 - summed squared error by
summed squared deviation from each unit's mean there). "_trained" is the R^2 at the points of the fit themselves.
A held-out point can be predicted only if its two levels are linked by trained points (x with y', y' with x', ... with
y); a level that was never trained is linked to nothing. Other points are left out, and `unpredictable` counts them.
A product says nothing about a level at which all that is known is nearly 0; there the draw to the mean decides. So true
pictures of small bumps, which are products, score low: most pixels of a wide hole are empty at every trained point.

Ours: the published factorization metric is near 1 for layers that are not separable at all (see `geometry`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

from ..training import Trained
from .base import Readings, probes
from .grid import AT_ONCE, MEGABYTES, STILL, Grid, grid_of, layers_of, member_of, read
from .layers import Values, layer_readings, measuring

ITERATIONS = 30  # of alternating least squares: each solves for b, then for c
RIDGE = 0.01  # the draw to the mean, by the mean weight of a level; without it, levels near 0 are divided by noise
TINY = 1e-30
MODELS = ("additive", "rank_one")


@dataclass(frozen=True)
class Separable:
    """Squared errors of both models at every point, summed over units; NaN where a point cannot be predicted."""

    errors: dict[str, np.ndarray]  # model -> (n0, n1)
    predictable: np.ndarray  # (n0, n1) of booleans: points whose levels are linked by trained ones
    trained: np.ndarray  # (n0, n1)
    held_out: np.ndarray  # (n0, n1)
    spread_trained: float  # summed squared deviation from each unit's mean over the points of the fit
    spread_held_out: float  # the same over the predictable held-out points

    def r2(self, model: str, side: str = "held_out") -> float:
        """Pooled R^2 of a model at held-out or trained points; NaN where nothing varies or nothing is predictable."""
        where, spread = (
            (self.trained, self.spread_trained)
            if side == "trained"
            else (self.held_out & self.predictable, self.spread_held_out)
        )
        return float(1 - self.errors[model][where].sum() / spread) if spread > 0 else float("nan")

    @property
    def unpredictable(self) -> int:
        """Held-out points that neither model says anything about."""
        return int((self.held_out & ~self.predictable).sum())


@probes.register("separability")
def separability(trained: Trained, **options: Any) -> Readings:
    """R^2 at held-out points of each layer as a sum or a product of functions of the two factors, with controls.

    Args:
        trained: what `train` gave, on a Product.
        options: those of every probe of layers: layers (names of the trace; all after their nonlinearity and the
            output, if none is named), factors and fixed (which two factors span the grid, and the levels of the
            others), at_once and megabytes (the memory), controls.

    Example:
        >>> found = rc.probes.separability(drawn, layers="output", controls=False)
        >>> found.value("additive").mean <= 1, found.value("unpredictable").mean
        (True, 0.0)
    """
    return layer_readings("separability", "additive", _measure, trained, **options)


def separable_maps(
    trained: Trained,
    *,
    layers: Sequence[str] | str | None = None,
    seed: int | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
    megabytes: float = MEGABYTES,
) -> dict[str, Separable]:
    """Where on the grid each model fails, for each layer of one member.

    Args:
        trained: what `train` gave, on a Product.
        layers: names of the trace; all after their nonlinearity and the output, if none is named.
        seed: of the member; the first healthy one if none is named.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: points in one pass of the net.
        megabytes: of activations that are kept at the same time.

    Example:
        >>> rc.probes.separable_maps(drawn, layers="output")["output"].errors["additive"].shape
        (6, 6)
    """
    grid, net, names = grid_of(trained, factors, fixed), member_of(trained, seed).net, layers_of(trained, layers)
    blocks: dict[str, list[Separable]] = {name: [] for name in names}
    for name, block in read(grid, net, names, at_once=at_once, megabytes=megabytes):
        blocks[name].append(fit_block(grid, block))
    return {name: _together(parts) for name, parts in blocks.items()}


def fit_block(grid: Grid, block: jax.Array) -> Separable:
    """Both models fitted to some units (n0, n1, units) at the trained points."""
    linked = _linked(grid.trained)
    scored = grid.held_out & linked
    fit = jnp.asarray(grid.trained, jnp.float32)
    additive, rank_one, spreads = _fit_program()(block, fit, jnp.asarray(scored, jnp.float32), _solver(grid.trained))
    errors = {
        model: np.where(linked, np.asarray(error, float), np.nan)
        for model, error in zip(MODELS, (additive, rank_one), strict=True)
    }
    return Separable(errors, linked, grid.trained, grid.held_out, float(spreads[0]), float(spreads[1]))


def _together(parts: list[Separable]) -> Separable:
    first = parts[0]
    errors = {model: np.sum([part.errors[model] for part in parts], axis=0) for model in MODELS}
    spreads = (sum(part.spread_trained for part in parts), sum(part.spread_held_out for part in parts))
    return Separable(errors, first.predictable, first.trained, first.held_out, *spreads)


def _measure(grid: Grid, blocks: Iterator[jax.Array]) -> Values:
    found = _together([fit_block(grid, block) for block in blocks])
    values: Values = {}
    for model in MODELS:
        values[model, "mean"] = found.r2(model)
        values[f"{model}_trained", "mean"] = found.r2(model, "trained")
    values["unpredictable", "mean"] = float(found.unpredictable)
    return values


def _linked(fit: np.ndarray) -> np.ndarray:
    """(n0, n1): whether the levels of a point are in one component of the graph whose edges are the fitted points."""
    n0, n1 = fit.shape
    graph = scipy.sparse.bmat([[None, fit.astype(int)], [fit.T.astype(int), None]])
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return component[:n0, None] == component[None, n0 : n0 + n1]


def _solver(fit: np.ndarray) -> jax.Array:
    """(n0 + n1, P): activations -> b and c by least squares over the fitted points, of smallest norm."""
    design = _design(*fit.shape) * fit.reshape(-1, 1)
    return jnp.asarray(np.linalg.pinv(design.T @ design, hermitian=True) @ design.T, jnp.float32)


def _design(n0: int, n1: int) -> np.ndarray:
    """(P, n0 + n1): which two levels a point has."""
    return np.hstack([np.repeat(np.eye(n0), n1, axis=0), np.tile(np.eye(n1), (n0, 1))])


@functools.cache
def _fit_program() -> Callable[..., tuple[jax.Array, jax.Array, jax.Array]]:
    """Squared errors (n0, n1) of the two models summed over units, and the spreads at fitted and at scored points.

    Sums over points are products of matrices or scans: reductions over the first axes are slow on a processor.
    """

    def mean(flat: jax.Array, where: jax.Array) -> jax.Array:
        return (where / jnp.maximum(where.sum(), 1)) @ flat

    def spread(flat: jax.Array, where: jax.Array) -> jax.Array:
        shifted = flat - flat[0]  # a constant becomes 0 exactly
        variance = mean((shifted - mean(shifted, where)) ** 2, where)
        return where.sum() * jnp.where(variance > STILL * mean(flat**2, where), variance, 0.0).sum()

    def along(slabs: jax.Array, weights: jax.Array) -> jax.Array:
        """sum_k slabs[k] * weights[k]: (k, m, units) and (k, units) -> (m, units)."""
        start = jnp.zeros(slabs.shape[1:])
        return jax.lax.scan(lambda sums, pair: (sums + pair[0] * pair[1], None), start, (slabs, weights))[0]

    def ridge(found: jax.Array, weight: jax.Array) -> jax.Array:
        """Levels from their sums of products and of squares (levels, units)."""
        middle = found.sum(0) / (weight.sum(0) + TINY)  # one value for all levels
        pull = RIDGE * weight.mean(0) + TINY
        return (found + pull * middle) / (weight + pull)

    def run(a: jax.Array, fit: jax.Array, scored: jax.Array, solver: jax.Array):
        n0, n1, units = a.shape
        flat = a.reshape(n0 * n1, units)
        centered = flat - mean(flat, fit.ravel())
        design = jnp.asarray(_design(n0, n1), jnp.float32)
        additive = ((centered - design @ (solver @ centered)) ** 2).sum(-1).reshape(n0, n1)

        kept = a * fit[..., None]
        turned = kept.swapaxes(0, 1)
        energy = design.T[:n0] @ kept.reshape(flat.shape) ** 2  # (n0, units)

        def better(_: Any, pair: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            _, c = pair
            b = ridge(along(turned, c), fit @ c**2)
            return b, ridge(along(kept, b), fit.T @ b**2)

        # begins with the strongest row of each unit
        strongest = jnp.take_along_axis(kept, energy.argmax(0)[None, None], axis=0)[0]  # (n1, units)
        b, c = jax.lax.fori_loop(0, ITERATIONS, better, (jnp.zeros_like(energy), strongest))
        rank_one = ((a - b[:, None] * c) ** 2).sum(-1)
        return additive, rank_one, jnp.stack([spread(flat, fit.ravel()), spread(flat, scored.ravel())])

    return measuring(run)
