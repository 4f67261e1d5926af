"""decodability: can a task's constituents be read off a layer by a linear map, on combinations never trained?

Ridge (strength 1) from the activations of one layer, at one row of each task, to the constituents; fitted on tasks of
training combinations, scored on others of them ("r2_test") and on held-out ones ("r2", the one that counts). The
published probe (Redhardt, Akram, Schug 2025) reads the last row, which a transformer comes to after all the others;
so does this one with row="last". It stops its solver after ten iterations and penalizes the intercept; this is exact.

Three controls come along, since a wide layer decodes much by chance:
    shuffled   the same net, fitted to constituents of other tasks: what fitting noise gives
    untrained  a net with the same blueprint before training: what the architecture gives
    encoding   the code that the net is given, without a net: what was never hidden
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..errors import UserError, unknown
from ..keys import key_for
from ..machine.processes import one_blas_thread
from ..nets import Net, Trace, Wrapper
from ..statistics import ridge
from ..supports import Side
from ..tasks import Batch, FirstRow, LastRow, Task, Unscored
from ..training import Items, Trained, draw_combinations, evaluate
from .base import Readings, probes
from .layers import untrained

FIT_TASKS = 2048
SCORE_TASKS = 1024
ROWS = ("first", "last")


@probes.register("decodability")
@one_blas_thread()
def decodability(
    trained: Trained,
    *,
    layer: int | str | Sequence[int | str] = 2,
    activation: str = "pre",
    strength: float = 1.0,
    fit_tasks: int = FIT_TASKS,
    score_tasks: int = SCORE_TASKS,
    held_out: str = "held_out",
    row: str = "first",
    controls: bool = True,
) -> Readings:
    """Linear decoding (probing) of the constituents from a layer, on held-out combinations, with three controls.

    Args:
        trained: what `train` gave.
        layer: a number (1 is the first hidden layer), a name of the trace such as "output", or several of these.
        activation: "pre" or "post" the nonlinearity, for a layer given by number.
        strength: of the ridge.
        fit_tasks: tasks of training combinations that it is fitted on.
        score_tasks: tasks that it is scored on, of each side.
        held_out: what the probe is scored on: "held_out" or a group of it such as "held_out/cross-block".
        row: which row of each task is read: the "first", which no other precedes, or the "last", as published.
        controls: shuffled labels, an untrained net and the code, beside the trained net.

    Example:
        >>> found = rc.probes.decodability(trained, layer=1, fit_tasks=64, score_tasks=32)
        >>> sorted({row["metric"] for row in found.rows})
        ['r2', 'r2_encoding', 'r2_shuffled', 'r2_test', 'r2_untrained']
    """
    names = _layer_names(trained, layer, activation)
    if row not in ROWS:
        raise unknown("row of a task", row, ROWS)
    if not strength >= 0:
        raise UserError(f"strength={strength} must be at least 0")
    rows: list[dict[str, Any]] = []
    task, support = trained.task, trained.support
    for member in trained.healthy:
        seed = member.seed
        streams = {
            "fit": (support.train, key_for("probe_fit", seed), fit_tasks),
            "test": (support.train, key_for("probe_score", seed), score_tasks),
            "held_out": (support.side(held_out), key_for(f"probe_score/{held_out}", seed), score_tasks),
        }
        found = {stream: _read(trained, member.net, row, names, *where) for stream, where in streams.items()}
        shuffled = np.random.default_rng(seed).permutation(found["fit"].kept["constituents"])
        by_layer = {name: _decoded(found, name, shuffled, strength) for name in names}
        if controls:
            new = untrained(trained, seed)
            fresh = {stream: _read(trained, new, row, names, *streams[stream]) for stream in ("fit", "held_out")}
            encoding = _linear(found, lambda items: items.kept["code"].astype(float), strength)
            for name in names:
                of_fresh = _linear(fresh, lambda items, name=name: _features(items, name), strength)
                by_layer[name] |= {"r2_untrained": of_fresh, "r2_encoding": encoding}
        for name, metrics in by_layer.items():
            for metric, by_factor in metrics.items():
                if metric != "r2_shuffled" or controls:
                    rows += _as_rows(task, by_factor, seed=seed, layer=name, metric=metric)
    return Readings("decodability", rows, "r2")


def _layer_names(trained: Trained, layer: int | str | Sequence[int | str], activation: str) -> list[str]:
    chosen = [layer] if isinstance(layer, (int, str)) else list(layer)
    names = [f"layer{one}/{activation}" if isinstance(one, int) else one for one in chosen]
    known = trained.blueprint.layers()
    for name in names:
        if name not in known:
            raise unknown("layer", name, known)
    if not names:
        raise UserError(f"layer={layer!r} names no layer; choose from {', '.join(known)}")
    return names


def _decoded(found: dict[str, Items], name: str, shuffled: np.ndarray, strength: float) -> dict[str, np.ndarray]:
    """R^2 by constituent of a layer; one Gram matrix serves the true targets and the shuffled ones."""
    z = {stream: items.kept["constituents"] for stream, items in found.items()}
    weights, intercept = ridge.fit(_features(found["fit"], name), np.hstack([z["fit"], shuffled]), strength)
    predicted = {s: np.hsplit(_features(found[s], name) @ weights + intercept, 2) for s in ("test", "held_out")}
    return {
        "r2": ridge.r2_by_target(predicted["held_out"][0], z["held_out"]),
        "r2_test": ridge.r2_by_target(predicted["test"][0], z["test"]),
        "r2_shuffled": ridge.r2_by_target(predicted["held_out"][1], z["held_out"]),
    }


def _linear(found: dict[str, Items], features: Callable[[Items], np.ndarray], strength: float) -> np.ndarray:
    """R^2 by constituent, on held-out combinations, of other features of the same items."""
    z = {stream: found[stream].kept["constituents"] for stream in ("fit", "held_out")}
    weights, intercept = ridge.fit(features(found["fit"]), z["fit"], strength)
    return ridge.r2_by_target(features(found["held_out"]) @ weights + intercept, z["held_out"])


def _as_rows(task: Task, by_factor: np.ndarray, **where: Any) -> list[dict[str, Any]]:
    named = (*zip(task.constituent_names, by_factor, strict=True), ("mean", _mean(by_factor)))
    return [{**where, "factor": factor, "value": float(value)} for factor, value in named]


def _mean(by_factor: np.ndarray) -> float:
    """Mean over the factors whose R^2 is defined; undefined if none is."""
    defined = by_factor[~np.isnan(by_factor)]
    return float(defined.mean()) if defined.size else float("nan")


class AtLastRow(Wrapper):
    """A net that sees all rows of a task, and of whose layers only the last row is kept."""

    def answer(self, batch: Batch, key: jax.Array | None = None, how: Any = None) -> tuple[Any, Trace]:
        answer, trace = super().answer(batch, key, how)
        return answer, {name: value[(slice(None), *[-1] * (value.ndim - 2))] for name, value in trace.items()}


def _read(trained: Trained, net: Net, row: str, layers: Sequence[str], side: Side, key: jax.Array, tasks: int) -> Items:
    """Activations of layers at one row of each task: one per task, so that rows are independent."""
    rows = draw_combinations(side, key, tasks)
    if row == "first":
        task: Task = FirstRow(trained.task)
    elif trained.blueprint.rows_apart:  # what is before the last row is of no concern
        task = LastRow(trained.task)
    else:
        task, net = Unscored(trained.task), AtLastRow(net)
    return evaluate(net, task, rows, key=key, trace=layers, keep=("code", "constituents"))


def _features(items: Items, name: str) -> np.ndarray:
    return items.trace[name].reshape(len(items.trace[name]), -1)
