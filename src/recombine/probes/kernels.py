"""Kernels over a grid of two factors: fits to what a net draws, and machines that need no training.

    factorized   exp(-dx^2 / 2 lx^2) exp(-dy^2 / 2 ly^2)     as published, and with lx != ly
    radial       exp(-r^2 / 2 l^2)                           as published; factorized with lx = ly
    binary       1[x = x'] + 1[y = y']                       ours, as is
    match        1[x = x'] 1[y = y']                         ours: knows trained points by heart and nothing else

The published scales are .5, 1, 2 and 4 levels. The public code of Liang et al. 2025 chooses the scale by the error on
all points, held-out ones among them; here it is chosen on trained points alone, by leaving each out once (exactly:
the residual without point i is (G t)_i / G_ii, with G the inverse of the kernel matrix). What is fitted is ink, without
an intercept, so that nothing known means nothing drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..statistics.ridge import solve_positive
from ..supports import Support
from ..tasks import Pictures
from .drawings import true_ink
from .grid import Grid, make_grid

RIDGE = 1e-8
SCALES = (0.5, 1.0, 2.0, 4.0)
KERNELS = ("factorized", "radial", "binary", "match")


@dataclass(frozen=True)
class KernelFit:
    """A kernel fitted to drawings at trained points."""

    scale: tuple[float, float] | None  # along each factor, in levels
    left_out: float | None  # squared error per pixel of trained points left out, by which the scale was chosen
    prediction: np.ndarray  # (held-out points, pixels)


def fit_kernels(
    grid: Grid, ink: Mapping[str, np.ndarray], *, scales: Sequence[float] = SCALES, ridge: float = RIDGE
) -> dict[str, dict[str, KernelFit]]:
    """Every kernel fitted to drawings at trained points, and what it says of held-out ones: by set and by kernel.

    Args:
        grid: of two factors.
        ink: sets of drawings by name, (n0, n1, pixels) each; one inverse of a kernel matrix serves all of them.
        scales: that smooth kernels may have, in levels; the one that predicts left-out trained points best is taken.
        ridge: strength of the ridge.

    Example:
        >>> pages = rc.probes.drawings_of(drawn)
        >>> fits = rc.probes.fit_kernels(pages.grid, {"truth": pages.truth})["truth"]
        >>> sorted(fits), fits["radial"].prediction.shape
        (['binary', 'factorized', 'match', 'radial'], (16, 36))
    """
    x, y = _places(grid)
    fit, out = grid.trained.ravel(), grid.held_out.ravel()
    targets = {name: one.reshape(grid.points, -1)[fit].astype(float) for name, one in ink.items()}
    best: dict[str, dict[str, KernelFit]] = {name: {} for name in ink}
    for first, second in itertools.product(scales, scales):
        gram = _smooth(x, fit, first) * _smooth(y, fit, second)  # (P, trained)
        inverse = _inverse(gram[fit], ridge)
        for name, target in targets.items():
            weights = inverse @ target
            left_out = float(np.mean((weights / np.diag(inverse)[:, None]) ** 2))
            for kernel in ("factorized", "radial") if first == second else ("factorized",):
                found = best[name].get(kernel)
                if found is None or left_out < found.left_out:  # type: ignore[operator]
                    best[name][kernel] = KernelFit((first, second), left_out, gram[out] @ weights)
    for kernel in ("binary", "match"):
        gram = _same(kernel, x, y, fit)
        inverse = _inverse(gram[fit], ridge)
        for name, target in targets.items():
            best[name][kernel] = KernelFit(None, None, gram[out] @ (inverse @ target))
    return best


@dataclass(frozen=True)
class KernelMachine:
    """What a kernel machine draws that was fitted to the true drawings of trained points."""

    prediction: np.ndarray  # (n0, n1, pixels) of ink
    error_trained: float  # squared error per pixel
    error_held_out: float


def kernel_machine(
    task: Pictures,
    support: Support,
    *,
    kernel: str = "rbf",
    scale: float = 1.0,
    match: float = 0.0,
    ridge: float = RIDGE,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> KernelMachine:
    """Kernel regression from the code to the true ink, at trained points: a training-free baseline for memorizing.

    Args:
        task: of pictures.
        support: whose training side is fitted.
        kernel: "rbf" (exp(-d^2 / 2 scale^2), d between codes), "linear" (product of codes), or "delta" (1[x = x'] + 1[y
            = y'] + match 1[x = x'] 1[y = y'], without the code).
        scale: of "rbf".
        match: of "delta".
        ridge: strength of the ridge.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.

    Example:
        >>> machine = rc.probes.kernel_machine(bumps, hole, kernel="delta", match=1.0)
        >>> machine.error_trained < machine.error_held_out
        True
    """
    if not isinstance(task, Pictures):
        raise UserError(f"{task} draws nothing; a kernel machine needs a task of pictures such as bumps-v1")
    if not scale > 0:
        raise UserError(f"scale={scale} must be above 0; 1 is a level")
    grid = make_grid(task, support, factors, fixed)
    code = np.asarray(grid.codes, float)
    if kernel == "rbf":
        squares = (code**2).sum(1)
        gram = np.exp(-np.maximum(squares[:, None] + squares - 2 * code @ code.T, 0) / (2 * scale**2))
    elif kernel == "linear":
        gram = code @ code.T
    elif kernel == "delta":
        x, y = _places(grid)
        every = np.ones(grid.points, bool)
        gram = _same("binary", x, y, every) + match * _same("match", x, y, every)
    else:
        raise unknown("kernel", kernel, ("rbf", "linear", "delta"))
    fit, out = grid.trained.ravel(), grid.held_out.ravel()
    truth = true_ink(grid).reshape(grid.points, -1).astype(float)
    prediction = gram[:, fit] @ (_inverse(gram[np.ix_(fit, fit)], ridge) @ truth[fit])
    errors = ((prediction - truth) ** 2).mean(1)
    return KernelMachine(prediction.reshape(*grid.shape, -1), float(errors[fit].mean()), float(errors[out].mean()))


def _places(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """The level of each point along the two factors, (P,) each."""
    first, second = (grid.combinations[:, axis].astype(float) for axis in grid.axes)
    return first, second


def _smooth(at: np.ndarray, fit: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-((at[:, None] - at[fit]) ** 2) / (2 * scale**2))


def _same(name: str, x: np.ndarray, y: np.ndarray, fit: np.ndarray) -> np.ndarray:
    same_x, same_y = ((at[:, None] == at[fit]).astype(float) for at in (x, y))
    return same_x + same_y if name == "binary" else same_x * same_y


def _inverse(gram: np.ndarray, ridge: float) -> np.ndarray:
    """Of gram + ridge; in float64, where the condition of 1e10 of a wide kernel leaves six digits."""
    gram = gram + ridge * np.eye(len(gram))
    return solve_positive(gram, np.eye(len(gram)))
