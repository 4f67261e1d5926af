"""Products: one level of every factor."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int
from ..keys import generator
from .base import FITS_INT64, MOST_ELEMENTS, Space, are_rows, as_ranks, kinds


@kinds.register("product")
class Product(Space):
    """A Cartesian product: one level of every factor.

    Order: the last factor varies fastest, as itertools.product lists them.

    Args:
        factors: by name, the levels of each factor as a list; a number n means levels 0 to n - 1.

    Example:
        >>> dishes = rc.Product(color=["red", "green"], shape=3)
        >>> dishes.size, dishes.describe([1, 2])
        (6, '{color=green, shape=2}')
    """

    ordered = True
    free = True

    def __init__(self, /, **factors: int | Sequence[Any]):
        if not factors:
            raise UserError("a Product needs at least one factor, such as Product(color=['red', 'green'])")
        self.factors: dict[str, tuple[Any, ...]] = {}
        for name, levels in factors.items():
            if isinstance(levels, (str, bytes)):
                raise UserError(f"factor {name!r} got the text {levels!r}; give a list of levels or their number")
            if not isinstance(levels, Iterable):
                levels = range(require_int(f"levels of {name!r}", levels, at_least=1, at_most=MOST_ELEMENTS))
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
        self.width = len(self.factors)
        self.sizes = (self.width,)
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

    @classmethod
    def from_json(cls, spec: dict) -> Product:
        return cls(**spec["factors"])

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        return self.factors

    @cached_property
    def levels(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(len(levels) for levels in self.factors.values())

    @property
    def dimensions(self) -> dict[str, int]:
        return dict(zip(self.factors, self.levels, strict=True))

    @cached_property
    def _strides(self) -> list[int]:
        return [math.prod(self.levels[i + 1 :]) for i in range(self.width)]

    def rank(self, rows: Any) -> np.ndarray:
        rows = self.check(rows)
        kind = np.int64 if self.size < FITS_INT64 else object
        ranks = np.zeros(len(rows), dtype=kind)
        for column, stride in enumerate(self._strides):
            ranks = ranks + rows[:, column].astype(kind) * stride
        return ranks

    def unrank(self, ranks: Any) -> np.ndarray:
        ranks = as_ranks(ranks, self)
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
        if not are_rows(rows, self.width):
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
