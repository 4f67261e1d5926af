"""decodability: can a task's constituents be read off a layer by a linear map, on combinations never trained?

Ridge (strength 1) from the activations of one layer, at one sample of each task, to the constituents; fitted on
tasks of training combinations, scored on others of them ("r2_test") and on held-out ones ("r2", the one that counts).
The published probe stops its solver after ten iterations and penalizes the intercept; this one is exact.

Three controls come along, since a wide layer decodes much by chance:
    shuffled   the same net, fitted to constituents of other tasks: what fitting noise gives
    untrained  a net with the same blueprint before training: what the architecture gives
    encoding   the code that the net is given, without a net: what was never hidden
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..errors import unknown
from ..keys import key_for
from ..precision import one_thread, resolve
from ..supports import Side
from ..tasks import Task, draw_batch
from ..trained import Trained
from . import ridge
from .base import Readings, probes

FIT_TASKS = 2048
SCORE_TASKS = 1024


@probes.register("decodability")
def decodability(
    trained: Trained,
    *,
    layer: int | str = 2,
    activation: str = "pre",
    strength: float = 1.0,
    fit_tasks: int = FIT_TASKS,
    score_tasks: int = SCORE_TASKS,
    controls: bool = True,
) -> Readings:
    """Linear decoding of the constituents from a layer, on held-out combinations, with three controls.

    layer: a number (1 is the first hidden layer) or a name of the trace such as "output".
    activation: "pre" or "post" the nonlinearity, for a layer given by number.
    """
    name = f"layer{layer}/{activation}" if isinstance(layer, int) else layer
    known = trained.blueprint.layers()
    if name not in known:
        raise unknown("layer", name, known)
    rows: list[dict[str, Any]] = []
    task, support = trained.task, trained.support
    names = task.constituent_names

    def add(seed: int, metric: str, by_factor: np.ndarray) -> None:
        for factor, value in (*zip(names, by_factor, strict=True), ("mean", _mean(by_factor))):
            rows.append({"seed": seed, "layer": name, "factor": factor, "metric": metric, "value": float(value)})

    for member in trained.healthy:
        seed = member.seed

        def look(net: Any, what: str, stream: str, side: Side, n: int, seed: int = seed):
            return _activations(task, net, what, side, key_for(stream, seed), n)

        fit_x, fit_y = look(member.net, name, "probe_fit", support.train, fit_tasks)
        test_x, test_y = look(member.net, name, "probe_score", support.train, score_tasks)
        held_x, held_y = look(member.net, name, "probe_score/held_out", support.held_out, score_tasks)
        weights, intercept = ridge.fit(fit_x, fit_y, strength)
        add(seed, "r2", ridge.r2_by_target(held_x @ weights + intercept, held_y))
        add(seed, "r2_test", ridge.r2_by_target(test_x @ weights + intercept, test_y))
        if not controls:
            continue
        shuffled = np.random.default_rng(seed).permutation(fit_y)
        weights, intercept = ridge.fit(fit_x, shuffled, strength)
        add(seed, "r2_shuffled", ridge.r2_by_target(held_x @ weights + intercept, held_y))
        fresh = trained.blueprint.build(task, key_for("init-untrained", seed), resolve(trained.recipe.precision))
        for metric, net, what in (("r2_untrained", fresh, name), ("r2_encoding", None, "code")):
            x, y = look(net, what, "probe_fit", support.train, fit_tasks)
            weights, intercept = ridge.fit(x, y, strength)
            x, y = look(net, what, "probe_score/held_out", support.held_out, score_tasks)
            add(seed, metric, ridge.r2_by_target(x @ weights + intercept, y))
    return Readings("decodability", rows, "r2")


def _mean(by_factor: np.ndarray) -> float:
    """Mean over the factors whose R^2 is defined; undefined if none is."""
    defined = by_factor[~np.isnan(by_factor)]
    return float(defined.mean()) if defined.size else float("nan")


def _activations(task: Task, net: Any, what: str, side: Side, key: jax.Array, n: int) -> tuple[np.ndarray, np.ndarray]:
    features, constituents = _program(what, n)(task, side.sampler(), net, key)
    return np.asarray(features), np.asarray(constituents)


@functools.cache
def _program(what: str, n: int) -> Callable[..., tuple[jax.Array, jax.Array]]:
    def run(task: Task, sampler: Any, net: Any, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        batch = draw_batch(task, sampler, key, n, 1)  # one sample a task: rows are independent
        features = batch.code if what == "code" else net(batch.inputs, batch.code)[1][what][:, 0]
        return features, batch.constituents

    return jax.jit(run, compiler_options=one_thread())
