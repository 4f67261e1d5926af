"""Seen: what was trained on, ready to be asked about any combination. Written on elements, so for every kind of space.

A *tuple* is a set of elements of one combination (a pair of levels, a triple). For each place of a tuple in a
combination there is a table of how often it was trained: an array where it is small, sorted codes where it is not.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np

from ..spaces import Space, find, require_free
from ..supports.certificate import components, element_usage

_DENSE = 1 << 16  # cells of a table that is always an array
_MOST_PLACES = 2_000  # of a tuple in a combination
_WORK = {2: 200_000_000, 3: 60_000_000}  # tuples of trained combinations that are counted
_MOST_DROPS = 400  # ways to leave elements out by which a neighbor is looked for
_NEIGHBOR_WORK = 20_000_000  # elements of trained combinations that are left out in one of them
_CHUNK_CELLS = 20_000_000


def _total(numbers: np.ndarray, place: tuple[int, ...]) -> Any:
    """Sums of a few columns, modulo 2^64."""
    total: Any = np.uint64(0)
    for column in place:
        total = total + numbers[:, column]
    return np.broadcast_to(total, len(numbers))


class Table:
    """How many combinations, and how many rows, hold each tuple at one place."""

    def __init__(self, sizes: tuple[int, ...], codes: np.ndarray, weights: np.ndarray):
        self.sizes = sizes
        self.cells = math.prod(sizes)
        self.dense = self.cells <= max(_DENSE, 4 * len(codes))
        if self.dense:
            self.combinations = np.bincount(codes, minlength=self.cells)
            self.rows = np.bincount(codes, weights=weights, minlength=self.cells)
        else:
            self.codes, inverse, self.combinations = np.unique(codes, return_inverse=True, return_counts=True)
            self.rows = np.bincount(inverse, weights=weights)

    @property
    def seen(self) -> int:
        """Different tuples that were trained."""
        return int((self.combinations > 0).sum())

    def look_up(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Combinations and rows with each tuple."""
        if self.dense:
            return self.combinations[codes], self.rows[codes]
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        there = self.codes[at] == codes
        return np.where(there, self.combinations[at], 0), np.where(there, self.rows[at], 0)

    def matrix(self) -> np.ndarray:
        """Rows with each tuple, as an array of as many dimensions as the tuple has elements."""
        found = self.rows
        if not self.dense:
            found = np.zeros(self.cells)
            found[self.codes] = self.rows
        return found.reshape(self.sizes)


