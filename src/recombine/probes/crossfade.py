"""crossfade: is what a net draws in a gap of one factor a cross-fade of the two drawings at its ends?

With a and b the last trained levels before and after the gap, and a level a share s of the way from a to b,

    fade     (1 - s) truth(a) + s truth(b)

    to_truth   squared error of held-out drawings to the truth, by that of empty pictures
    to_fade    to the cross-fade, by the same
    apart      of the cross-fade itself to the truth: where it is small the two cannot be told apart

The public code of Liang, Qian, Ziyin, Fiete 2025 shows such a fade beside drawings of a turned digit; the readings are
ours. The controls are those of every probe of drawings: an untrained net, the truth, and the fade itself as template.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..tasks import Pictures
from ..training import Trained
from .base import Readings, probes
from .grid import AT_ONCE, predict
from .layers import untrained


@probes.register("crossfade")
def crossfade(trained: Trained, *, at_once: int = AT_ONCE, controls: bool = True) -> Readings:
    """How far held-out drawings of one factor are from the truth and from a cross-fade of the ends of their gap.

    Args:
        trained: what `train` gave, on a task of pictures with one factor.
        at_once: drawings in one pass of the net.
        controls: an untrained net, the truth and the fade itself (the template) beside the trained net.

    Example:
        >>> rc.probes.crossfade(drawn)
        Traceback (most recent call last):
            ...
        recombine.errors.UserError: bumps-v1 has the factors x, y; a cross-fade needs one, as rotation-v1 has
    """
    task, support = trained.task, trained.support
    if not isinstance(task, Pictures):
        raise UserError(f"{task.id} draws nothing; a cross-fade needs pictures of one factor, as rotation-v1 has")
    if len(task.space.columns) != 1:
        factors = ", ".join(task.space.columns)
        raise UserError(f"{task.id} has the factors {factors}; a cross-fade needs one, as rotation-v1 has")
    levels = np.sort(support.held_out.combinations().ravel())
    before, after = ends_of_gap(levels, support.train.combinations().ravel())
    share = (levels - before) / (after - before)
    truth, first, last = (ink_at(task, at) for at in (levels, before, after))
    fade = (1 - share)[:, None] * first + share[:, None] * last
    empty = float((truth**2).mean())
    codes = task.code_of(jnp.asarray(levels[:, None], jnp.float32))
    rows: list[dict[str, Any]] = []
    for member in trained.healthy:
        nets = {"": member.net} | ({"_untrained": untrained(trained, member.seed)} if controls else {})
        ink = {name: np.asarray(task.ink_of(predict(net, None, codes, at_once=at_once))) for name, net in nets.items()}  # type: ignore[arg-type]
        for name, one in (ink | ({"_truth": truth, "_template": fade} if controls else {})).items():
            values = {"to_truth": _apart(one, truth, empty), "to_fade": _apart(one, fade, empty)}
            rows += [_row(member.seed, metric + name, value) for metric, value in values.items()]
        rows.append(_row(member.seed, "apart", _apart(fade, truth, empty)))
    return Readings("crossfade", rows, "to_fade", kind="drawings")


def ends_of_gap(levels: np.ndarray, trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last trained level before each held-out one, and the first after it."""
    known = np.sort(trained)
    after = np.searchsorted(known, levels)
    if not len(known) or (after == 0).any() or (after == len(known)).any():
        raise UserError("a cross-fade needs trained levels on both sides of what is held out, as supports.gap leaves")
    return known[after - 1], known[after]


def ink_at(task: Pictures, levels: np.ndarray) -> np.ndarray:
    """The true ink of levels, (T, pixels)."""
    return np.asarray(task.ink(jnp.asarray(levels[:, None], jnp.float32)), float).reshape(len(levels), -1)


def _apart(a: np.ndarray, b: np.ndarray, empty: float) -> float:
    return float(((a - b) ** 2).mean() / empty)


def _row(seed: int, metric: str, value: float) -> dict[str, Any]:
    return {"seed": seed, "layer": "output", "factor": "mean", "metric": metric, "value": value}
