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

from ..errors import UserError, unknown
from ..keys import key_for
from ..nets import Net
from ..precision import one_thread, resolve
from ..tasks import Batch, draw_stream
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
    if not strength >= 0:
        raise UserError(f"strength={strength} must be at least 0")
    rows: list[dict[str, Any]] = []
    task, support = trained.task, trained.support
    names = task.constituent_names

    def add(seed: int, metric: str, by_factor: np.ndarray) -> None:
        for factor, value in (*zip(names, by_factor, strict=True), ("mean", _mean(by_factor))):
            rows.append({"seed": seed, "layer": name, "factor": factor, "metric": metric, "value": float(value)})

    for member in trained.healthy:
        seed = member.seed
        streams = {
            "fit": draw_stream(task, support.train, key_for("probe_fit", seed), fit_tasks),
            "test": draw_stream(task, support.train, key_for("probe_score", seed), score_tasks),
            "held_out": draw_stream(task, support.held_out, key_for("probe_score/held_out", seed), score_tasks),
        }
        z = {stream: np.asarray(batch.constituents) for stream, batch in streams.items()}
        h = {stream: _features(member.net, batch, name) for stream, batch in streams.items()}
        shuffled = np.random.default_rng(seed).permutation(z["fit"])
        # one Gram matrix serves the true targets and the shuffled ones
        weights, intercept = ridge.fit(h["fit"], np.hstack([z["fit"], shuffled]), strength)
        predicted = {stream: np.hsplit(h[stream] @ weights + intercept, 2) for stream in ("test", "held_out")}
        add(seed, "r2", ridge.r2_by_target(predicted["held_out"][0], z["held_out"]))
        add(seed, "r2_test", ridge.r2_by_target(predicted["test"][0], z["test"]))
        if not controls:
            continue
        add(seed, "r2_shuffled", ridge.r2_by_target(predicted["held_out"][1], z["held_out"]))
        fresh = trained.blueprint.build(task, key_for("init-untrained", seed), resolve(trained.recipe.precision))
        others = {
            "r2_untrained": [_features(fresh, streams[stream], name) for stream in ("fit", "held_out")],
            "r2_encoding": [np.asarray(streams[stream].code) for stream in ("fit", "held_out")],
        }
        for metric, (fit_on, score_on) in others.items():
            weights, intercept = ridge.fit(fit_on, z["fit"], strength)
            add(seed, metric, ridge.r2_by_target(score_on @ weights + intercept, z["held_out"]))
    return Readings("decodability", rows, "r2")


def _mean(by_factor: np.ndarray) -> float:
    """Mean over the factors whose R^2 is defined; undefined if none is."""
    defined = by_factor[~np.isnan(by_factor)]
    return float(defined.mean()) if defined.size else float("nan")


def _features(net: Net, batch: Batch, layer: str) -> np.ndarray:
    """Activations of a layer at the first sample of each task: one a task, so that rows are independent."""
    return np.asarray(_trace_program(layer)(net, batch.inputs[:, :1], batch.code))[:, 0]


@functools.cache
def _trace_program(layer: str) -> Callable[[Net, jax.Array, jax.Array], jax.Array]:
    return jax.jit(lambda net, inputs, code: net(inputs, code)[1][layer], compiler_options=one_thread())
