"""Answers with planted errors, for controls: what is read of them is known before, and no net has a part in it.

scattered       each step is wrong by itself with a chance of .2, whatever it is computed from
all or nothing  half of the answers are right, and every step of the others is wrong
cliff           the first half of the steps is right, and none after that
larger wrong    all is right at trained sizes, and every step is wrong at larger ones
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import unknown
from ...keys import generator, key_for
from ...tasks import Sequences, Stepwise

KINDS = ("scattered", "all or nothing", "cliff", "larger wrong")
CHANCE = 0.2


def planted(
    task: Sequences, kind: str, ranks: np.ndarray, sizes: np.ndarray, trained: Sequence[str], seed: int
) -> np.ndarray:
    """(n, words) the right answers with errors of a kind.

    Args:
        task: a world that shows steps.
        kind: one of `KINDS`.
        ranks: (n,) of the texts.
        sizes: (n,) their sizes.
        trained: sizes that were.
        seed: of where the errors are.
    """
    if kind not in KINDS:
        raise unknown("kind of answers", kind, ("of the net", *KINDS))
    assert isinstance(task, Stepwise)
    rng = generator(key_for("planted answers", seed))
    right = np.asarray(task.meanings)[ranks].astype(np.int32)
    low, high = task.numbers
    number = (right >= 1) & (right <= high - low + 1)
    order = number.cumsum(1)  # from 1, of each number of an answer
    where = {
        "scattered": rng.random(right.shape) < CHANCE,
        "all or nothing": np.repeat(rng.random((len(right), 1)) < 0.5, right.shape[1], 1),
        "cliff": order > order[:, -1:] / 2,
        "larger wrong": np.repeat(~np.isin(sizes, trained)[:, None], right.shape[1], 1),
    }[kind]
    other = (right - 1 + rng.integers(1, high - low + 1, right.shape)) % (high - low + 1) + 1
    return np.where(where & number, other, right)
