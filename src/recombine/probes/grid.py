"""The grid of two factors: every combination of their levels, and what a net makes of it.

Maps over a grid are indexed [level of the first factor, level of the second]: for bumps [x, y]. (A picture has row = y
and column = x, so transpose a map to lay it over one.)

A layer is read at every point of the grid, within a stated memory:

    at_once x units x 4 bytes   what one pass of the net makes of a layer, besides what the net needs itself
    points x units x 4 bytes    what is kept, at most `megabytes` for all layers of a pass together

A layer that is larger than that is read in several passes, with other units each. It is handed out in blocks of 1,024
units, which stay in the cache of a processor: all that is measured here is a sum or a list over units.
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
from ..keys import key_for
from ..machine.precision import one_thread
from ..nets import Net, Parts, cut, join
from ..spaces import Space
from ..supports import Support
from ..tasks import Batch, FirstRow, Pictures, Task
from ..training import Member, Trained, ask

AT_ONCE = 32  # points in one pass: attention over all pixels needs 10 MB for each
MEGABYTES = 256.0
BLOCK = 1024  # units handed out together
STILL = 1e-12  # variance by mean square up to which a unit does not move: float32 rounding is no signal


@dataclass(frozen=True)
class Grid:
    """All combinations of the levels of two factors; further factors are fixed. P = n0 x n1 points.

    Args:
        task: whose space it is.
        factors: the names of the two.
        axes: the columns of the two factors in a combination.
        levels: of each factor, by number.
        combinations: (P, F), the second factor varies fastest.
        trained: (n0, n1) of booleans.
        held_out: (n0, n1) of booleans.
        codes: (P, C): what the net is told at each point.
        inputs: (1, 1, ..., I): what it sees beside the code, the same at every point, if anything.
        present: (P, F): which factors a combination has, if some lack one.

    Example:
        >>> over = rc.probes.grid_of(drawn)
        >>> over.factors, over.shape, int(over.held_out.sum())
        (('x', 'y'), (6, 6), 16)
    """

    task: Task
    factors: tuple[str, str]
    axes: tuple[int, int]  # the columns of the two factors in a combination
    levels: tuple[np.ndarray, np.ndarray]  # of each factor, by number
    combinations: np.ndarray  # (P, F), the second factor varies fastest
    trained: np.ndarray  # (n0, n1) of booleans
    held_out: np.ndarray  # (n0, n1) of booleans
    codes: jax.Array  # (P, C): what the net is told at each point
    inputs: jax.Array | None  # (1, 1, ..., I): what it sees beside the code, the same at every point, if anything
    present: jax.Array | None  # (P, F): which factors a combination has, if some lack one

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.levels[0]), len(self.levels[1])

    @property
    def points(self) -> int:
        return len(self.combinations)

    @property
    def unused(self) -> np.ndarray:
        """(n0, n1): points that are neither trained nor held out."""
        return ~(self.trained | self.held_out)

    @property
    def coordinates(self) -> jax.Array:
        """(P, F): where along each factor."""
        return jnp.asarray(self.combinations, jnp.float32)

    def truth(self) -> jax.Array | None:
        """(P, pixels): the true pictures, of a task that draws."""
        if not isinstance(self.task, Pictures):
            return None
        return _truth_program()(self.task, self.coordinates)


def grid_of(
    trained: Trained,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> Grid:
    """The two-factor grid of what was trained; see `make_grid`.

    Args:
        trained: what `train` gave, on a Product.
        factors: which two factors; needed where there are more.
        fixed: the level of every other factor, as in {"size": 3}.

    Example:
        >>> rc.probes.grid_of(drawn).points
        36
    """
    return make_grid(trained.task, trained.support, factors, fixed)


def make_grid(
    task: Task,
    support: Support,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
) -> Grid:
    """The grid of two factors of a task over a Product.

    factors: which two; needed where there are more. fixed: the level of every other factor, as in {"size": 3}.
    Levels at which a picture lacks the factor (a stripe has no second coordinate) are no part of the grid.
    Tasks with inputs beside the code are read at one input, that of the first point: what moves is the code alone.
    """
    space = task.space
    if len(space.columns) < 2:
        raise UserError(f"{task.id} on {space} has no grid of two factors; a Product such as Product(x=8, y=8) has one")
    chosen = _two(space, factors)
    rest = _rest(space, chosen, fixed or {})
    names = list(space.columns)
    axes = names.index(chosen[0]), names.index(chosen[1])
    levels = np.arange(space.levels[axes[0]]), np.arange(space.levels[axes[1]])

    def combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        rows = np.zeros((len(first) * len(second), space.width), space.dtype)
        rows[:, axes[0]], rows[:, axes[1]] = np.repeat(first, len(second)), np.tile(second, len(first))
        for name, level in rest.items():
            rows[:, names.index(name)] = level
        return rows

    rows = combine(*levels)
    present = task.present(jnp.asarray(rows)) if isinstance(task, Pictures) else None
    if present is not None:
        there = np.asarray(present).reshape(*map(len, levels), -1)
        levels = levels[0][there[..., axes[0]].any(1)], levels[1][there[..., axes[1]].any(0)]
        rows = combine(*levels)
        present = task.present(jnp.asarray(rows))  # type: ignore[attr-defined]
    shape = len(levels[0]), len(levels[1])
    if min(shape) < 2:
        raise UserError(f"the grid of {chosen[0]} and {chosen[1]} on {space} has {shape} levels; each needs at least 2")
    if isinstance(task, Pictures):
        coordinates = jnp.asarray(rows, jnp.float32)
        codes, inputs = _code_program()(task, coordinates, present), None
    else:
        batch = _sample_program()(task, key_for("probe_score", 0), jnp.asarray(rows))
        codes, inputs = batch.code, None if batch.inputs is None else batch.inputs[:1]
    seen, unseen = (side.contains(rows).reshape(shape) for side in (support.train, support.held_out))
    return Grid(task, chosen, axes, levels, rows, seen, unseen, codes, inputs, present)


def _two(space: Space, factors: Sequence[str] | None) -> tuple[str, str]:
    names = list(space.columns)
    if factors is None:
        if len(names) != 2:
            raise UserError(
                f"{space} has {len(names)} factors; choose two and fix the others, as in "
                f"factors={tuple(names[:2])}, fixed={ {names[2]: space.columns[names[2]][0]} }"
            )
        return names[0], names[1]
    for name in factors:
        if name not in space.columns:
            raise unknown("factor", name, names)
    if len(factors) != 2 or len(set(factors)) != 2:
        raise UserError(f"factors={tuple(factors)} must be two different ones of {', '.join(names)}")
    return factors[0], factors[1]


def _rest(space: Space, chosen: tuple[str, str], fixed: Mapping[str, Any]) -> dict[str, int]:
    """The fixed level of every factor that is not part of the grid, by number."""
    for name in fixed:
        if name not in space.columns:
            raise unknown("factor", name, space.columns)
        if name in chosen:
            raise UserError(f"factor {name!r} spans the grid, so it cannot be fixed at {fixed[name]!r}")
    open_ones = [name for name in space.columns if name not in chosen and name not in fixed]
    if open_ones:
        raise UserError(
            f"fix the level of {' and '.join(map(repr, open_ones))} too, as in fixed={{{open_ones[0]!r}: 0}}"
        )
    for name, level in fixed.items():
        if level not in space.columns[name]:
            raise unknown(f"level of {name}", level, map(str, space.columns[name]))
    return {name: space.columns[name].index(level) for name, level in fixed.items()}


def on_grid(where: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values of the points of a mask (n0, n1) as a map, NaN elsewhere."""
    found = np.full(where.shape, np.nan)
    found[where] = values
    return found


