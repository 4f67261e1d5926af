"""similarity: how alike are the drawings of a net, among each other and with the truth?

As published (Liang, Qian, Ziyin, Fiete 2025 and its public code), over all points of the grid, trained ones first:

    cosine      of the ink of two drawings                        ours is of ink, so that an empty ground has no part
    distance    length of the difference of two drawings
    overlap     share of pixels with more than .7 of ink in both  (there: below .3 of white)

Of each matrix three blocks are read, without the diagonal: "_trained" (both points trained), "_across" (one of them
held out) and "_held_out" (both held out); "_sharing" is the part of "_across" whose points share a factor. The controls
"_truth" and "_template" say what drawings that compose, or superpose, would score.

    ssim_error  1 - SSIM (Wang et al. 2004) of a drawing with the truth, as pictures of range 1; "_trained", "_held_out"

SSIM is that of an even window of 7 x 7 pixels (the largest odd one that fits smaller pictures), as in scikit-image.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.ndimage

from ..nets import Net
from ..training import Trained
from .base import Readings, probes
from .drawings import Drawings, Values, drawing_readings, drawings_of
from .grid import AT_ONCE, member_of

WINDOW = 7
INKED = 0.7  # ink above which a pixel counts as drawn
C1, C2 = 0.01**2, 0.03**2  # of SSIM, at range 1


@probes.register("similarity")
def similarity(trained: Trained, *, matrices: bool = True, **options: Any) -> Readings:
    """How alike drawings are: SSIM with the truth, and blocks of the similarity matrices, with controls.

    Args:
        trained: what `train` gave, on a task of pictures.
        matrices: read the similarity matrices, too.
        options: those of every probe of drawings: factors and fixed (which two factors span the grid, and the levels of
            the others), at_once (drawings in one pass of the net), controls.

    Example:
        >>> found = rc.probes.similarity(drawn)
        >>> found.value("ssim_error_held_out_truth").mean  # the truth is like itself
        0.0
    """

    def measure(drawings: Drawings, ink: dict[str, np.ndarray], seed: int, net: Net) -> dict[str, Values]:
        found = {name: _unlike(drawings, one) for name, one in ink.items()}
        if matrices:
            for name, one in ink.items():
                found[name] |= _blocks(drawings, np.nan_to_num(one))
        return found

    return drawing_readings("similarity", "ssim_error_held_out", measure, trained, **options)


def similarity_maps(trained: Trained, *, seed: int | None = None, at_once: int = AT_ONCE) -> dict[str, np.ndarray]:
    """The similarity matrices of the drawings of one member, trained points first.

    Args:
        trained: what `train` gave, on a task of pictures with two factors.
        seed: of the member; the first healthy one if none is named.
        at_once: drawings in one pass of the net.

    Example:
        >>> {name: one.shape for name, one in rc.probes.similarity_maps(drawn).items()}
        {'cosine': (36, 36), 'distance': (36, 36), 'overlap': (36, 36)}
    """
    drawings = drawings_of(trained)
    ink = drawings.drawn_by(member_of(trained, seed).net, at_once)
    order = np.argsort(~drawings.grid.trained.ravel(), kind="stable")
    return {name: one[np.ix_(order, order)] for name, one in similarity_matrices(ink.reshape(len(order), -1)).items()}


def similarity_matrices(ink: np.ndarray) -> dict[str, np.ndarray]:
    """Of drawings (P, pixels): cosine, distance and overlap, (P, P) each. An empty drawing is like none (cosine 0)."""
    ink = ink.astype(float)
    products = ink @ ink.T
    squares = np.diag(products)
    lengths = np.sqrt(squares[:, None] * squares)
    inked = (ink > INKED).astype(float)
    return {
        "cosine": np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0),
        "distance": np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0.0)),
        "overlap": inked @ inked.T / ink.shape[1],
    }


def ssim(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Structural similarity of pairs of pictures (T, n, n) of range 1, (T,)."""
    a, b, side = a.astype(float), b.astype(float), a.shape[-1]
    window = min(WINDOW, side - 1 + side % 2)
    even = {"size": (1, window, window), "mode": "nearest"}
    unbiased = window**2 / max(window**2 - 1, 1)

    def mean(x: np.ndarray) -> np.ndarray:
        return scipy.ndimage.uniform_filter(x, **even)

    mean_a, mean_b = mean(a), mean(b)
    var_a, var_b = unbiased * (mean(a * a) - mean_a**2), unbiased * (mean(b * b) - mean_b**2)
    both = unbiased * (mean(a * b) - mean_a * mean_b)
    each = (2 * mean_a * mean_b + C1) * (2 * both + C2) / ((mean_a**2 + mean_b**2 + C1) * (var_a + var_b + C2))
    edge = window // 2  # only windows that lie inside the picture count
    return each[:, edge : side - edge, edge : side - edge].mean((1, 2))


def _unlike(drawings: Drawings, ink: np.ndarray) -> Values:
    task, grid = drawings.task, drawings.grid
    square = (grid.points, task.side, task.side)
    drawn, true = (
        np.asarray(task.with_background(jnp.asarray(one))).reshape(square)
        for one in (np.nan_to_num(ink), drawings.truth)
    )
    apart = 1 - ssim(drawn, true)
    sides = {"trained": grid.trained.ravel(), "held_out": drawings.held_out.ravel()}
    return {f"ssim_error_{name}": float(apart[where].mean()) for name, where in sides.items()}


def _blocks(drawings: Drawings, ink: np.ndarray) -> Values:
    grid = drawings.grid
    seen, unseen = grid.trained.ravel(), drawings.held_out.ravel()
    x, y = (grid.combinations[:, axis] for axis in grid.axes)
    sharing = (x[:, None] == x) | (y[:, None] == y)
    apart = ~np.eye(grid.points, dtype=bool)
    across = unseen[:, None] & seen
    blocks = {
        "trained": seen[:, None] & seen & apart,
        "held_out": unseen[:, None] & unseen & apart,
        "across": across,
        "sharing": across & sharing,
    }
    found = similarity_matrices(ink.reshape(grid.points, -1))
    return {
        f"{name}_{block}": float(matrix[where].mean()) if where.any() else float("nan")
        for name, matrix in found.items()
        for block, where in blocks.items()
    }
