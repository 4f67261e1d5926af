"""tuning: is a unit tuned to one factor? A unit's activation over (x, y), split as in a two-way analysis of variance.

Over a whole grid the variance of a unit is the sum of what its mean over y explains (a function of x), what its mean
over x explains (a function of y), and the rest, which needs both:

    index      the larger of the first two shares: 1 for a unit tuned to one factor alone; median over units
    share      the share of one factor (rows of that factor), median over units
    additive   both shares together, median over units
    tuned      share of units with an index above .8; rows of a factor: tuned to this one
    dead       share of units that are the same at every point; they are in none of the other values

The published panels show such maps and their two marginal means; the index is ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int, unknown
from ..training import Trained
from .base import Readings, probes
from .grid import AT_ONCE, MEGABYTES, STILL, Grid, grid_of, layers_of, member_of, read
from .layers import Values, layer_readings, measuring

TUNED = 0.8  # index above which a unit counts as tuned to one factor
CHOICES = ("representative", "active")


@dataclass(frozen=True)
class Shares:
    """Shares of each unit's variance over the grid; NaN for dead units."""

    first: np.ndarray  # (units,)
    second: np.ndarray  # (units,)
    variance: np.ndarray  # (units,)

    @property
    def index(self) -> np.ndarray:
        return np.maximum(self.first, self.second)

    @property
    def dead(self) -> np.ndarray:
        return np.isnan(self.first)


@dataclass(frozen=True)
class TunedUnits:
    """Some units of a layer, for pictures."""

    units: np.ndarray  # (n,) their numbers in the flattened layer
    maps: np.ndarray  # (n, n0, n1)
    shares: Shares  # of these units

    @property
    def along_first(self) -> np.ndarray:
        """(n, n0): mean over the second factor."""
        return self.maps.mean(2)

    @property
    def along_second(self) -> np.ndarray:
        """(n, n1): mean over the first factor."""
        return self.maps.mean(1)


@probes.register("tuning")
def tuning(trained: Trained, **options: Any) -> Readings:
    """How much of each unit's variance over two factors one of them explains, with controls.

    Args:
        trained: what `train` gave, on a Product.
        options: those of every probe of layers: layers (names of the trace; all after their nonlinearity and the
            output, if none is named), factors and fixed (which two factors span the grid, and the levels of the
            others), at_once and megabytes (the memory), controls.

    Example:
        >>> found = rc.probes.tuning(drawn, layers="output", controls=False)
        >>> 0 <= found.value("index").mean <= 1
        True
    """
    return layer_readings("tuning", "index", _measure, trained, **options)


def tuned_units(
    trained: Trained,
    layer: str,
    n: int = 8,
    *,
    choose: str = "representative",
    seed: int | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
    megabytes: float = MEGABYTES,
) -> TunedUnits:
    """Maps of n units of a layer of one member.

    Args:
        trained: what `train` gave, on a Product.
        layer: a name of the trace.
        n: how many units.
        choose: "representative" takes live units evenly spaced in order of their index, from the least to the most
            tuned; "active" takes those with the largest variance.
        seed: of the member; the first healthy one if none is named.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: points in one pass of the net.
        megabytes: of activations that are kept at the same time.

    Example:
        >>> rc.probes.tuned_units(drawn, "output", n=3).maps.shape
        (3, 6, 6)
    """
    require_int("n", n, at_least=1)
    if choose not in CHOICES:
        raise unknown("choice of units", choose, CHOICES)
    grid, net, names = grid_of(trained, factors, fixed), member_of(trained, seed).net, layers_of(trained, layer)

    def blocks() -> Iterator[jax.Array]:
        return (block for _, block in read(grid, net, names, at_once=at_once, megabytes=megabytes))

    shares = variance_shares(blocks())
    live = np.flatnonzero(~shares.dead)
    if not live.size:
        raise UserError(f"every unit of {layer!r} is dead on this grid, so there is none to show")
    if choose == "active":
        units = live[np.argsort(-shares.variance[live], kind="stable")[:n]]
    else:
        ordered = live[np.argsort(shares.index[live], kind="stable")]
        units = ordered[np.unique(np.linspace(0, len(ordered) - 1, n).round().astype(int))]
    maps = np.zeros((len(units), *grid.shape), np.float32)
    first = 0
    for block in blocks():
        inside = (units >= first) & (units < first + block.shape[-1])
        maps[inside] = np.moveaxis(np.asarray(block[:, :, units[inside] - first]), -1, 0)
        first += block.shape[-1]
    return TunedUnits(units, maps, Shares(shares.first[units], shares.second[units], shares.variance[units]))


def variance_shares(blocks: Iterator[jax.Array]) -> Shares:
    """Shares of the variance of every unit, over blocks (n0, n1, units) of a layer."""
    parts = [np.asarray(_shares_program()(block)) for block in blocks]
    return Shares(*np.concatenate(parts, axis=-1))


def _measure(grid: Grid, blocks: Iterator[jax.Array]) -> Values:
    shares = variance_shares(blocks)
    live = ~shares.dead
    values: Values = {("dead", "mean"): float(shares.dead.mean())}
    index, parts = shares.index[live], (shares.first[live], shares.second[live])
    values["index", "mean"] = _median(index)
    values["additive", "mean"] = _median(parts[0] + parts[1])
    values["tuned", "mean"] = float((index > TUNED).mean()) if index.size else float("nan")
    for factor, part in zip(grid.factors, parts, strict=True):
        values["share", factor] = _median(part)
        values["tuned", factor] = float((part > TUNED).mean()) if part.size else float("nan")
    return values


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else float("nan")


@functools.cache
def _shares_program() -> Callable[[jax.Array], jax.Array]:
    def run(values: jax.Array) -> jax.Array:
        n0, n1, units = values.shape
        flat = values.reshape(n0 * n1, units)
        square = jnp.full(n0 * n1, 1 / (n0 * n1)) @ flat**2
        flat = flat - flat[0]  # a constant becomes 0 exactly
        # sums as products of matrices: reductions over the first axes are slow on a processor
        along_first = jnp.repeat(jnp.eye(n0), n1, axis=1) / n1
        along_second = jnp.tile(jnp.eye(n1), n0) / n0
        means = jnp.concatenate([along_first, along_second]) @ flat  # (n0 + n1, units)
        mean = means[:n0].mean(0)
        total = jnp.full(n0 * n1, 1 / (n0 * n1)) @ (flat - mean) ** 2
        parts = [((part - mean) ** 2).mean(0) for part in (means[:n0], means[n0:])]
        dead = total <= STILL * square
        shares = [jnp.where(dead, jnp.nan, jnp.clip(part / jnp.where(dead, 1.0, total), 0, 1)) for part in parts]
        return jnp.stack([*shares, jnp.where(dead, 0.0, total)])

    return measuring(run)
