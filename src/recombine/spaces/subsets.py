"""Sets of modules: all of 1 to so many active ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..keys import generator
from .base import FITS_INT64, MOST_ELEMENTS, Space, are_rows, as_ranks, kinds

_CHUNK = 1 << 16  # rows handled at once where a scratch array per row is needed
_MANY = 8  # this share of all combinations, and more, is read off a list of them


@kinds.register("subsets")
class Subsets(Space):
    """All sets of 1 to `at_most` active modules out of `modules`; size sum_k C(modules, k).

    Order: by number of active modules, then lexicographic, as itertools.combinations lists them.

    Args:
        modules: how many modules there are.
        at_most: how many of them can be active at once.

    Example:
        >>> sets = rc.Subsets(modules=16, at_most=3)
        >>> sets.size, sets.describe(sets.unrank([695])[0])
        (696, '{m13, m14, m15}')
    """

    free = True

    def __init__(self, modules: int, at_most: int):
        self.modules = require_int("modules", modules, at_least=1, at_most=MOST_ELEMENTS)
        self.at_most = require_int("at_most", at_most, at_least=1)
        if self.at_most > self.modules:
            raise UserError(
                f"at_most={self.at_most} exceeds modules={self.modules}; at_most={self.modules} is the largest possible"
            )
        self.width = self.at_most
        self.sizes = range(1, self.at_most + 1)
        self.element_names = tuple(f"m{i}" for i in range(self.modules))
        self.classes = (tuple(range(self.modules)),)
        counts = [math.comb(self.modules, k) for k in range(1, self.at_most + 1)]
        # first rank of each number of active modules, and the end
        self._starts = [0]
        for count in counts:
            self._starts.append(self._starts[-1] + count)
        self.size = self._starts[-1]

    def __repr__(self) -> str:
        return f"Subsets(modules={self.modules}, at_most={self.at_most})"

    def to_json(self) -> dict:
        return {"kind": "subsets", "modules": self.modules, "at_most": self.at_most}

    @classmethod
    def from_json(cls, spec: dict) -> Subsets:
        return cls(modules=spec["modules"], at_most=spec["at_most"])

    @property
    def dimensions(self) -> dict[str, int]:
        return {"modules": self.modules, "at_most": self.at_most}

    @property
    def _int(self) -> Any:
        return np.int64 if self.size < FITS_INT64 else object

    @cached_property
    def _binomials(self) -> np.ndarray:
        """C(n, k) for n = 0..modules, k = 0..at_most. The largest entry is at most `size`."""
        table = [[math.comb(n, k) for k in range(self.at_most + 1)] for n in range(self.modules + 1)]
        return np.array(table, dtype=self._int)

    def rank(self, rows: Any) -> np.ndarray:
        rows = self.check(rows)
        columns = np.ascontiguousarray(rows.T).astype(np.int64)  # (width, n)
        active = np.zeros(len(rows), dtype=np.int64)
        for column in columns:
            active += column >= 0
        # Lexicographic rank of c_1 < ... < c_k is C(M,k) - 1 - sum_i C(M-1-c_i, k-i+1). Padding (c = -1) is looked up
        # as C(M, 0) = 1, and there is as much of it as k falls short of the width.
        counts = [0, *(math.comb(self.modules, k) for k in range(1, self.at_most + 1))]
        last = [0, *(start + count - 1 for start, count in zip(self._starts, counts[1:], strict=False))]
        ranks = np.array(last, dtype=self._int)[active] + (self.width - active)
        for i, column in enumerate(columns):
            places = (self.modules - 1 - column) * (self.at_most + 1) + np.maximum(active - i, 0)
            ranks -= self._binomials.ravel()[places]
        return ranks

    def unrank(self, ranks: Any) -> np.ndarray:
        ranks = as_ranks(ranks, self)
        if len(ranks) * _MANY > self.size > _CHUNK:
            return self._all_rows()[ranks]
        rows = np.full((len(ranks), self.width), -1, dtype=self.dtype)
        starts = np.array(self._starts, dtype=self._int)
        sizes = np.searchsorted(starts, ranks, side="right")  # number of active modules
        for k in range(1, self.at_most + 1):
            at = np.flatnonzero(sizes == k)
            if not len(at):
                continue
            rest = math.comb(self.modules, k) - 1 - (ranks[at] - self._starts[k - 1])
            for i in range(k):
                # the largest n with C(n, k-i) <= rest is the mirrored module
                column = self._binomials[:, k - i]
                n = np.searchsorted(column, rest, side="right") - 1
                rows[at, i] = self.modules - 1 - n
                rest = rest - column[n]
        return rows

    def _all_rows(self) -> np.ndarray:
        """All combinations in order: of each number of modules, what goes on from the first one, the first two, ...

        Several times as fast as `unrank` of every rank, which looks each module up.
        """
        rows = np.full((self.size, self.width), -1, dtype=self.dtype)
        for k in self.sizes:
            part, last = rows[self._starts[k - 1] : self._starts[k]], np.array([-1])
            earlier = []  # how often each prefix goes on, place by place
            for place in range(k):
                following = self.modules - k + place - last  # modules that leave room for the places to come
                ends = np.cumsum(following)
                last = np.arange(ends[-1]) - np.repeat(ends - following - last - 1, following)
                earlier.append((last, following))
            often: Any = 1
            for place in reversed(range(k)):
                column, following = earlier[place]
                part[:, place] = np.repeat(column.astype(self.dtype), often)
                often = np.add.reduceat(np.broadcast_to(often, len(column)), np.cumsum(following) - following)
        return rows

    def elements(self, rows: Any) -> Any:
        return rows

    def contains(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        if not are_rows(rows, self.width):
            return np.zeros(len(rows), dtype=bool)
        columns = np.ascontiguousarray(rows.T)
        good = (columns[0] >= 0) & (columns[0] < self.modules)
        for before, column in zip(columns, columns[1:], strict=False):
            # strictly rising while active, and no active entry after padding
            good &= (column == -1) | ((before >= 0) & (column > before) & (column < self.modules))
        return good

    def from_sets(self, sets: Sequence[Collection[int]]) -> np.ndarray:
        """Rows from sets of module numbers, e.g. `[{0, 3}, {2}]`."""
        rows = np.full((len(sets), self.width), -1, dtype=np.int64)
        for row, chosen in zip(rows, sets, strict=True):
            chosen = sorted(set(chosen))
            if len(chosen) > self.width:
                raise UserError(f"{chosen} has {len(chosen)} modules, more than at_most={self.at_most}")
            row[: len(chosen)] = chosen
        return self.check(rows).astype(self.dtype)

    def sample(self, key: Any, n: int) -> np.ndarray:
        rng = generator(key)
        rows = np.full((n, self.width), -1, dtype=self.dtype)
        chunk = max(1, _CHUNK * 64 // self.modules)
        for start in range(0, n, chunk):
            part = rows[start : start + chunk]
            # the number of active modules, by exact weights; then that many modules without replacement
            sizes = np.searchsorted(self._starts[1:], _uniform_ints(rng, self.size, len(part)), side="right") + 1
            chosen = _distinct(rng, len(part), self.at_most, self.modules)
            chosen = np.where(
                np.arange(self.at_most) < np.asarray(sizes, dtype=np.int64)[:, None], chosen, self.modules
            )
            chosen.sort(axis=1)
            part[:] = np.where(chosen < self.modules, chosen, -1)
        return rows

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        size_key, module_key = jax.random.split(key)
        weights = jnp.asarray([math.log(b - a) for a, b in zip(self._starts, self._starts[1:], strict=False)])
        sizes = jax.random.categorical(size_key, weights, shape=(n,)) + 1
        # the at_most smallest of `modules` random numbers, in random order
        _, chosen = jax.lax.top_k(jax.random.uniform(module_key, (n, self.modules)), self.at_most)
        chosen = jnp.where(jnp.arange(self.at_most) < sizes[:, None], chosen, self.modules)
        chosen = jnp.sort(chosen, axis=1)
        return jnp.where(chosen < self.modules, chosen, -1).astype(self.dtype)

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        # one element is out of order, or the padding after it: one pass to either side brings it to its place
        columns = list(
            np.where(rows == old, new, np.where(rows < 0, self.modules, rows)).T.astype(self.dtype, order="C")
        )
        for i in (*range(self.width - 1), *reversed(range(self.width - 1))):
            columns[i], columns[i + 1] = (
                np.minimum(columns[i], columns[i + 1]),
                np.maximum(columns[i], columns[i + 1]),
            )
        swapped = np.stack(columns, axis=1)
        return np.where(swapped < self.modules, swapped, -1).astype(self.dtype)

    def possible_tuples(self, strength: int) -> int:
        return math.comb(self.modules, strength) if strength <= self.at_most else 0


def _distinct(rng: np.random.Generator, rows: int, k: int, below: int) -> np.ndarray:
    """k different numbers below `below` per row, in random order."""
    if k * k < below:  # few of many: draw again the rows in which a number repeats, which is less than half of them
        drawn = rng.integers(0, below, (rows, k))
        while len(again := np.flatnonzero((np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(1))):
            drawn[again] = rng.integers(0, below, (len(again), k))
        return drawn
    order = np.argpartition(rng.random((rows, below)), k - 1, axis=1)[:, :k]
    return rng.permuted(order, axis=1)  # the partition leaves them in no random order


def _uniform_ints(rng: np.random.Generator, below: int, n: int) -> Any:
    """Exact uniform integers in [0, below), of any size."""
    if below < FITS_INT64:
        return rng.integers(0, below, size=n)
    bits = below.bit_length()
    drawn: list[int] = []
    size = (bits + 7) // 8
    while len(drawn) < n:  # rejection keeps it exact; at least half of the draws are kept
        raw = rng.bytes(size * 2 * (n - len(drawn)))
        values = (int.from_bytes(raw[i : i + size], "little") >> (-bits % 8) for i in range(0, len(raw), size))
        drawn += [value for value in values if value < below]
    return np.array(drawn[:n], dtype=object)
