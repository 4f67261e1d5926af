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

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..errors import UserError, unknown
from ..keys import key_for
from ..nets import Net
from ..supports import Side
from ..tasks import FirstRow, Task
from ..training import Items, Trained, draw_combinations, evaluate
from . import ridge
from .base import Readings, probes
from .layers import untrained

FIT_TASKS = 2048
SCORE_TASKS = 1024


@probes.register("decodability")
def decodability(
    trained: Trained,
    *,
    layer: int | str | Sequence[int | str] = 2,
    activation: str = "pre",
    strength: float = 1.0,
    fit_tasks: int = FIT_TASKS,
    score_tasks: int = SCORE_TASKS,
    held_out: str = "held_out",
    controls: bool = True,
) -> Readings:
    """Linear decoding of the constituents from a layer, on held-out combinations, with three controls.

    layer: a number (1 is the first hidden layer), a name of the trace such as "output", or several of these.
    activation: "pre" or "post" the nonlinearity, for a layer given by number.
    held_out: what the probe is scored on: "held_out" or a group of it such as "held_out/cross-block".
    """
    chosen = [layer] if isinstance(layer, (int, str)) else list(layer)
    names = [f"layer{one}/{activation}" if isinstance(one, int) else one for one in chosen]
    known = trained.blueprint.layers()
    for name in names:
        if name not in known:
            raise unknown("layer", name, known)
    if not names:
        raise UserError(f"layer={layer!r} names no layer; choose from {', '.join(known)}")
    if not strength >= 0:
        raise UserError(f"strength={strength} must be at least 0")
    rows: list[dict[str, Any]] = []
    task, support = trained.task, trained.support

    def add(seed: int, name: str, metric: str, by_factor: np.ndarray) -> None:
        for factor, value in (*zip(task.constituent_names, by_factor, strict=True), ("mean", _mean(by_factor))):
            rows.append({"seed": seed, "layer": name, "factor": factor, "metric": metric, "value": float(value)})

    for member in trained.healthy:
        seed = member.seed
        streams = {
            "fit": (support.train, key_for("probe_fit", seed), fit_tasks),
            "test": (support.train, key_for("probe_score", seed), score_tasks),
            "held_out": (support.side(held_out), key_for(f"probe_score/{held_out}", seed), score_tasks),
        }
        found = {stream: _read(task, member.net, names, *where) for stream, where in streams.items()}
        z = {stream: items.kept["constituents"] for stream, items in found.items()}
        h = {stream: _features(items) for stream, items in found.items()}
        fresh: dict[str, dict[str, np.ndarray]] = {}
        if controls:
            new = untrained(trained, seed)
            fresh = {stream: _features(_read(task, new, names, *streams[stream])) for stream in ("fit", "held_out")}
            codes = {stream: found[stream].kept["code"].astype(float) for stream in ("fit", "held_out")}
            weights, intercept = ridge.fit(codes["fit"], z["fit"], strength)
            encoding = ridge.r2_by_target(codes["held_out"] @ weights + intercept, z["held_out"])
        shuffled = np.random.default_rng(seed).permutation(z["fit"])
        for name in names:
            # one Gram matrix serves the true targets and the shuffled ones
            weights, intercept = ridge.fit(h["fit"][name], np.hstack([z["fit"], shuffled]), strength)
            predicted = {s: np.hsplit(h[s][name] @ weights + intercept, 2) for s in ("test", "held_out")}
            add(seed, name, "r2", ridge.r2_by_target(predicted["held_out"][0], z["held_out"]))
            add(seed, name, "r2_test", ridge.r2_by_target(predicted["test"][0], z["test"]))
            if not controls:
                continue
            add(seed, name, "r2_shuffled", ridge.r2_by_target(predicted["held_out"][1], z["held_out"]))
            weights, intercept = ridge.fit(fresh["fit"][name], z["fit"], strength)
            add(
                seed,
                name,
                "r2_untrained",
                ridge.r2_by_target(fresh["held_out"][name] @ weights + intercept, z["held_out"]),
            )
            add(seed, name, "r2_encoding", encoding)
    return Readings("decodability", rows, "r2")


def _mean(by_factor: np.ndarray) -> float:
    """Mean over the factors whose R^2 is defined; undefined if none is."""
    defined = by_factor[~np.isnan(by_factor)]
    return float(defined.mean()) if defined.size else float("nan")


def _read(task: Task, net: Net, layers: Sequence[str], side: Side, key: jax.Array, tasks: int) -> Items:
    """Activations of layers at the first row of each task: one per task, so that rows are independent."""
    rows = draw_combinations(side, key, tasks)
    return evaluate(net, FirstRow(task), rows, key=key, trace=layers, keep=("code", "constituents"))


def _features(items: Items) -> dict[str, np.ndarray]:
    return {name: values.reshape(len(values), -1) for name, values in items.trace.items()}
