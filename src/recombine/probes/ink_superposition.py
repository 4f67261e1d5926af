"""superposition: is what a net draws for held-out combinations a blend of trained drawings?

Shares of the squared ink of the net's held-out drawings (uncentered, so that an empty page is the zero; pooled over
points, so that a drawing counts by its ink; the definitions are ours):

    by_shared    by the trained drawings that share a factor, blended with non-negative least squares
    by_truth     by the true drawing alone, at the best non-negative strength
    by_others    by as many trained drawings that share no factor, drawn at random: what so many regressors give anyway
    by_filled    by the truth and such drawings, as many in all as share a factor: the truth with the same freedom
    kernel_K     by a kernel fitted to the net's own drawings at trained points (K: factorized, radial, binary, match;
                 see `kernels`); kernel_K_error is the squared error per pixel

A net that superposes scores high by_shared and low by_truth, one that composes the other way round: the controls
"_template" and "_truth" are such drawings. Near the border of the hole trained neighbors overlap with the truth.

    mean_code    correlation of the drawing for [code(x), code(y)] with the sum of those for [code(x), mean code of y]
                 and [mean code of x, code(y)], as published (means over trained points; the published sum is divided by
                 its maximum, which a correlation does not see); mean over held-out points

Points where the ink is 0 everywhere or, for mean_code, the same everywhere, have no value; `blank` is their share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..keys import generator, key_for
from ..nets import Net
from ..training import Trained
from .base import Readings, probes
from .drawings import Drawings, Values, drawing_readings, drawings_of
from .grid import AT_ONCE, Grid, member_of, on_grid
from .kernels import KernelFit, fit_kernels

BLENDS = ("shared", "truth", "others", "filled")


@dataclass(frozen=True)
class Explained:
    """Held-out drawings of one net and what explains them; maps over the grid are NaN outside the held-out points."""

    drawn: np.ndarray  # (n0, n1, pixels) of ink
    summed: np.ndarray  # (n0, n1, pixels): the sum of the two drawings with a mean code
    by: dict[str, np.ndarray]  # "shared", "truth", "others", "filled" -> (n0, n1) share of the squared ink
    mean_code: np.ndarray  # (n0, n1) correlation
    kernels: dict[str, KernelFit]


@probes.register("superposition")
def superposition(trained: Trained, *, kernels: bool = True, **options: Any) -> Readings:
    """How much of what a net draws for held-out combinations is a blend of trained drawings, with controls.

    Args:
        trained: what `train` gave, on a task of pictures.
        kernels: fit the kernels too.
        options: those of every probe of drawings: factors and fixed (which two factors span the grid, and the levels of
            the others), at_once (drawings in one pass of the net), controls.

    Example:
        >>> found = rc.probes.superposition(drawn, kernels=False, controls=False)
        >>> 0 <= found.value("by_shared").mean <= 1
        True
    """
    at_once = options.get("at_once", AT_ONCE)

    def measure(drawings: Drawings, ink: dict[str, np.ndarray], seed: int, net: Net) -> dict[str, Values]:
        summed = mean_code_sum(drawings, net, at_once)
        parts = blends(drawings, ink, seed)
        found = {name: _values(drawings, one, summed, *parts[name]) for name, one in ink.items()}
        if kernels:
            for name, values in _kernel_values(drawings.grid, ink).items():
                found[name] |= values
        return found

    return drawing_readings("superposition", "by_shared", measure, trained, **options)


def explained(
    trained: Trained,
    *,
    seed: int | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
) -> Explained:
    """What explains the held-out drawings of one member, point by point.

    Args:
        trained: what `train` gave, on a task of pictures.
        seed: of the member; the first healthy one if none is named.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: drawings in one pass of the net.

    Example:
        >>> rc.probes.explained(drawn).by["truth"].shape
        (6, 6)
    """
    drawings = drawings_of(trained, factors, fixed)
    member = member_of(trained, seed)
    drawn, summed = drawings.drawn_by(member.net, at_once), mean_code_sum(drawings, member.net, at_once)
    energy, parts = blends(drawings, {"": drawn}, member.seed)[""]
    where = drawings.held_out
    by = {name: on_grid(where, part / np.where(energy > 0, energy, np.nan)) for name, part in parts.items()}
    correlation = on_grid(where, correlations(drawn[where], summed[where]))
    return Explained(drawn, summed, by, correlation, fit_kernels(drawings.grid, {"": drawn})[""])


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
    """For each set of drawings: the squared ink at held-out points (T,), and how much of it each blend explains."""
    rng = generator(key_for("probe_score/others", seed))
    out = np.argwhere(drawings.held_out)
    # the drawings that are blended: K trained ones, and the truth of each of the T points
    pages = np.concatenate([drawings.trained, drawings.truth[drawings.held_out]]).astype(float)
    k = len(drawings.trained)
    targets = {name: one[drawings.held_out].astype(float) for name, one in ink.items()}  # (T, pixels)
    gram, across = pages @ pages.T, {name: pages @ one.T for name, one in targets.items()}
    parts = {name: {by: np.zeros(len(out)) for by in BLENDS} for name in ink}
    for point, place in enumerate(out):
        shares = (drawings.places == place).any(1)
        shared = np.flatnonzero(shares)
        others = rng.permutation(np.flatnonzero(~shares))[: len(shared)]
        truth = np.array([k + point])
        filled = np.concatenate([truth, others[: max(len(others) - 1, 0)]])
        for by, these in zip(BLENDS, (shared, truth, others, filled), strict=True):
            found = _blended(gram[np.ix_(these, these)], [one[these, point] for one in across.values()])
            for name, part in zip(ink, found, strict=True):
                parts[name][by][point] = part
    return {name: ((targets[name] ** 2).sum(1), parts[name]) for name in ink}


def _blended(gram: np.ndarray, products: list[np.ndarray]) -> list[float]:
    """Squared length of the best non-negative blend, from products of regressors (n, n) and with each target (n,).

    In the basis of the eigenvectors this is the same least-squares problem in n rows instead of one a pixel. At the
    best blend the rest is orthogonal to it, so its squared length is what it explains.
    """
    if not len(gram):
        return [0.0 for _ in products]
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * values[-1]
    roots, vectors = np.sqrt(values[kept])[:, None], vectors[:, kept].T
    rows = roots * vectors
    from scipy.optimize import nnls  # here, since importing it takes a third of a second

    found = [nnls(rows, vectors @ one / roots[:, 0], maxiter=100 * len(gram))[0] for one in products]
    return [float(((rows @ blend) ** 2).sum()) for blend in found]


def _values(
    drawings: Drawings, ink: np.ndarray, summed: np.ndarray, energy: np.ndarray, parts: dict[str, np.ndarray]
) -> Values:
    where = drawings.held_out
    total = energy.sum()
    values = {f"by_{by}": float(part.sum() / total) if total > 0 else float("nan") for by, part in parts.items()}
    related = correlations(ink[where], summed[where])
    defined = ~np.isnan(related)
    values["mean_code"] = float(related[defined].mean()) if defined.any() else float("nan")
    values["blank"] = float(np.mean((energy == 0) | ~defined))
    return values


def _kernel_values(grid: Grid, ink: dict[str, np.ndarray]) -> dict[str, Values]:
    whole = {name: np.nan_to_num(one) for name, one in ink.items()}  # a template may lack unused points
    found: dict[str, Values] = {name: {} for name in ink}
    for name, fits in fit_kernels(grid, whole).items():
        there = whole[name][grid.held_out].astype(float)
        square = np.mean(there**2)
        for kernel, fit in fits.items():
            error = np.mean((fit.prediction - there) ** 2)
            found[name][f"kernel_{kernel}"] = float(1 - error / square) if square > 0 else float("nan")
            found[name][f"kernel_{kernel}_error"] = float(error)
    return found
