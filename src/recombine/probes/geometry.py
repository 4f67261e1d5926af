"""geometry: how a layer lies over the grid of two factors. Do the directions stay orthogonal, where is it stretched?

With a(x, y) the activations of a layer, J = (da/dx, da/dy) and the metric tensor g = J^T J:

    factorization   F = 1 - mean|g01| / mean(|g00| + |g11|): 1 where the two directions are orthogonal at every point,
                    never below .5 (Cauchy-Schwarz)
    log_volume      mean of log10(sqrt(|det g|) + 1e-12): how much of the layer a step of both factors takes up

The derivatives are finite differences between neighboring levels, central inside and one-sided at the border, and the
means run over all points of the grid, as published (Liang, Qian, Ziyin, Fiete 2025 and its public code). Ours: the same
over trained and over held-out points apart, the exact derivative through the code and the net ("_derivative", where
the code has one), and undefined instead of 1 where a layer does not move (the public code adds 1e-9 below the line).

F sees a loss of orthogonality, not whether a layer is separable: for bumps of one pixel on 28 x 28 the true pictures
score .99995 and sums of two stripes .99982. `separability` asks the other question.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, unknown
from ..machine.precision import one_thread, resolve
from ..nets import Net, Parts, cut, graft, join
from ..tasks import Pictures
from ..training import Trained, ask
from .base import Readings, probes
from .grid import AT_ONCE, MEGABYTES, Grid, grid_of, layers_of, member_of, read, shown
from .layers import Values, layer_readings

FAINT = 1e-12  # what is added to a volume before its logarithm, as published


@dataclass(frozen=True)
class Metric:
    """The metric tensor of a layer at every point of the grid."""

    g: np.ndarray  # (n0, n1, 3): g00, g11, g01

    @property
    def log_volume(self) -> np.ndarray:
        """(n0, n1): log10 of the volume form sqrt(|det g|)."""
        return np.log10(np.sqrt(np.abs(self.g[..., 0] * self.g[..., 1] - self.g[..., 2] ** 2)) + FAINT)

    def factorization(self, where: np.ndarray | None = None) -> float:
        """F over all points, or over those of a mask; NaN where nothing moves."""
        g = self.g.reshape(-1, 3) if where is None else self.g[where]
        moved = (np.abs(g[:, 0]) + np.abs(g[:, 1])).sum()
        return float(1 - np.abs(g[:, 2]).sum() / moved) if moved > 0 else float("nan")


@probes.register("geometry")
def geometry(trained: Trained, *, derivative: bool = True, **options: Any) -> Readings:
    """Metric tensor of each layer over two factors: factorization and volume, by side, with controls.

    Args:
        trained: what `train` gave, on a Product.
        derivative: also by the exact derivative, if the code has one (a one-hot code has none).
        options: those of every probe of layers: layers (names of the trace; all after their nonlinearity and the
            output, if none is named), factors and fixed (which two factors span the grid, and the levels of the
            others), at_once and megabytes (the memory), controls.

    Example:
        >>> found = rc.probes.geometry(drawn, layers="output", derivative=False)
        >>> found.headline, 0 <= found.value().mean <= 1
        ('factorization', True)
    """
    at_once = options.get("at_once", AT_ONCE)

    def exact(grid: Grid, net: Net, names: Sequence[str]) -> dict[str, Values]:
        found = metric_by_derivative(grid, in_float32(trained, net), names, at_once=at_once)
        return {name: _values(grid, metric, "_derivative") for name, metric in found.items()}

    grid = grid_of(trained, options.get("factors"), options.get("fixed"))
    of_net = exact if derivative and differentiable(grid) else None
    return layer_readings("geometry", "factorization", _by_differences, trained, of_net=of_net, **options)


def metric_maps(
    trained: Trained,
    *,
    layers: Sequence[str] | str | None = None,
    seed: int | None = None,
    by: str = "differences",
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
    megabytes: float = MEGABYTES,
) -> dict[str, Metric]:
    """The metric tensor of each layer of one member as maps over the grid.

    Args:
        trained: what `train` gave, on a Product.
        layers: names of the trace; all after their nonlinearity and the output, if none is named.
        seed: of the member; the first healthy one if none is named.
        by: "differences" (as published) or "derivative" (exact).
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: points in one pass of the net.
        megabytes: of activations that are kept at the same time.

    Example:
        >>> rc.probes.metric_maps(drawn, layers="output")["output"].log_volume.shape
        (6, 6)
    """
    if by not in ("differences", "derivative"):
        raise unknown("way to derive", by, ("differences", "derivative"))
    grid, net, names = grid_of(trained, factors, fixed), member_of(trained, seed).net, layers_of(trained, layers)
    if by == "derivative":
        return metric_by_derivative(grid, in_float32(trained, net), names, at_once=at_once)
    sums: dict[str, np.ndarray] = {}
    for name, block in read(grid, net, names, at_once=at_once, megabytes=megabytes):
        sums[name] = sums.get(name, 0) + metric_by_differences(block).g
    return {name: Metric(g) for name, g in sums.items()}


def metric_by_differences(values: jax.Array | np.ndarray) -> Metric:
    """Of activations (n0, n1, units): central differences inside, one-sided at the border, step 1.

    They are squared in float32: activations are first divided by a power of two near the largest of them, so that the
    squares of very small ones (below 1e-19) do not vanish and those of very large ones do not overflow.
    """
    values = np.asarray(values)
    _, exponent = np.frexp(np.abs(values).max(initial=0.0).astype(float))
    scaled = np.ldexp(values, -exponent).astype(np.float32, copy=False)
    return Metric(np.ldexp(np.asarray(_differences_program()(jnp.asarray(scaled)), float), 2 * exponent))


def metric_by_derivative(grid: Grid, net: Net, layers: Sequence[str], *, at_once: int = AT_ONCE) -> dict[str, Metric]:
    """By the derivative of code and net: 3 x at_once x units x 4 bytes per layer, and no activations are kept."""
    if not differentiable(grid):
        raise UserError(f"the code of {grid.task.id} has no derivative along its factors; use differences of levels")
    at_once = min(at_once, grid.points)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in layers}
    program, where = _derivative_program(tuple(layers), grid.axes, at_once), (grid.coordinates, grid.present)
    for start in range(0, grid.points, at_once):
        at = min(start, grid.points - at_once)
        found = program(grid.task, cut(net), grid.inputs, where, at)
        for name in layers:
            parts[name].append(np.asarray(found[name], float)[start - at :])
    return {name: Metric(np.concatenate(g).reshape(*grid.shape, 3)) for name, g in parts.items()}


def differentiable(grid: Grid) -> bool:
    """Whether the code moves smoothly along both factors."""
    if not isinstance(grid.task, Pictures):
        return False
    moved = _tangent_program(grid.axes)(grid.task, grid.coordinates, grid.present)
    return all(bool(jnp.any(one != 0)) for one in moved)


def in_float32(trained: Trained, net: Net) -> Net:
    """The same weights with float32 products: bfloat16 ones have no forward derivative."""
    if resolve(trained.recipe.precision, trained.blueprint.products) == "float32":
        return net
    like = eqx.filter_eval_shape(trained.blueprint.build, trained.task, jax.random.key(0), "float32")
    return graft(like, net, trained.blueprint.name)


def _by_differences(grid: Grid, blocks: Iterator[jax.Array]) -> Values:
    return _values(grid, Metric(sum(metric_by_differences(block).g for block in blocks)), "")  # type: ignore[arg-type]


def _values(grid: Grid, metric: Metric, way: str) -> Values:
    values: Values = {}
    volume = metric.log_volume
    for side, where in (("", None), ("_trained", grid.trained), ("_held_out", grid.held_out)):
        values[f"factorization{way}{side}", "mean"] = metric.factorization(where)
        there = volume if where is None else volume[where]
        values[f"log_volume{way}{side}", "mean"] = float(there.mean()) if there.size else float("nan")
    return values


@functools.cache
def _differences_program() -> Callable[[jax.Array], jax.Array]:
    def run(values: jax.Array) -> jax.Array:
        n0, n1 = values.shape[:2]
        # the neighbors of each level: itself where there is none beyond it
        low1, high1 = jnp.maximum(jnp.arange(n1) - 1, 0), jnp.minimum(jnp.arange(n1) + 1, n1 - 1)
        step1 = (high1 - low1).astype(jnp.float32)[:, None]

        def row(i: jax.Array) -> jax.Array:  # one row at a time: no copies of the whole layer
            low, high = jnp.maximum(i - 1, 0), jnp.minimum(i + 1, n0 - 1)
            d0 = (values[high] - values[low]) / (high - low)
            d1 = (values[i][high1] - values[i][low1]) / step1
            return jnp.stack([(d0 * d0).sum(-1), (d1 * d1).sum(-1), (d0 * d1).sum(-1)], axis=-1)

        return jax.lax.map(row, jnp.arange(n0))

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _derivative_program(
    layers: tuple[str, ...], axes: tuple[int, int], at_once: int
) -> Callable[..., dict[str, jax.Array]]:
    def run(task: Pictures, parts: Parts, inputs: Any, where: Any, first: Any) -> dict[str, jax.Array]:
        # present is None, a tree without leaves, where every combination has both factors
        at, present = jax.tree.map(lambda all_of: jax.lax.dynamic_slice_in_dim(all_of, first, at_once), where)

        def layers_at(at: jax.Array) -> dict[str, jax.Array]:
            _, trace = ask(join(parts), shown(inputs, task.code_of(at, present)))
            return {name: trace[name].reshape(at_once, -1) for name in layers}

        # points do not see each other, so one push gives the derivative at each of them
        d0, d1 = (jax.jvp(layers_at, (at,), (jnp.zeros_like(at).at[:, axis].set(1),))[1] for axis in axes)
        return {
            name: jnp.stack([(a * a).sum(-1), (b * b).sum(-1), (a * b).sum(-1)], axis=-1)
            for name, a, b in ((name, d0[name], d1[name]) for name in layers)
        }

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _tangent_program(axes: tuple[int, int]) -> Callable[..., list[jax.Array]]:
    def run(task: Pictures, at: jax.Array, present: jax.Array | None) -> list[jax.Array]:
        def code(at: jax.Array) -> jax.Array:
            return task.code_of(at, present)

        return [jax.jvp(code, (at,), (jnp.zeros_like(at).at[:, axis].set(1),))[1] for axis in axes]

    return jax.jit(run, compiler_options=one_thread())
