"""What probes of layers share: one measure for each layer over the grid of two factors, and the same for its controls.

    METRIC              the trained net
    METRIC_untrained    a net with the same blueprint before training
    METRIC_encoding     the code without a net
    METRIC_truth        the true pictures, for tasks that draw: what a layer that is the answer would score

Controls that have no layers are repeated beside every layer, so that each row has its own to be compared with.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from ..keys import key_for
from ..machine.precision import one_thread, resolve
from ..nets import Net, initialize
from ..training import Trained
from .base import Readings
from .grid import AT_ONCE, MEGABYTES, Grid, grid_of, layers_of, read

Values = dict[tuple[str, str], float]  # (metric, factor) -> value; factor "mean" is for both together
Measure = Callable[[Grid, Iterator[jax.Array]], Values]  # blocks (n0, n1, units) of one layer -> values


def layer_readings(
    probe: str,
    headline: str,
    measure: Measure,
    trained: Trained,
    *,
    layers: Sequence[str] | str | None = None,
    factors: Sequence[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    at_once: int = AT_ONCE,
    megabytes: float = MEGABYTES,
    controls: bool = True,
    of_net: Callable[[Grid, Net, Sequence[str]], dict[str, Values]] | None = None,
) -> Readings:
    """Readings of layers over the grid. What every probe of layers takes:

    layers: names of the trace; every layer after its nonlinearity and the output, if none is named.
    factors, fixed: which two factors span the grid and at which levels the others are; see `make_grid`.
    at_once, megabytes: the memory; see `read`.
    controls: an untrained net, the code and the true pictures beside the trained net.
    of_net: further values of each layer, for measures that need more than its activations.
    """
    grid = grid_of(trained, factors, fixed)
    names = layers_of(trained, layers)
    rows: list[dict[str, Any]] = []

    def values_of(net: Net) -> dict[str, Values]:
        more = of_net(grid, net, names) if of_net else {}
        found = itertools.groupby(read(grid, net, names, at_once=at_once, megabytes=megabytes), lambda pair: pair[0])
        return {name: measure(grid, (block for _, block in blocks)) | more.get(name, {}) for name, blocks in found}

    without_net = {}
    if controls:
        without_net["_encoding"] = measure(grid, iter([grid.codes.reshape(*grid.shape, -1)]))
        truth = grid.truth()
        if truth is not None:
            without_net["_truth"] = measure(grid, iter([truth.reshape(*grid.shape, -1)]))
    for member in trained.healthy:
        found = {"": values_of(member.net)}
        if controls:
            found["_untrained"] = values_of(untrained(trained, member.seed))
        found |= {control: dict.fromkeys(names, values) for control, values in without_net.items()}
        rows += [
            {"seed": member.seed, "layer": name, "factor": factor, "metric": metric + control, "value": float(value)}
            for name in names
            for control, by_layer in found.items()
            for (metric, factor), value in by_layer[name].items()
        ]
    return Readings(probe, rows, headline, kind="layers")


def measuring(program: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled, with one thread, and with products in full float32 where a device would round them."""

    def run(*arguments: Any) -> Any:
        with jax.default_matmul_precision("highest"):
            return program(*arguments)

    return jax.jit(run, compiler_options=one_thread())


def untrained(trained: Trained, seed: int) -> Net:
    """A net with the same blueprint before training; the same one for every probe."""
    precision = resolve(trained.recipe.precision, trained.blueprint.products)
    return initialize(trained.blueprint, trained.task, key_for("init-untrained", seed), precision)
