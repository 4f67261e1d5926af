"""Risks: how likely a combination fails, by a function or a table, and how much adding a combination lowers it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UserError
from ..keys import generator, key_for
from ..spaces import Space
from .costs import numbers_of

_LISTED = 50_000  # combinations of a space that are all asked about; of a larger one, so many are drawn
_WATCHED = 1_000  # combinations over which a risk that depends on what is trained is averaged
_SHORTLIST = 8


class Risks:
    """What is known about risk. False where nothing is.

    A table, or a function of rows, says how likely each combination fails as things are. What adding one lowers is then
    its own risk; and of the next ones, those that share pairs with it count half as much for each time (our choice: a
    list of the riskiest is otherwise many times the same). A function of rows and of what is trained says it itself:
    what is lowered is the sum over all combinations (or over a sample, scaled up).
    """

    def __init__(self, space: Space, risk: Any, seed: int = 0):
        self.space = space
        self.table: dict[int, float] = {}
        self.function: Any = None
        self.moves = False  # the function asks what is trained
        self.added: list[np.ndarray] = []
        self._seed = seed
        self._watched: np.ndarray | None = None
        if isinstance(risk, Mapping):
            self.table = {int(rank): float(value) for rank, value in risk.items()}
            bad = [value for value in self.table.values() if not (math.isnan(value) or 0 <= value <= 1)]
            if bad:
                raise UserError(f"a risk is {bad[0]:g}; it must be a probability from 0 to 1")
        elif callable(risk):
            self.function = risk
            needed = [p for p in _parameters(risk) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            self.moves = len([p for p in needed if p.default is p.empty]) > 1
        elif risk is not None:
            raise UserError(f"risk={risk!r} is neither a function of rows nor a table of risks")

    def __bool__(self) -> bool:
        return bool(self.table) or self.function is not None

    @property
    def shortlist(self) -> int:
        return _SHORTLIST if self.moves else 1

    def of(self, rows: np.ndarray, trained: np.ndarray) -> np.ndarray:
        """(n,) the risk of each combination; NaN where it is not known."""
        if self.function is None:
            ranks = self.space.rank(rows).tolist()
            return np.array([self.table.get(rank, math.nan) for rank in ranks], dtype=float)
        found = numbers_of("risk", self.function, rows, *([trained] if self.moves else []))
        if found.shape != (len(rows),):
            raise UserError(f"the risk function gave {found.shape} for {len(rows)} rows; one number each is needed")
        known = found[~np.isnan(found)]
        if len(known) and (known.min() < 0 or known.max() > 1):
            raise UserError(f"the risk function gave {known.min():g} to {known.max():g}; risks are from 0 to 1")
        return found

    def lowered(self, rows: np.ndarray, trained: np.ndarray, risk: np.ndarray) -> np.ndarray:
        """(n,) how much the sum of risks falls if a row is added."""
        if not self.moves:
            return risk
        watched = self._sample()
        scale = self.space.size / len(watched)
        before = np.nansum(self.of(watched, trained))
        best = np.argsort(-np.where(np.isnan(risk), -1, risk), kind="stable")[:_SHORTLIST]
        found = np.full(len(rows), math.nan)
        for i in best:  # the others keep NaN: they are not the riskiest
            after = np.nansum(self.of(watched, np.concatenate([trained, rows[i : i + 1]])))
            found[i] = (before - after) * scale
        return found

    def pool(self, trained: np.ndarray) -> np.ndarray:
        """Combinations to choose from."""
        if self.table:
            return self._riskiest[: _LISTED + len(self.added)]
        if self.space.size <= _LISTED:
            return self.space.enumerate()
        return np.unique(self.space.sample(generator(key_for("plan-risk", self._seed + len(trained))), _LISTED), axis=0)

    @cached_property
    def _riskiest(self) -> np.ndarray:
        """The combinations of the table, those of the highest risk first."""
        ranks = sorted(self.table, key=lambda rank: (-self.table[rank] if self.table[rank] >= 0 else 1.0, rank))
        return self.space.unrank(np.array(ranks, dtype=np.int64 if self.space.size < 2**62 else object))

    def discount(self, rows: np.ndarray) -> np.ndarray:
        """(n,) one, less for rows that share pairs with those that the plan has added."""
        return np.ones(len(rows)) if self.moves else shared_discount(self.space, rows, self.added)

    def add(self, row: np.ndarray) -> None:
        if self and not self.moves:
            self.added.append(row)

    def _sample(self) -> np.ndarray:
        if self._watched is None:
            if self.space.size <= _WATCHED:
                self._watched = self.space.enumerate()
            else:
                self._watched = self.space.sample(generator(key_for("plan-watched", self._seed)), _WATCHED)
        return self._watched


def shared_discount(space: Space, rows: np.ndarray, added: Sequence[np.ndarray]) -> np.ndarray:
    """(n,) one, less for rows that share pairs with those that were added: half for each time a pair was met."""
    if not added or space.width < 2:
        return np.ones(len(rows))
    n = len(space.element_names)
    met = np.zeros((n, n), np.int32)
    for row in added:
        ids = space.elements(row[None])[0]
        ids = ids[ids >= 0]
        met[np.ix_(ids, ids)] += 1
    ids = space.elements(rows).astype(np.int64)
    total, number = np.zeros(len(rows)), np.zeros(len(rows))
    for a in range(space.width):
        for b in range(a + 1, space.width):
            there = (ids[:, a] >= 0) & (ids[:, b] >= 0)
            total[there] += 0.5 ** met[ids[there, a], ids[there, b]]
            number += there
    return np.where(number > 0, total / np.maximum(number, 1), 1.0)


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