# -- reading a net over the grid ----------------------------------------------------------------------------------


def member_of(trained: Trained, seed: int | None) -> Member:
    """The member of a seed, the first healthy one if none is named."""
    by_seed = {member.seed: member for member in trained.healthy}
    if seed is None:
        return next(iter(by_seed.values()))
    if seed not in by_seed:
        raise UserError(f"seed={seed} has no healthy member; there are {sorted(by_seed)}")
    return by_seed[seed]


def layers_of(trained: Trained, layers: Sequence[str] | str | None) -> tuple[str, ...]:
    """The layers to read: those named, else every one after its nonlinearity and the output."""
    known = trained.blueprint.layers()
    if layers is None:
        return tuple(name for name in known if not name.endswith("/pre"))
    chosen = (layers,) if isinstance(layers, str) else tuple(layers)
    for name in chosen:
        if name not in known:
            raise unknown("layer", name, known)
    if not chosen or len(set(chosen)) < len(chosen):
        raise UserError(f"layers={chosen} must name layers, each once; there are {', '.join(known)}")
    return chosen


def read(
    grid: Grid, net: Net, layers: Sequence[str], *, at_once: int = AT_ONCE, megabytes: float = MEGABYTES
) -> Iterator[tuple[str, jax.Array]]:
    """Layer by layer, blocks of its units at every point of the grid: (name, (n0, n1, up to 1,024 units)).

    at_once: points in one pass of the net. megabytes: of all blocks that are kept at the same time.
    """
    at_once = min(require_int("at_once", at_once, at_least=1), grid.points)
    room = int(min(megabytes * 2**20 / 4 / grid.points, 2**62))  # units that may be kept at a time
    if room < 1:
        raise UserError(f"megabytes={megabytes} holds no unit at {grid.points} points; give at least 1")
    parts = cut(net)
    shapes = jax.eval_shape(lambda p, i, c: ask(join(p), shown(i, c))[1], parts, grid.inputs, grid.codes[:1])
    for load in _loads({name: int(np.prod(shapes[name].shape[1:])) for name in layers}, room):
        program = _fill_program(tuple((name, size) for name, _, size in load), at_once)
        buffers = [jnp.zeros((grid.points, size)) for _, _, size in load]
        starts = [start for _, start, _ in load]
        for at in range(0, grid.points, at_once):
            # the last pass overlaps with the one before: one program for all of them
            buffers = program(buffers, parts, grid.inputs, grid.codes, min(at, grid.points - at_once), starts)
        for name, _, units in load:
            buffer = buffers.pop(0)
            for start, size in _pieces(units, BLOCK):
                yield name, _block_program(grid.shape, size)(buffer, start)


