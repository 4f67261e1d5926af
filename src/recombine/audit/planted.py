"""Planted models: made up, so that it is known which combinations they fail on, and why.

What an audit says about them can be checked. All are ours.

    composer     right everywhere
    memorizer    right on trained combinations only
    binder       right where every pair of elements was trained together
    connected    right where all elements lie in one component of what was trained
    noisy        a binder whose every answer is turned around with a small probability
    unrelated    fails on combinations drawn by lot, trained or not
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import UserError, require_int, unknown
from ..registry import Registry
from ..spaces import Space
from .seen import Seen

planted: Registry[Callable[..., np.ndarray]] = Registry("planted model")
NOISE = 0.1  # share of answers of the noisy one that are turned around
LOT = 0.3  # share of combinations that the unrelated one fails on


@dataclass(frozen=True)
class Planted:
    """A model whose truth is known, for a space and training combinations."""

    name: str
    seen: Seen
    seed: int

    def right(self, rows: np.ndarray) -> np.ndarray:
        """Whether the model is right on each combination: always the same answer for the same combination."""
        return planted[self.name](self.seen, self.seen.space.check(rows), self.seed)

    @property
    def follows_coverage(self) -> bool:
        """Whether its failures follow from what was trained, at least mostly."""
        return self.name in FOLLOW_COVERAGE


FOLLOW_COVERAGE = ("memorizer", "binder", "connected", "noisy")


def plant(name: str, space: Space, trained: np.ndarray, seed: int = 0) -> Planted:
    """The model called `name` after training on these combinations."""
    if name not in planted:
        raise unknown("planted model", name, planted)
    require_int("seed", seed, at_least=0)
    trained = space.check(trained)
    if not len(trained):
        raise UserError("a planted model needs at least one training combination")
    return Planted(name, Seen(space, np.unique(trained, axis=0)), seed)


@planted.register("composer")
def composer(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """Right everywhere."""
    return np.ones(len(rows), bool)


@planted.register("memorizer")
def memorizer(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """Right on trained combinations only."""
    return seen.contains(rows)


@planted.register("binder")
def binder(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """Right where every pair of elements was trained together."""
    counts, _, there = seen.tuple_counts(rows, 2)
    known = seen.usage[np.maximum(seen.space.elements(rows), 0)] > 0
    return ((counts > 0) | ~there).all(1) & (known | (seen.space.elements(rows) < 0)).all(1)


@planted.register("connected")
def connected(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """Right where all elements lie in one component of what was trained."""
    ids = seen.space.elements(rows)
    parts = np.append(seen.component_of, -2)[ids]  # -1 among ids reads the last: there is no element
    first = parts[:, :1]  # the first is never padding
    return ((parts == first) | (ids < 0)).all(1) & (first[:, 0] >= 0)


@planted.register("noisy")
def noisy(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """A binder whose answers are turned around with a small probability."""
    return binder(seen, rows, seed) ^ (_lots(seen.space, rows, seed) < NOISE)


@planted.register("unrelated")
def unrelated(seen: Seen, rows: np.ndarray, seed: int) -> np.ndarray:
    """Fails on combinations drawn by lot, whatever was trained."""
    return _lots(seen.space, rows, seed) >= LOT


def _lots(space: Space, rows: np.ndarray, seed: int) -> np.ndarray:
    """(n,) a number from 0 to 1 for each combination, by a hash of its elements and the seed."""
    ids = np.asarray(space.elements(rows)).astype(np.int64).astype(np.uint64)
    state = np.full(len(ids), (0x9E3779B97F4A7C15 * (2 * seed + 1)) % 2**64, np.uint64)
    for column in range(ids.shape[1]):  # splitmix64, a column at a time
        state += ids[:, column] + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(float) / 2**53
