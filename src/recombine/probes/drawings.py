"""What probes of drawings share: the ink that a net puts at held-out points, and what it is compared with.

Ink is 1 where something is drawn and 0 on the ground, whatever the polarity of the task. Beside what the net drew:

    untrained   the drawing of a net with the same blueprint before training
    truth       the true drawing
    template    the mean of the trained drawings that share one of the two factors: what superposing alone would give
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..nets import Net
from ..tasks import Pictures
from ..trained import Trained
from .base import Readings
from .grid import AT_ONCE, Grid, grid_of, predict
from .layers import untrained

Values = dict[str, float]


@dataclass(frozen=True)
class Drawings:
    """True drawings over a grid of pictures, and the templates of superposition; ink, (n0, n1, pixels) each."""

    grid: Grid
    truth: np.ndarray
    template: np.ndarray  # NaN where no trained drawing shares a factor

    @property
    def held_out(self) -> np.ndarray:
        """(n0, n1): held-out points that share a factor with a trained one."""
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
    """The true drawings and templates of a task that draws."""
    task = trained.task
    if not isinstance(task, Pictures):
        raise UserError(f"{task.id} draws nothing; this probe needs a task of pictures such as bumps-v1")
    grid = grid_of(trained, factors, fixed)
    truth = true_ink(grid)
    drawings = Drawings(grid, truth, template(truth, grid.trained))
    if not drawings.held_out.any():
        raise UserError(
            f"no held-out point of the grid of {grid.factors[0]} and {grid.factors[1]} shares a factor with a trained "
            "one, so there is nothing that could be superposed; hold out other combinations"
        )
    return drawings


def true_ink(grid: Grid) -> np.ndarray:
    """The ink of the true drawings, (n0, n1, pixels)."""
    assert isinstance(grid.task, Pictures)
    return np.asarray(grid.task.ink(grid.coordinates)).reshape(*grid.shape, -1)


def template(ink: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """(n0, n1, pixels): at each point the mean of the trained drawings that share the first or the second level."""
    kept = ink * trained[..., None]
    total = (
        kept.sum(1, keepdims=True) + kept.sum(0, keepdims=True) - kept
    )  # a point itself shares both, and counts once
    count = trained.sum(1, keepdims=True) + trained.sum(0, keepdims=True) - trained
    return np.where(count[..., None] > 0, total / np.maximum(count, 1)[..., None], np.nan)


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