def _loads(units: Mapping[str, int], room: int) -> list[list[tuple[str, int, int]]]:
    """What each pass keeps: (layer, first unit, number of units), together no more than `room` units."""
    loads: list[list[tuple[str, int, int]]] = [[]]
    free = room
    for name, count in units.items():
        for start, size in _pieces(count, room):
            if size > free:
                loads, free = [*loads, []], room
            loads[-1].append((name, start, size))
            free -= size
    return [load for load in loads if load]


def _pieces(count: int, most: int) -> list[tuple[int, int]]:
    """(first, how many): `count` cut into pieces of at most `most`, as even as can be, so that programs are shared."""
    size = -(-count // -(-count // most))
    return [(start, min(size, count - start)) for start in range(0, count, size)]


@functools.cache
def _block_program(shape: tuple[int, int], size: int) -> Callable[[jax.Array, int], jax.Array]:
    def run(buffer: jax.Array, start: Any) -> jax.Array:
        return jax.lax.dynamic_slice_in_dim(buffer, start, size, axis=1).reshape(*shape, size)

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _fill_program(load: tuple[tuple[str, int], ...], at_once: int) -> Callable[..., list[jax.Array]]:
    """One pass: activations of the units in `load` at the points from `at` on, written into the buffers in place."""

    def run(buffers: list, parts: Parts, inputs: Any, codes: jax.Array, at: Any, starts: list) -> list:
        here = jax.lax.dynamic_slice_in_dim(codes, at, at_once)
        _, trace = ask(join(parts), shown(inputs, here))
        filled = []
        for buffer, start, (name, size) in zip(buffers, starts, load, strict=True):
            flat = trace[name].reshape(at_once, -1)
            part = jax.lax.dynamic_slice_in_dim(flat, start, size, axis=1).astype(jnp.float32)
            filled.append(jax.lax.dynamic_update_slice_in_dim(buffer, part, at, axis=0))
        return filled

    return jax.jit(run, donate_argnums=0, compiler_options=one_thread())


def activations(
    trained: Trained,
    layer: str,
    *,
    seed: int | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
) -> np.ndarray:
    """A whole layer over the grid of two factors, (n0, n1, units): points x units x 4 bytes.

    Args:
        trained: what `train` gave, on a Product.
        layer: a name of the trace, such as "layer1/post".
        seed: of the member; the first healthy one if none is named.
        factors: which two factors span the grid; needed where there are more.
        fixed: the level of every other factor.
        at_once: points in one pass of the net.

    Example:
        >>> rc.probes.activations(drawn, "layer1/post").shape
        (6, 6, 8)
    """
    grid = grid_of(trained, factors, fixed)
    names = layers_of(trained, layer)
    blocks = read(grid, member_of(trained, seed).net, names, at_once=at_once, megabytes=float("inf"))
    return np.concatenate([np.asarray(block) for _, block in blocks], axis=-1)


def shown(inputs: jax.Array | None, codes: jax.Array) -> Batch:
    """A batch of codes (T, C), which need not be those of combinations, at one shared input."""
    if inputs is not None:
        inputs = jnp.broadcast_to(inputs, (len(codes), *inputs.shape[1:]))
    return Batch(None, codes, inputs)


def predict(net: Net, inputs: jax.Array | None, codes: jax.Array, *, at_once: int = AT_ONCE) -> np.ndarray:
    """What a net predicts for any codes (T, C), at one shared input: (T, outputs)."""
    at_once = min(require_int("at_once", at_once, at_least=1), len(codes))
    parts, found = cut(net), []
    for start in range(0, len(codes), at_once):
        at = min(start, len(codes) - at_once)
        found.append(np.asarray(_predict_program(at_once)(parts, inputs, codes, at))[start - at :])
    return np.concatenate(found)


@functools.cache
def _predict_program(at_once: int) -> Callable[..., jax.Array]:
    def run(parts: Parts, inputs: Any, codes: jax.Array, at: Any) -> jax.Array:
        here = jax.lax.dynamic_slice_in_dim(codes, at, at_once)
        return ask(join(parts), shown(inputs, here))[0].reshape(at_once, -1)

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _code_program() -> Callable[..., jax.Array]:
    return jax.jit(lambda task, at, present: task.code_of(at, present), compiler_options=one_thread())


@functools.cache
def _sample_program() -> Callable[..., Any]:
    return jax.jit(lambda task, key, rows: FirstRow(task).sample(key, rows, 1), compiler_options=one_thread())


@functools.cache
def _truth_program() -> Callable[[Task, jax.Array], jax.Array]:
    return jax.jit(lambda task, at: task.picture(at).reshape(len(at), -1), compiler_options=one_thread())
