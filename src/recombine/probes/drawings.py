"""What probes of drawings share: the ink that a net puts at held-out points, and what it is compared with.

Ink is 1 where something is drawn and 0 on the ground, whatever the polarity of the task. Beside what the net drew:

    untrained   the drawing of a net with the same blueprint before training
    truth       the true drawing
    template    the mean of the trained drawings that share one of the two factors: what superposing alone would give

Trained drawings are those of trained points of the grid and, where a drawing can lack a factor, of trained stripes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..machine.precision import one_thread
from ..nets import Net
from ..supports import Support
from ..tasks import Pictures
from ..training import Trained
from .base import Readings
from .grid import AT_ONCE, Grid, grid_of, predict
from .layers import untrained

Values = dict[str, float]


@dataclass(frozen=True)
class Drawings:
    """The ink of true drawings over a grid, of those that were trained, and of the templates of superposition."""

    grid: Grid
    truth: np.ndarray  # (n0, n1, pixels)
    trained: np.ndarray  # (K, pixels): trained drawings; stripes, which lack a factor, among them
    places: np.ndarray  # (K, 2): their levels on the grid, -1 where they lack the factor
    template: np.ndarray  # (n0, n1, pixels); NaN where no trained drawing shares a factor

    @property
    def held_out(self) -> np.ndarray:
        """(n0, n1): held-out points that share a factor with a trained drawing."""
        return self.grid.held_out & ~np.isnan(self.template[..., 0])

    @property
    def task(self) -> Pictures:
        assert isinstance(self.grid.task, Pictures)
        return self.grid.task

    def drawn_by(self, net: Net, at_once: int = AT_ONCE) -> np.ndarray:
        """The ink that a net draws at every point, (n0, n1, pixels)."""
        return self.drawn_for(net, self.grid.codes, at_once)

    def drawn_for(self, net: Net, codes: jax.Array, at_once: int = AT_ONCE) -> np.ndarray:
        """The ink that a net draws for another code at every point (P, C), (n0, n1, pixels)."""
        flat = jnp.asarray(predict(net, self.grid.inputs, codes, at_once=at_once))
        return np.asarray(self.task.ink_of(flat)).reshape(*self.grid.shape, -1)


def drawings_of(
    trained: Trained, factors: Sequence[str] | None = None, fixed: Mapping[str, Any] | None = None
) -> Drawings:
    """The true drawings, the trained ones and the templates of a task that draws.

    Args:
        trained: what `train` gave, on a task of pictures.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.

    Example:
        >>> pages = rc.probes.drawings_of(drawn)
        >>> pages.truth.shape, pages.trained.shape
        ((6, 6, 36), (20, 36))
    """
    task = trained.task
    if not isinstance(task, Pictures):
        raise UserError(f"{task.id} draws nothing; this probe needs a task of pictures such as bumps-v1")
    grid = grid_of(trained, factors, fixed)
    truth = true_ink(grid)
    stripes, where = _stripes(grid, trained.support)
    pages = np.concatenate([truth[grid.trained], stripes])
    places = np.concatenate([np.argwhere(grid.trained), where])
    drawings = Drawings(grid, truth, pages, places, template(pages, places, grid.shape))
    if not drawings.held_out.any():
        raise UserError(
            f"no held-out point of the grid of {grid.factors[0]} and {grid.factors[1]} shares a factor with a trained "
            "one, so there is nothing that could be superposed; hold out other combinations"
        )
    return drawings


def true_ink(grid: Grid) -> np.ndarray:
    """The ink of the true drawings, (n0, n1, pixels)."""
    assert isinstance(grid.task, Pictures)
    return np.asarray(_ink_program()(grid.task, grid.coordinates, None)).reshape(*grid.shape, -1)


def _stripes(grid: Grid, support: Support) -> tuple[np.ndarray, np.ndarray]:
    """Trained drawings (S, pixels) that have one of the two factors only, and their levels on the grid (S, 2)."""
    task = grid.task
    assert isinstance(task, Pictures)
    rows, where = [], []
    for which, axis in enumerate(grid.axes):
        other = grid.axes[1 - which]
        absent = np.setdiff1d(np.arange(task.space.levels[other]), grid.levels[1 - which])
        for (number, level), lacking in itertools.product(enumerate(grid.levels[which]), absent):
            row = grid.combinations[0].copy()
            row[axis], row[other] = level, lacking
            rows.append(row)
            where.append((number, -1) if which == 0 else (-1, number))
    if not rows:
        return np.zeros((0, task.side**2), np.float32), np.zeros((0, 2), int)
    seen = support.train.contains(np.array(rows))
    rows, where = np.array(rows)[seen], np.array(where)[seen]
    coordinates = jnp.asarray(rows, jnp.float32)
    ink = _ink_program()(task, coordinates, task.present(jnp.asarray(rows)))
    return np.asarray(ink).reshape(len(rows), -1), where


def template(trained: np.ndarray, places: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """(n0, n1, pixels): at each point the mean of the trained drawings that share the first or the second level."""
    pages = np.concatenate([trained, np.ones((len(trained), 1), trained.dtype)], axis=1)  # the last column counts
    first, second = (np.zeros((n, pages.shape[1])) for n in shape)
    both = np.zeros((*shape, pages.shape[1]))
    for sums, at in ((first, places[:, 0]), (second, places[:, 1]), (both, places)):
        here = at.reshape(len(at), -1).min(1) >= 0
        np.add.at(sums, tuple(at[here].reshape(here.sum(), -1).T), pages[here])
    total = first[:, None] + second[None] - both  # a drawing at the point itself shares both, and counts once
    with np.errstate(invalid="ignore"):
        return (total[..., :-1] / total[..., -1:]).astype(trained.dtype)


@functools.cache
def _ink_program() -> Callable[..., jax.Array]:
    return jax.jit(lambda task, at, present: task.ink(at, present), compiler_options=one_thread())


def drawing_readings(
    probe: str,
    headline: str,
    measure: Callable[[Drawings, dict[str, np.ndarray], int, Net], dict[str, Values]],
    trained: Trained,
    *,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
    controls: bool = True,
) -> Readings:
    """Readings of what a net draws. `measure` gets drawings by name ("", "_untrained", ...) and gives values by name.

    factors, fixed: which two factors span the grid; see `make_grid`. at_once: drawings in one pass of the net.
    """
    drawings = drawings_of(trained, factors, fixed)
    rows: list[dict[str, Any]] = []
    for member in trained.healthy:
        ink = {"": drawings.drawn_by(member.net, at_once)}
        if controls:
            fresh = untrained(trained, member.seed)
            ink |= {"_untrained": drawings.drawn_by(fresh, at_once), "_truth": drawings.truth}
            ink["_template"] = drawings.template
        rows += _rows(member.seed, measure(drawings, ink, member.seed, member.net))
    return Readings(probe, rows, headline, kind="drawings")


def _rows(seed: int, found: dict[str, Values]) -> Iterator[dict[str, Any]]:
    for control, values in found.items():
        for metric, value in values.items():
            yield {"seed": seed, "layer": "output", "factor": "mean", "metric": metric + control, "value": float(value)}
