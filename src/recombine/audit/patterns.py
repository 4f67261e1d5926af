"""Patterns: all levels, pairs and triples that combinations with answers hold, as one sparse matrix.

A sum over the combinations that hold a pattern, for all patterns at once, is a product with that matrix: it costs what
was answered, whatever the space holds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .findings import RULES

_MOST_CELLS = 12_000_000  # patterns of all answered combinations together
_FITS = 2**62


@dataclass(frozen=True)
class Answered:
    """Combinations with answers, one entry each.

    Args:
        codes: (A, factors) levels.
        sizes: levels of each factor.
        answers: (A,) how many.
        wrong: (A,) how many of them are wrong; with scores from 0 to 1, what they lack together.
        seen: (A,) whether it was trained.
        rules: (A, len(RULES)) which rules of coverage are about it.
    """

    codes: np.ndarray
    sizes: tuple[int, ...]
    answers: np.ndarray
    wrong: np.ndarray
    seen: np.ndarray
    rules: np.ndarray

    def __len__(self) -> int:
        return len(self.answers)

    def at(self, chosen: np.ndarray) -> Answered:
        """Some of them."""
        codes, answers, wrong = self.codes[chosen], self.answers[chosen], self.wrong[chosen]
        return Answered(codes, self.sizes, answers, wrong, self.seen[chosen], self.rules[chosen])


def codes_of(codes: np.ndarray, sizes: tuple[int, ...], place: tuple[int, ...]) -> np.ndarray:
    """One number for the levels at some columns."""
    found = np.zeros(len(codes), np.int64)
    for column in place:
        found = found * sizes[column] + codes[:, column]
    return found


@dataclass
class Patterns:
    """The patterns of answered combinations, and which of these hold each."""

    answered: Answered
    place: list[tuple[int, ...]]  # columns, by number of the place; () is that of rules
    place_of: np.ndarray  # (P,) number of the place of each pattern
    code_of: np.ndarray  # (P,) its code there
    matrix: Any  # (P, A) sparse, ones
    left_out: tuple[int, ...] = ()  # strengths that were too many to look at
    _start: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of each place among the patterns

    @property
    def family(self) -> np.ndarray:
        """(P,) 0 for a rule, else how many levels it has."""
        return np.array([len(place) for place in self.place])[self.place_of]

    def levels(self, number: int) -> tuple[tuple[int, int], ...]:
        """(factor, level) of a pattern; empty for a rule."""
        place, code = self.place[self.place_of[number]], int(self.code_of[number])
        found = []
        for column in reversed(place):
            code, level = divmod(code, self.answered.sizes[column])
            found.append((column, level))
        return tuple(reversed(found))

    def rule(self, number: int) -> str:
        """The rule that a pattern is; "" for levels."""
        return "" if self.place[self.place_of[number]] else list(RULES)[int(self.code_of[number])]

    def find(self, levels: tuple[tuple[int, int], ...]) -> int:
        """The number of the pattern with these levels; -1 where too few answered combinations hold it."""
        place = tuple(column for column, _ in levels)
        if place not in self.place:
            return -1
        code = 0
        for column, level in levels:
            code = code * self.answered.sizes[column] + level
        at = self.place.index(place)
        first, last = self._start[at], self._start[at + 1]
        found = first + int(np.searchsorted(self.code_of[first:last], code))
        return found if found < last and self.code_of[found] == code else -1

    def column(self, number: int) -> np.ndarray:
        """(A,) whether each combination holds it."""
        found = np.zeros(len(self.answered))
        found[self.matrix.indices[self.matrix.indptr[number] : self.matrix.indptr[number + 1]]] = 1.0
        return found

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of columns of values over the combinations that hold each pattern."""
        return self.matrix @ values

    def above(self, number: int) -> np.ndarray:
        """Patterns with one level more."""
        own = set(self.levels(number))
        if not own or len(own) > 2:
            return np.zeros(0, np.int64)
        held = np.flatnonzero(self.column(number))
        inside = np.zeros(len(self.answered))
        inside[held] = 1.0
        near = np.flatnonzero((self.matrix @ inside > 0) & (self.family == len(own) + 1))
        return np.array([other for other in near.tolist() if own < set(self.levels(other))], np.int64)

    def below(self, number: int) -> list[int]:
        """Patterns that lack one or more of its levels."""
        own = self.levels(number)
        parts = [part for size in range(1, len(own)) for part in itertools.combinations(own, size)]
        return [found for part in parts if (found := self.find(part)) >= 0]


def patterns_of(answered: Answered, least: int = 2) -> Patterns:
    """All patterns that at least so many answered combinations hold; rules first, then levels, pairs and triples."""
    from scipy.sparse import csr_array

    n, width = answered.codes.shape
    places: list[tuple[int, ...]] = [()]
    left_out = []
    for strength in (1, 2, 3):
        own = list(itertools.combinations(range(width), strength))
        if (len(places) + len(own)) * n > _MOST_CELLS and strength > 1:
            left_out.append(strength)
            continue
        places += own
    place_of, code_of, rows, held, start = [], [], [], [], [0]
    total = 0

    def add(place: int, codes: np.ndarray, ids: np.ndarray, at: np.ndarray) -> None:
        nonlocal total
        count = np.bincount(ids, minlength=len(codes))
        kept = np.flatnonzero(count >= least)
        new = np.full(len(codes), -1)
        new[kept] = total + np.arange(len(kept))
        inside = new[ids] >= 0
        rows.append(new[ids][inside])
        held.append(at[inside])
        place_of.append(np.full(len(kept), place))
        code_of.append(codes[kept])
        total += len(kept)
        start.append(total)

    at, rule = np.nonzero(answered.rules)
    whole = np.asarray(answered.rules.all(axis=0))  # a rule about all of them tells nothing apart
    partial = ~whole[rule]
    add(0, np.arange(answered.rules.shape[1]), rule[partial], at[partial])
    everything = np.arange(n)
    for number, place in enumerate(places[1:], 1):
        codes = codes_of(answered.codes, answered.sizes, place)
        cells = math.prod(answered.sizes[column] for column in place)
        if cells <= max(1 << 14, 4 * n):
            names, ids = np.arange(cells), codes
        else:
            names, ids = np.unique(codes, return_inverse=True)
        add(number, names, ids, everything)
    chosen, where = np.concatenate(rows), np.concatenate(held)
    matrix = csr_array((np.ones(len(chosen)), (chosen, where)), shape=(total, n))
    return Patterns(
        answered,
        places,
        np.concatenate(place_of),
        np.concatenate(code_of),
        matrix,
        tuple(left_out),
        np.array(start),
    )