class Seen:
    """Training combinations of a space, each with a number of rows."""

    def __init__(self, space: Space, combinations: np.ndarray, rows: np.ndarray | None = None):
        require_free(space, "an audit")
        self.space = space
        self.combinations = np.asarray(combinations)
        self.rows = np.ones(len(self.combinations)) if rows is None else np.asarray(rows, dtype=float)
        self._ids = space.elements(self.combinations).astype(np.int64)  # (n, width), -1 where there is none
        self._tables: dict[tuple[int, ...], Table] = {}

    def __len__(self) -> int:
        return len(self.combinations)

    @cached_property
    def usage(self) -> np.ndarray:
        """Combinations with each element."""
        return element_usage(self.space, self.combinations)

    @cached_property
    def row_usage(self) -> np.ndarray:
        """Rows with each element."""
        at, column = np.nonzero(self._ids >= 0)
        ids = self._ids[at, column]
        return np.bincount(ids, weights=self.rows[at], minlength=len(self.space.element_names))

    @cached_property
    def components(self) -> list[list[int]]:
        """Components of the co-occurrence graph of the trained elements."""
        return components(self.space, self.combinations)

    @cached_property
    def component_of(self) -> np.ndarray:
        """The component of each element; -1 for one that was never trained."""
        found = np.full(len(self.space.element_names), -1)
        for number, part in enumerate(self.components):
            found[part] = number
        return found

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """The factor and the level of each element; modules of `Subsets` have no factor."""
        if self.space.columns:
            return [(name, str(level)) for name, levels in self.space.columns.items() for level in levels]
        return [("", name) for name in self.space.element_names]

    def at_once(self, strength: int) -> int:
        """How many combinations can have all their tuples looked at in one go."""
        return max(64, _CHUNK_CELLS // 5 // max(math.comb(self.space.width, strength), 1))

    def places(self, strength: int) -> list[tuple[int, ...]]:
        """Columns that hold a tuple."""
        return list(itertools.combinations(range(self.space.width), strength))

    def affordable(self, strength: int) -> bool:
        """Whether tables of this strength stay within reason."""
        places = math.comb(self.space.width, strength)
        return places <= _MOST_PLACES and places * len(self) <= _WORK[strength]

    def table(self, place: tuple[int, ...]) -> Table:
        """The table for tuples at these columns. In `Subsets` columns mean nothing, so one table serves all."""
        shared = not self.space.columns
        key = (-len(place),) if shared else place
        if key not in self._tables:
            sources = self.places(len(place)) if shared else [place]
            coded = [self.codes(self.combinations, columns) for columns in sources]
            weights = np.concatenate([self.rows[there] for there, _ in coded])
            self._tables[key] = Table(self._sizes(place), np.concatenate([codes for _, codes in coded]), weights)
        return self._tables[key]

    def codes(self, combinations: np.ndarray, place: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Which combinations have a tuple at these columns, and its code in the table."""
        if self.space.columns:
            part = np.asarray(combinations)[:, place].astype(np.int64)
        else:
            part = self.space.elements(combinations)[:, place].astype(np.int64)
        there = np.asarray((part >= 0).all(axis=1))
        strides = [math.prod(self._sizes(place)[i + 1 :]) for i in range(len(place))]
        return there, part[there] @ np.array(strides, dtype=np.int64)

    def _sizes(self, place: tuple[int, ...]) -> tuple[int, ...]:
        if self.space.columns:
            return tuple(self.space.levels[i] for i in place)
        return (len(self.space.element_names),) * len(place)

    def tuple_counts(self, combinations: np.ndarray, strength: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(n, places) arrays: training combinations and rows that hold the tuple, and whether there is one."""
        shape = (len(combinations), len(self.places(strength)))
        in_combinations, in_rows, there = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
        for column, place in enumerate(self.places(strength)):
            has, codes = self.codes(combinations, place)
            there[:, column] = has
            in_combinations[has, column], in_rows[has, column] = self.table(place).look_up(codes)
        return in_combinations, in_rows, there

    def contains(self, combinations: np.ndarray) -> np.ndarray:
        """Which combinations were trained."""
        if not len(combinations):
            return np.zeros(0, bool)
        return find(self.space, self.combinations, combinations) >= 0

    # -- neighbors ------------------------------------------------------------------------------------------------
    def distance(self, combinations: np.ndarray) -> np.ndarray:
        """Half the number of elements in which the nearest trained combination differs: in a Product, factors.

        Where looking further would take too long, the number is the least that it can be.
        """
        if not self.space.columns:
            return self._brute_distance(combinations)
        width = self.space.width
        found = np.full(len(combinations), width, dtype=float)
        # a random number for each element; what a combination and a trained one share has the same sum in both
        numbers = np.random.default_rng(0).integers(0, 2**64, len(self.space.element_names), dtype=np.uint64)
        trained, asked = numbers[self._ids], numbers[self.space.elements(np.asarray(combinations)).astype(np.int64)]
        trained_sum, asked_sum = trained.sum(1, dtype=np.uint64), asked.sum(1, dtype=np.uint64)
        left = np.arange(len(combinations))
        for differs in range(width):
            if not len(left):
                break
            if math.comb(width, differs) > _MOST_DROPS or differs * len(self) > _NEIGHBOR_WORK:
                found[left] = differs
                break
            for place in self.places(differs):
                rest = np.sort(trained_sum - _total(trained, place))
                sums = asked_sum[left] - _total(asked, place)[left]
                near = rest[np.minimum(np.searchsorted(rest, sums), len(rest) - 1)] == sums
                found[left[near]] = differs
                left = left[~near]
                if not len(left):
                    break
        return found

    def _brute_distance(self, combinations: np.ndarray) -> np.ndarray:
        trained = self.space.multihot(self.combinations).astype(np.float32)
        found = []
        step = max(1, _CHUNK_CELLS // max(len(self), 1))
        for start in range(0, len(combinations), step):
            hot = self.space.multihot(combinations[start : start + step]).astype(np.float32)
            differs = hot.sum(1)[:, None] + trained.sum(1) - 2 * hot @ trained.T
            found.append(differs.min(1) / 2)
        return np.concatenate(found) if found else np.zeros(0)

    def nearest(self, combination: Any, among: int = 200_000) -> np.ndarray:
        """The trained combination that shares most elements; of several, the one with most rows."""
        pool = self._most_rows(among)
        same = (self.combinations[pool] == np.asarray(combination)).sum(1)
        return self.combinations[pool[int(np.argmax(same))]]

    def _most_rows(self, n: int) -> np.ndarray:
        if not hasattr(self, "_pool"):
            self._pool = np.argsort(-self.rows, kind="stable")
        return self._pool[:n]
