"""Combinations given one by one: derivations of a grammar, commands, puzzles."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..keys import generator
from .base import Space, are_rows, as_ranks, kinds
from .tuples import count_tuples


@kinds.register("listed")
class Listed(Space):
    """Combinations given one by one, as rows of element ids: derivations of a grammar, commands, puzzles.

    A combination is a row number, so rows of this space have one column, (n, 1), and the rank is that number.
    `table`, (size, longest) int32 and padded with -1, holds the elements; `elements` looks them up.

    Args:
        rows: a list of sequences of element ids, or an array of whole numbers padded with -1 at the end. The order
            within a row counts, an element may stand in it twice, and no two rows are the same.
        names: one per element id. An element that no row has may be named, too.

    Example:
        >>> commands = rc.Listed([[0, 2], [1, 2, 2]], names=["walk", "jump", "twice"])
        >>> commands.size, commands.describe(commands.unrank([1])[0])
        (2, '[jump, twice, twice]')
    """

    ordered = True
    width = 1

    def __init__(self, rows: Any, names: Iterable[Any]):
        self.element_names = _names(names)
        table = _table(rows, len(self.element_names))
        _refuse_repeats(table)
        self.size = len(table)
        self.classes = (tuple(range(len(self.element_names))),)
        self.sizes = tuple(np.unique((table >= 0).sum(1)).tolist())
        # One more row of padding: -1, which stands for no combination, reads it and has no elements.
        self._padded = np.concatenate([table, np.full((1, table.shape[1]), -1, np.int32)])
        self._padded.setflags(write=False)
        self.table = self._padded[:-1]
        self._tuples: dict[int, int] = {}  # strength -> how many, counted once
        digest = hashlib.sha256(repr((self.element_names, table.shape)).encode() + table.tobytes())
        self._identity = ("listed", digest.hexdigest())

    def __repr__(self) -> str:
        return f"Listed({self.size:,} combinations of {len(self.element_names):,} elements)"

    def to_json(self) -> dict:
        rows = [row[: np.count_nonzero(row >= 0)].tolist() for row in self.table]
        return {"kind": "listed", "names": list(self.element_names), "rows": rows}

    @classmethod
    def from_json(cls, spec: dict) -> Listed:
        return cls(spec["rows"], spec["names"])

    @property
    def identity(self) -> tuple[str, str]:  # type: ignore[override]
        """A digest made once: comparing two lists takes as long as comparing two words."""
        return self._identity

    @property
    def dtype(self) -> type:
        return np.int16 if self.size < 2**15 else np.int32

    @cached_property
    def occurs(self) -> np.ndarray:  # type: ignore[override]
        found = np.zeros(len(self.element_names), bool)
        found[self.table[self.table >= 0]] = True
        return found

    def rank(self, rows: Any) -> np.ndarray:
        return self.check(rows)[:, 0].astype(np.int64)

    def unrank(self, ranks: Any) -> np.ndarray:
        return as_ranks(ranks, self)[:, None].astype(self.dtype)

    def elements(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        return xp.asarray(self._padded)[xp.asarray(rows)[..., 0]]

    def element_sets(self, rows: np.ndarray) -> np.ndarray:
        return self._sets[np.asarray(rows)[..., 0]]

    @cached_property
    def _sets(self) -> np.ndarray:
        none = len(self.element_names)
        rising = np.sort(np.where(self.table >= 0, self.table, none), axis=1)
        rising[:, 1:][rising[:, 1:] == rising[:, :-1]] = none  # an element that was there already
        rising.sort(axis=1)
        return np.where(rising < none, rising, -1)

    def contains(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        if not are_rows(rows, self.width):
            return np.zeros(len(rows), dtype=bool)
        return (rows[:, 0] >= 0) & (rows[:, 0] < self.size)

    def sample(self, key: Any, n: int) -> np.ndarray:
        return generator(key).integers(0, self.size, size=(n, 1)).astype(self.dtype)

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        return jax.random.randint(key, (n, 1), 0, self.size).astype(self.dtype)

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        """Refused: a row with an element exchanged need not be in the list."""
        raise UserError(
            f"{self.element_names[old]!r} cannot be exchanged for {self.element_names[new]!r} in {self}: the result "
            "need not be in the list; use a Product or Subsets, whose elements combine freely"
        )

    def describe(self, row: Any) -> str:
        """A combination in words: its elements in order."""
        ids = self.elements(np.asarray(row)[None])[0]
        return "[" + ", ".join(self.element_names[i] for i in ids if i >= 0) + "]"

    def possible_tuples(self, strength: int) -> int:
        """How many different sets of `strength` elements stand together in some row of the list, in any order.

        An element that stands in a row twice is in such a set once.
        """
        if strength not in self._tuples:
            self._tuples[strength] = count_tuples(self._sets, strength, len(self.element_names))
        return self._tuples[strength]


# -- what was given, checked ----------------------------------------------------------------------------------------


def _names(names: Any) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise UserError(f"names={names!r} is no list of element names, such as ['jump', 'twice']")
    found = tuple(str(name) for name in names)
    if not found:
        raise UserError("names=[] names no element; give one name per element id, such as ['jump', 'twice']")
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise UserError(f"names lists {twice[0]!r} twice; each element needs a name of its own")
    return found


def _table(rows: Any, elements: int) -> np.ndarray:
    """(n, longest) int32 ids, padded with -1 at the end."""
    if isinstance(rows, (np.ndarray, jax.Array)) and rows.dtype != object:
        given = np.asarray(rows)
        if given.ndim != 2 or not np.issubdtype(given.dtype, np.integer):
            raise UserError(
                f"rows are {given.dtype} of {given.shape}; give whole numbers, one row of element ids per combination"
            )
    else:
        given = _padded(rows, elements)
    if not len(given):
        raise UserError("rows=[] lists no combination; a space needs at least one")
    _check_ids(given, elements)
    longest = int((given >= 0).sum(1).max())
    return np.ascontiguousarray(given[:, :longest], dtype=np.int32)


def _padded(rows: Any, elements: int) -> np.ndarray:
    """Sequences of ids of any lengths as one array; what is no whole number is refused."""
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise UserError(f"rows={rows!r} is no list of rows of element ids, such as [[0, 2], [1, 2, 2]]")
    listed: list[Sequence[Any]] = []
    for number, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise UserError(f"row {number} is {row!r}; each row is a list of element ids, such as [0, 2]")
        listed.append(row.tolist() if isinstance(row, (np.ndarray, jax.Array)) else list(row))
    lengths = [len(row) for row in listed]
    table = np.full((len(listed), max(lengths, default=0)), -1, dtype=np.int64)
    inside = np.arange(table.shape[1]) < np.array(lengths, dtype=int)[:, None]
    flat = list(itertools.chain.from_iterable(listed))
    for number, row in enumerate(listed if not all(type(one) is int for one in flat) else ()):
        for one in row:  # NumPy's whole numbers are fine
            if isinstance(one, bool) or not hasattr(one, "__index__"):
                raise UserError(f"row {number} has {one!r}, which is no element id; ids are 0 to {elements - 1}")
    if flat and not (min(flat) >= -1 and max(flat) < elements):  # before it is found not to fit into the array
        outside = ((number, one) for number, row in enumerate(listed) for one in row if not -1 <= one < elements)
        raise _unnamed(*next(outside), elements)
    table[inside] = flat
    return table


def _unnamed(row: int, element: int, elements: int) -> UserError:
    return UserError(f"row {row} has the element id {element}, which has no name; ids are 0 to {elements - 1}")


def _check_ids(table: np.ndarray, elements: int) -> None:
    there = table >= 0
    wrong = (table < -1) | (table >= elements)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise _unnamed(row, int(table[row, column]), elements)
    gap = (there[:, 1:] & ~there[:, :-1]).any(1)
    if gap.any():
        row = int(np.argmax(gap))
        raise UserError(f"row {row}, {table[row].tolist()}, has -1 before an element; -1 is padding, at the end only")
    empty = ~there.any(1)
    if empty.any():
        raise UserError(f"row {int(np.argmax(empty))} has no elements; a combination needs at least one")


def _refuse_repeats(table: np.ndarray) -> None:
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    if len(first) < len(table):
        earlier = first[inverse.ravel()]  # the first row that is the same, of each row
        row = int(np.flatnonzero(earlier != np.arange(len(table)))[0])
        ids = table[row][table[row] >= 0].tolist()
        raise UserError(f"row {row}, {ids}, is row {earlier[row]} again; list each combination once")
