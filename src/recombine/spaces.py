"""Spaces: what can be combined. Count, rank and sample; never enumerate what can be counted.

A *combination* is a row of small integers. In `Subsets` it lists the active modules in rising order, padded with
-1; in `Product` it gives one level a factor. Both are views of one idea, the *elements* (modules, or factor-level
pairs): `elements(rows)` says which elements a combination is made of, and everything that needs no more than that
(co-occurrence, usage, coverage) is written once.

Ranks are exact. They are int64 arrays while the size fits and arrays of Python ints beyond.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .errors import UserError, require_int, unknown
from .keys import generator

ENUMERATION_LIMIT = 10_000_000
LISTED_UP_TO = 5_000_000  # larger spaces are split by a rule and never listed as a whole
_FITS_INT64 = 2**62
_CHUNK = 1 << 16  # rows handled at once where a scratch array per row is needed


class Space:
    """A finite set of combinations. Use `Subsets` or `Product`."""

    size: int  # exact
    width: int  # columns of a combination
    element_names: tuple[str, ...]
    #: elements that can stand in for each other: modules are one class, each factor's levels are another
    classes: tuple[tuple[int, ...], ...]

    # -- what a space must define ---------------------------------------------------------------------------
    def rank(self, rows: Any) -> np.ndarray:
        """Position of each combination in the order of `enumerate`."""
        raise TypeError("use Subsets or Product")

    def unrank(self, ranks: Any) -> np.ndarray:
        """The combinations at these positions."""
        raise TypeError("use Subsets or Product")

    def elements(self, rows: Any) -> Any:
        """Element ids of each combination, -1 where there is none. numpy in, numpy out; jax in, jax out."""
        raise TypeError("use Subsets or Product")

    def contains(self, rows: Any) -> np.ndarray:
        """Whether each row is a combination of this space."""
        raise TypeError("use Subsets or Product")

    def sample(self, key: Any, n: int) -> np.ndarray:
        """`n` combinations, uniform and with replacement, made on the host."""
        raise TypeError("use Subsets or Product")

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        """`n` combinations, uniform and with replacement, made on the device (inside a compiled step)."""
        raise TypeError("use Subsets or Product")

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        """The same combinations with element `old` exchanged for `new` (of the same class)."""
        raise TypeError("use Subsets or Product")

    def to_json(self) -> dict:
        """What makes this space, as data."""
        raise TypeError("use Subsets or Product")

    def possible_tuples(self, strength: int) -> int:
        """How many sets of `strength` elements some combination contains."""
        raise TypeError("use Subsets or Product")

    # -- what follows from it ---------------------------------------------------------------------------------
    @property
    def dtype(self) -> type:
        """The smallest integer type that holds an element id."""
        return np.int16 if len(self.element_names) < 2**15 else np.int32

    def enumerate(self, limit: int = ENUMERATION_LIMIT) -> np.ndarray:
        """All combinations in order of rank; refused, saying the size, above `limit`."""
        if self.size > limit:
            raise UserError(
                f"{self} has {self.size:,} combinations, more than the limit of {limit:,} for listing them; "
                "use sample() or unrank(), or pass a higher limit"
            )
        return self.unrank(np.arange(self.size, dtype=np.int64))

    def check(self, rows: Any) -> np.ndarray:
        """`rows` as an array of combinations, or an error that names the first row that is none."""
        wanted = f"combinations of {self} are integer rows of {self.width} columns"
        try:
            rows = np.asarray(rows)
        except ValueError:
            raise UserError(f"{wanted}, got rows of unlike length") from None
        if not _are_rows(rows, self.width):
            raise UserError(f"{wanted}, got {rows.dtype} of {rows.shape}")
        inside = self.contains(rows)
        if not inside.all():
            raise UserError(f"{rows[~inside][0].tolist()} is not a combination of {self}")
        return rows

    def multihot(self, rows: Any) -> Any:
        """(n, elements) array of zeros and ones. numpy in, numpy out; jax in, jax out."""
        xp = jnp if isinstance(rows, jax.Array) else np
        ids = self.elements(rows)
        # (n, width, 1) == (elements,) -> any over width; -1 matches nothing
        return (ids[..., None] == xp.arange(len(self.element_names))).any(-2)

    def element_id(self, element: Any) -> int:
        """The id of an element given by id, by name ("m3", "color=red") or, in a Product, as (factor, level)."""
        if isinstance(element, tuple) and len(element) == 2:
            element = f"{element[0]}={element[1]}"
        if isinstance(element, str):
            if element not in self.element_names:
                raise unknown("element", element, self.element_names)
            return self.element_names.index(element)
        return require_int("element", element, at_least=0, at_most=len(self.element_names) - 1)

    def describe(self, row: Any) -> str:
        """A combination in words."""
        ids = self.elements(np.asarray(row)[None])[0]
        return "{" + ", ".join(self.element_names[i] for i in ids if i >= 0) + "}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(repr(self.to_json()))


class Subsets(Space):
    """All sets of 1 to `at_most` active modules out of `modules`; size sum_k C(modules, k).

    Order: by number of active modules, then lexicographic, as itertools.combinations lists them.
    """

    def __init__(self, modules: int, at_most: int):
        self.modules = require_int("modules", modules, at_least=1)
        self.at_most = require_int("at_most", at_most, at_least=1)
        if self.at_most > self.modules:
            raise UserError(
                f"at_most={self.at_most} exceeds modules={self.modules}; at_most={self.modules} is the largest possible"
            )
        self.width = self.at_most
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

    @property
    def _int(self) -> Any:
        return np.int64 if self.size < _FITS_INT64 else object

    @cached_property
    def _binomials(self) -> np.ndarray:
        """C(n, k) for n = 0..modules, k = 0..at_most. The largest entry is at most `size`."""
        table = [[math.comb(n, k) for k in range(self.at_most + 1)] for n in range(self.modules + 1)]
        return np.array(table, dtype=self._int)

    def rank(self, rows: Any) -> np.ndarray:
        rows = self.check(rows)
        active = (rows >= 0).sum(1)
        ranks = np.zeros(len(rows), dtype=self._int)
        for k in range(1, self.at_most + 1):
            at = np.flatnonzero(active == k)
            if not len(at):
                continue
            # Lexicographic rank of c_1 < ... < c_k is C(M,k) - 1 - sum_i C(M-1-c_i, k-i+1).
            r = np.full(len(at), math.comb(self.modules, k) - 1, dtype=self._int)
            for i in range(k):
                r = r - self._binomials[self.modules - 1 - rows[at, i].astype(np.int64), k - i]
            ranks[at] = r + self._starts[k - 1]
        return ranks

    def unrank(self, ranks: Any) -> np.ndarray:
        ranks = _as_ranks(ranks, self)
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

    def elements(self, rows: Any) -> Any:
        return rows

    def contains(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        if not _are_rows(rows, self.width):
            return np.zeros(len(rows), dtype=bool)
        active = rows >= 0
        in_range = (rows >= -1).all(1) & (rows < self.modules).all(1) & active[:, 0]
        # strictly rising while active, and no active entry after padding
        rising = ((rows[:, 1:] > rows[:, :-1]) | ~active[:, 1:]).all(1)
        packed = (active[:, :-1] | ~active[:, 1:]).all(1)
        return in_range & rising & packed

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
        swapped = np.where(rows == old, new, rows)
        swapped = np.sort(np.where(swapped < 0, self.modules, swapped), axis=1)
        return np.where(swapped < self.modules, swapped, -1).astype(self.dtype)

    def possible_tuples(self, strength: int) -> int:
        return math.comb(self.modules, strength) if strength <= self.at_most else 0


class Product(Space):
    """One level of every factor: `Product(color=["red", "green"], shape=3)`. A number n means levels 0..n-1.

    Order: the last factor varies fastest, as itertools.product lists them.
    """

    def __init__(self, /, **factors: int | Sequence[Any]):
        if not factors:
            raise UserError("a Product needs at least one factor, such as Product(color=['red', 'green'])")
        self.factors: dict[str, tuple[Any, ...]] = {}
        for name, levels in factors.items():
            if isinstance(levels, (str, bytes)):
                raise UserError(f"factor {name!r} got the text {levels!r}; give a list of levels or their number")
            if not isinstance(levels, Iterable):
                levels = range(require_int(f"levels of {name!r}", levels, at_least=1))
            listed = tuple(levels)
            if not listed:
                raise UserError(f"factor {name!r} has no levels; it needs at least one")
            names = Counter(str(level) for level in listed)  # 1 and "1" would be one element
            for level in listed:
                if not isinstance(level, Hashable):
                    raise UserError(f"factor {name!r} lists {level!r}, which cannot be a level; use text or numbers")
                if names[str(level)] > 1:
                    raise UserError(f"factor {name!r} lists level {level!r} twice")
            self.factors[name] = listed
        self.levels = tuple(len(levels) for levels in self.factors.values())
        self.width = len(self.levels)
        self.size = math.prod(self.levels)
        self.element_names = tuple(f"{name}={level}" for name, levels in self.factors.items() for level in levels)
        ends = np.cumsum(self.levels)
        self._offsets = np.concatenate([[0], ends[:-1]]).astype(np.int64)  # first element id of each factor
        self.classes = tuple(tuple(range(a, a + n)) for a, n in zip(self._offsets.tolist(), self.levels, strict=True))

    def __repr__(self) -> str:
        if self.width > 6:
            return f"Product({self.width} factors)"
        return f"Product({', '.join(f'{name}={n}' for name, n in zip(self.factors, self.levels, strict=True))})"

    def to_json(self) -> dict:
        # str(): levels may be anything hashable, and JSON must not be able to fail on them
        return {"kind": "product", "factors": {name: [str(v) for v in levels] for name, levels in self.factors.items()}}

    @cached_property
    def _strides(self) -> list[int]:
        return [math.prod(self.levels[i + 1 :]) for i in range(self.width)]

    def rank(self, rows: Any) -> np.ndarray:
        rows = self.check(rows)
        kind = np.int64 if self.size < _FITS_INT64 else object
        ranks = np.zeros(len(rows), dtype=kind)
        for column, stride in enumerate(self._strides):
            ranks = ranks + rows[:, column].astype(kind) * stride
        return ranks

    def unrank(self, ranks: Any) -> np.ndarray:
        ranks = _as_ranks(ranks, self)
        rows = np.empty((len(ranks), self.width), dtype=self.dtype)
        for column, stride in enumerate(self._strides):
            rows[:, column] = ranks // stride
            ranks = ranks % stride
        return rows

    def elements(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        return rows + xp.asarray(self._offsets, dtype=xp.int32)

    def contains(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        if not _are_rows(rows, self.width):
            return np.zeros(len(rows), dtype=bool)
        return ((rows >= 0) & (rows < np.array(self.levels))).all(1)

    def sample(self, key: Any, n: int) -> np.ndarray:
        rng = generator(key)
        return rng.integers(0, np.array(self.levels), size=(n, self.width)).astype(self.dtype)

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        return jax.random.randint(key, (n, self.width), 0, jnp.asarray(self.levels)).astype(self.dtype)

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        column = int(np.searchsorted(self._offsets, old, side="right")) - 1
        rows = rows.copy()
        levels = rows[:, column]
        levels[levels == old - self._offsets[column]] = new - self._offsets[column]
        return rows

    def possible_tuples(self, strength: int) -> int:
        # e_t(levels): the elementary symmetric polynomial counts one level from each of t factors
        counts = [1] + [0] * strength
        for n in self.levels:
            for t in range(strength, 0, -1):
                counts[t] += counts[t - 1] * n
        return counts[strength]


def space_from_json(spec: dict) -> Space:
    """The space that `to_json` described."""
    kind = spec.get("kind")
    if kind == "subsets":
        return Subsets(modules=spec["modules"], at_most=spec["at_most"])
    if kind == "product":
        return Product(**spec["factors"])
    raise unknown("kind of space", kind, ("subsets", "product"))


def _are_rows(rows: np.ndarray, width: int) -> bool:
    return rows.ndim == 2 and rows.shape[1] == width and np.issubdtype(rows.dtype, np.integer)


def _as_ranks(ranks: Any, space: Space) -> np.ndarray:
    """Exact ranks inside the space: int64 where they fit, else Python ints."""
    found = np.asarray(ranks)
    if not np.issubdtype(found.dtype, np.integer):  # Python ints beyond 64 bits, an empty list, or no whole numbers
        found = np.array(
            [require_int("rank", rank) for rank in np.ravel(np.asarray(ranks, dtype=object))], dtype=object
        )
    outside = (found < 0) | (found >= space.size)
    if outside.any():
        raise UserError(f"rank {found[outside][0]} is outside {space}, whose ranks are 0 to {space.size - 1:,}")
    return found.astype(np.int64 if space.size < _FITS_INT64 else object)


def _distinct(rng: np.random.Generator, rows: int, k: int, below: int) -> np.ndarray:
    """k different numbers below `below` a row, in random order."""
    if k * k < below:  # few of many: draw again the rows in which a number repeats, which is less than half of them
        drawn = rng.integers(0, below, (rows, k))
        while len(again := np.flatnonzero((np.diff(np.sort(drawn, axis=1), axis=1) == 0).any(1))):
            drawn[again] = rng.integers(0, below, (len(again), k))
        return drawn
    order = np.argpartition(rng.random((rows, below)), k - 1, axis=1)[:, :k]
    return rng.permuted(order, axis=1)  # the partition leaves them in no random order


def _uniform_ints(rng: np.random.Generator, below: int, n: int) -> Any:
    """Exact uniform integers in [0, below), of any size."""
    if below < _FITS_INT64:
        return rng.integers(0, below, size=n)
    bits = below.bit_length()
    drawn: list[int] = []
    size = (bits + 7) // 8
    while len(drawn) < n:  # rejection keeps it exact; at least half of the draws are kept
        raw = rng.bytes(size * 2 * (n - len(drawn)))
        values = (int.from_bytes(raw[i : i + size], "little") >> (-bits % 8) for i in range(0, len(raw), size))
        drawn += [value for value in values if value < below]
    return np.array(drawn[:n], dtype=object)
