"""superposition: is what a net draws for held-out combinations a blend of trained drawings?

Shares of the squared ink of the net's held-out drawings (uncentered, so that an empty page is the zero; pooled over
points, so that a drawing counts by its ink; the definitions are ours):

    by_shared    by the trained drawings that share a factor, blended with non-negative least squares
    by_truth     by the true drawing alone, at the best non-negative strength
    by_others    by as many trained drawings that share no factor, drawn at random: what so many regressors give anyway
    kernel_K     by a kernel fitted to the net's own drawings at trained points (K: factorized, radial, binary, match;
                 see `kernels`); kernel_K_error is the squared error a pixel

A net that superposes scores high by_shared and low by_truth, one that composes the other way round: the controls
"_template" and "_truth" are such drawings. Near the border of the hole trained neighbors overlap with the truth.

    mean_code    correlation of the drawing for [code(x), code(y)] with the sum of those for [code(x), mean code of y]
                 and [mean code of x, code(y)], as published (means over the training set; the published sum is divided
                 by its maximum, which a correlation does not see); mean over held-out points

Points where the ink is 0 everywhere or, for mean_code, the same everywhere, have no value; `blank` is their share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.optimize

from ..keys import generator, key_for
from ..nets import Net
from ..trained import Trained
from .base import Readings, probes
from .drawings import Drawings, Values, drawing_readings, drawings_of
from .grid import AT_ONCE, Grid, member_of, on_grid
from .kernels import KernelFit, fit_kernels


@dataclass(frozen=True)
class Explained:
    """Held-out drawings of one net and what explains them; maps over the grid are NaN outside the held-out points."""

    drawn: np.ndarray  # (n0, n1, pixels) of ink
    summed: np.ndarray  # (n0, n1, pixels): the sum of the two drawings with a mean code
    by: dict[str, np.ndarray]  # "shared", "truth", "others" -> (n0, n1) share of the squared ink
    mean_code: np.ndarray  # (n0, n1) correlation
    kernels: dict[str, KernelFit]


@probes.register("superposition")
def superposition(trained: Trained, *, kernels: bool = True, **options: Any) -> Readings:
    """How much of what a net draws for held-out combinations is a blend of trained drawings, with controls.

    kernels: fit the kernels too. The other options are those of `drawing_readings`.
    """
    at_once = options.get("at_once", AT_ONCE)

    def measure(drawings: Drawings, ink: dict[str, np.ndarray], seed: int, net: Net) -> dict[str, Values]:
        summed = mean_code_sum(drawings, net, at_once)
        parts = blends(drawings, ink, seed)
        return {
            name: _values(drawings, one, summed, *parts[name]) | (_kernel_values(drawings.grid, one) if kernels else {})
            for name, one in ink.items()
        }

    return drawing_readings("superposition", "by_shared", measure, trained, **options)


def explained(
    trained: Trained,
    *,
    seed: int | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
) -> Explained:
    """What explains the held-out drawings of one member, point by point."""
    drawings = drawings_of(trained, factors, fixed)
    member = member_of(trained, seed)
    drawn, summed = drawings.drawn_by(member.net, at_once), mean_code_sum(drawings, member.net, at_once)
    energy, errors = blends(drawings, {"": drawn}, member.seed)[""]
    where = drawings.held_out
    by = {name: on_grid(where, 1 - error / np.where(energy > 0, energy, np.nan)) for name, error in errors.items()}
    correlation = on_grid(where, correlations(drawn[where], summed[where]))
    return Explained(drawn, summed, by, correlation, fit_kernels(drawings.grid, drawn))


def mean_code_sum(drawings: Drawings, net: Net, at_once: int = AT_ONCE) -> np.ndarray:
    """Ink of the drawing with the mean code for the second factor, plus that with the mean code for the first."""
    grid, total = drawings.grid, 0.0
    ends = np.cumsum((0, *drawings.task.encoding.segments))
    mean = grid.codes[jnp.asarray(grid.trained.ravel())].mean(0)
    for axis in grid.axes:
        part = slice(int(ends[axis]), int(ends[axis + 1]))
        codes = grid.codes.at[:, part].set(mean[part])
        total = total + drawings.drawn_for(net, codes, at_once)
    return np.asarray(total)


def correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Over pixels, of each pair of drawings (T, pixels); NaN where one is the same everywhere."""
    still = (np.ptp(a, axis=1) == 0) | (np.ptp(b, axis=1) == 0)
    a, b = (one.astype(float) - one.mean(1, keepdims=True, dtype=float) for one in (a, b))
    norm = np.sqrt((a**2).sum(1) * (b**2).sum(1))
    return np.where(still, np.nan, (a * b).sum(1) / np.where(norm > 0, norm, np.nan))


def blends(
    drawings: Drawings, ink: dict[str, np.ndarray], seed: int
) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """For each set of drawings: the squared ink at held-out points (T,), and what each blend leaves of it."""
    grid, rng = drawings.grid, generator(key_for("probe_score/others", seed))
    fit = np.argwhere(grid.trained)
    out = np.argwhere(drawings.held_out)
    energy = {name: (one[drawings.held_out].astype(float) ** 2).sum(1) for name, one in ink.items()}
    left = {name: {by: np.zeros(len(out)) for by in ("shared", "truth", "others")} for name in ink}
    for point, (x, y) in enumerate(out):
        shares = (fit[:, 0] == x) | (fit[:, 1] == y)
        shared, others = fit[shares], fit[~shares]
        others = rng.permutation(others)[: len(shared)]
        targets = np.stack([one[x, y] for one in ink.values()], axis=1).astype(float)  # (pixels, sets)
        regressors = {"shared": shared, "truth": np.array([[x, y]]), "others": others}
        for by, chosen in regressors.items():
            rest = _unexplained(drawings.truth[chosen[:, 0], chosen[:, 1]].T.astype(float), targets)
            for name, value in zip(ink, rest, strict=True):
                left[name][by][point] = value
    return {name: (energy[name], left[name]) for name in ink}


def _unexplained(regressors: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Squared rest of each target (pixels, sets) after its best non-negative blend of regressors (pixels, n)."""
    squares = (targets**2).sum(0)
    if not regressors.shape[1]:
        return squares
    q, r = np.linalg.qr(regressors)  # the same problem in as many rows as there are regressors
    inside = q.T @ targets
    fits = [scipy.optimize.nnls(r, one, maxiter=100 * r.shape[1])[1] ** 2 for one in inside.T]
    return squares - (inside**2).sum(0) + np.array(fits)


def _values(
    drawings: Drawings, ink: np.ndarray, summed: np.ndarray, energy: np.ndarray, left: dict[str, np.ndarray]
) -> Values:
    where = drawings.held_out
    total = energy.sum()
    values = {f"by_{by}": float(1 - rest.sum() / total) if total > 0 else float("nan") for by, rest in left.items()}
    related = correlations(ink[where], summed[where])
    defined = ~np.isnan(related)
    values["mean_code"] = float(related[defined].mean()) if defined.any() else float("nan")
    values["blank"] = float(np.mean((energy == 0) | ~defined))
    return values


def _kernel_values(grid: Grid, ink: np.ndarray) -> Values:
    values: Values = {}
    there = ink[grid.held_out].astype(float)
    for name, found in fit_kernels(grid, np.nan_to_num(ink)).items():
        error = np.mean((found.prediction - there) ** 2)
        square = np.mean(there**2)
        values[f"kernel_{name}"] = float(1 - error / square) if square > 0 else float("nan")
        values[f"kernel_{name}_error"] = float(error)
    return values
