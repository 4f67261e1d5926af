"""transport: how far must the ink of a held-out drawing be moved to become the truth, or a superposition?

Distances in pixels between ink that is scaled to mass 1. The definition is ours (the published one is not available):
the sliced Wasserstein-1 distance, that is, the mean over many directions of the exact transport between the two
projections, times pi / 2. That factor makes the distance of a drawing to a shifted copy the length of the shift.

    to_truth          mean over held-out points of the distance to the true drawing
    to_template       to the mean of the trained drawings that share a factor
    nearer_template   share of points that are nearer to the template than to the truth
    blank             share of points with too little ink to be moved; they are in none of the other values

A net that superposes is near the template. The converse does not hold: a template is spread out, and so is noise, so an
untrained net is nearer to it than to a bump as well; what tells is a distance well below "to_template_untrained".

Ink below `floor` of the strongest in a drawing (the truth and the template alike) counts as ground: negative ink has no
mass, and a faint haze over many pixels weighs as much as a bump. With less than `least` of the ink of the truth a
drawing is blank.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..machine.precision import one_thread
from ..nets import Net
from ..training import Trained
from .base import Readings, probes
from .drawings import Drawings, Values, drawing_readings, drawings_of
from .grid import AT_ONCE, member_of, on_grid

ANGLES = 64
FLOOR = 0.1
LEAST = 0.05


@dataclass(frozen=True)
class Moved:
    """Distances in pixels at held-out points, as maps over the grid; NaN where there is none."""

    to_truth: np.ndarray  # (n0, n1)
    to_template: np.ndarray  # (n0, n1)
    blank: np.ndarray  # (n0, n1) of booleans: held-out points with too little ink
    between: np.ndarray  # (n0, n1): from the truth to the template


@probes.register("transport")
def transport(
    trained: Trained, *, angles: int = ANGLES, floor: float = FLOOR, least: float = LEAST, **options: Any
) -> Readings:
    """How far held-out drawings are from the truth and from a superposition, in pixels of moved ink, with controls.

    Args:
        trained: what `train` gave, on a task of pictures.
        angles: directions of projection.
        floor: share of the strongest ink below which ink counts as ground.
        least: share of the true ink below which a drawing is blank.
        options: those of every probe of drawings: factors and fixed (which two factors span the grid, and the levels of
            the others), at_once (drawings in one pass of the net), controls.

    Example:
        >>> found = rc.probes.transport(drawn, angles=8)
        >>> round(found.value("to_truth_truth").mean, 3)  # the truth is at no distance from itself
        0.0
    """
    _check(angles, floor, least)

    def measure(drawings: Drawings, ink: dict[str, np.ndarray], seed: int, net: Net) -> dict[str, Values]:
        return {name: _values(_moved(drawings, one, angles, floor, least)) for name, one in ink.items()}

    return drawing_readings("transport", "to_truth", measure, trained, **options)


def transport_maps(
    trained: Trained,
    *,
    seed: int | None = None,
    angles: int = ANGLES,
    floor: float = FLOOR,
    least: float = LEAST,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
) -> Moved:
    """Transport distances of one member's held-out drawings, point by point.

    Args:
        trained: what `train` gave, on a task of pictures.
        seed: of the member; the first healthy one if none is named.
        angles: directions of projection.
        floor: share of the strongest ink below which ink counts as ground.
        least: share of the true ink below which a drawing is blank.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: drawings in one pass of the net.

    Example:
        >>> rc.probes.transport_maps(drawn, angles=8).to_truth.shape
        (6, 6)
    """
    _check(angles, floor, least)
    drawings = drawings_of(trained, factors, fixed)
    drawn = drawings.drawn_by(member_of(trained, seed).net, at_once)
    return _moved(drawings, drawn, angles, floor, least)


def distance(a: np.ndarray, b: np.ndarray, *, angles: int = ANGLES) -> np.ndarray:
    """Sliced transport between pairs of drawings (T, side, side), in pixels; NaN where one has no ink above 0."""
    require_int("angles", angles, at_least=2)
    side = a.shape[-1]
    flat = (jnp.asarray(one, jnp.float32).reshape(len(one), side * side) for one in (a, b))
    order, gaps = _projections(side, angles)
    return np.asarray(_distance_program()(*flat, order, gaps), float)


def above(ink: np.ndarray, floor: float) -> np.ndarray:
    """Drawings (T, side, side) without the ink below `floor` of their strongest, and without negative ink."""
    strongest = ink.max((1, 2), keepdims=True)
    return np.where(ink >= floor * strongest, np.maximum(ink, 0), 0)


def _check(angles: int, floor: float, least: float) -> None:
    require_int("angles", angles, at_least=2)
    for name, value in (("floor", floor), ("least", least)):
        if not 0 <= value < 1:
            raise UserError(f"{name}={value} must be a share of full ink, from 0 to below 1")


def _moved(drawings: Drawings, ink: np.ndarray, angles: int, floor: float, least: float) -> Moved:
    where, side = drawings.held_out, drawings.task.side

    def pages(one: np.ndarray) -> np.ndarray:
        return one[where].reshape(-1, side, side)

    truth, template, drawn = (above(pages(one), floor) for one in (drawings.truth, drawings.template, ink))
    blank = drawn.sum((1, 2)) < np.maximum(least * truth.sum((1, 2)), np.finfo(np.float32).tiny)
    found = [np.where(blank, np.nan, distance(drawn, other, angles=angles)) for other in (truth, template)]
    between = distance(truth, template, angles=angles)
    return Moved(
        on_grid(where, found[0]), on_grid(where, found[1]), on_grid(where, blank) == 1, on_grid(where, between)
    )


def _values(moved: Moved) -> Values:
    there = ~np.isnan(moved.to_truth) & ~np.isnan(moved.to_template)
    some = bool(there.any())
    held_out = int((~np.isnan(moved.between)).sum())
    return {
        "to_truth": float(moved.to_truth[there].mean()) if some else float("nan"),
        "to_template": float(moved.to_template[there].mean()) if some else float("nan"),
        "nearer_template": float((moved.to_template < moved.to_truth)[there].mean()) if some else float("nan"),
        "blank": moved.blank.sum() / max(held_out, 1),
    }


@functools.cache
def _projections(side: int, angles: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels in order of their projection on each direction (pixels, A), and the gap to the next one (pixels, A)."""
    row, column = np.divmod(np.arange(side * side), side)
    angle = np.pi * np.arange(angles) / angles
    at = np.outer(np.cos(angle), column) + np.outer(np.sin(angle), row)
    order = np.argsort(at, axis=1, kind="stable")
    gaps = np.diff(np.take_along_axis(at, order, axis=1), axis=1, append=0)
    gaps[:, -1] = 0  # behind the last pixel nothing is left to move
    return order.T, gaps.T.astype(np.float32)


@functools.cache
def _distance_program() -> Callable[..., jax.Array]:
    def run(a: jax.Array, b: jax.Array, order: jax.Array, gaps: jax.Array) -> jax.Array:
        a, b = (jnp.maximum(one, 0) for one in (a, b))
        mass_a, mass_b = a.sum(1), b.sum(1)
        empty = (mass_a <= 0) | (mass_b <= 0)
        more = (a / jnp.where(empty, 1, mass_a)[:, None] - b / jnp.where(empty, 1, mass_b)[:, None]).T  # (pixels, T)

        def step(state: tuple[jax.Array, jax.Array], pixel: tuple[jax.Array, jax.Array]) -> tuple[Any, None]:
            # along a line the transport is the area between the two distribution functions
            between, area = state
            which, gap = pixel  # (A,) the next pixel of each direction, and the way to the one after it
            between = between + more[which]
            return (between, area + jnp.abs(between) * gap[:, None]), None

        start = jnp.zeros((order.shape[1], len(a)))
        (_, area), _ = jax.lax.scan(step, (start, start), (order, gaps))
        return jnp.where(empty, jnp.nan, area.mean(0) * jnp.pi / 2)

    return jax.jit(run, compiler_options=one_thread())
