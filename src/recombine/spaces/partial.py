"""Some combinations of a product, given one by one: those that a table has rows of."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..keys import generator
from .base import Space, are_rows, as_ranks, kinds
from .lookup import find
from .product import Product
from .tuples import count_tuples


@kinds.register("partial")
class Partial(Space):
    """Combinations of a product that are there: `Partial(Product(color=2, shape=3), [[0, 0], [0, 2], [1, 1]])`.

    A combination is one level per factor, as in the product, and those that are not listed do not exist: no design
    can train or hold them out. Order: that of the product.

    Args:
        product: the factors and their levels.
        rows: (n, factors) levels; none twice.
    """

    ordered = True

    def __init__(self, product: Product, rows: Any):
        rows = product.check(rows)
        if not len(rows):
            raise UserError(f"rows=[] lists no combination of {product}; a space needs at least one")
        table = np.unique(rows.astype(np.int32), axis=0)  # in lexical order, which is the product's
        if len(table) < len(rows):
            raise UserError(
                f"{len(rows) - len(table):,} of {len(rows):,} rows list a combination again; list each once"
            )
        self.product, self.table = product, table.astype(product.dtype)
        self.table.setflags(write=False)
        self.size, self.width, self.sizes = len(table), product.width, product.sizes
        self.element_names, self.classes = product.element_names, product.classes
        self._tuples: dict[int, int] = {}  # strength -> how many, counted once
        digest = hashlib.sha256(repr(product.to_json()).encode() + table.tobytes())
        self._identity = ("partial", digest.hexdigest())

    def __repr__(self) -> str:
        return f"Partial{repr(self.product).removeprefix('Product')}"

    def to_json(self) -> dict:
        return {"kind": "partial", "product": self.product.to_json(), "rows": self.table.tolist()}

    @classmethod
    def from_json(cls, spec: dict) -> Partial:
        return cls(Product.from_json(spec["product"]), np.array(spec["rows"], dtype=int))

    @property
    def identity(self) -> tuple[str, str]:  # type: ignore[override]
        """A digest made once: comparing two lists takes as long as comparing two words."""
        return self._identity

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        return self.product.columns

    @cached_property
    def occurs(self) -> np.ndarray:  # type: ignore[override]
        found = np.zeros(len(self.element_names), bool)
        found[self.elements(self.table)] = True
        return found

    def rank(self, rows: Any) -> np.ndarray:
        return find(self.product, self.table, self.check(rows))

    def unrank(self, ranks: Any) -> np.ndarray:
        return self.table[as_ranks(ranks, self)]

    def elements(self, rows: Any) -> Any:
        return self.product.elements(rows)

    def contains(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        if not are_rows(rows, self.width):
            return np.zeros(len(rows), dtype=bool)
        inside = self.product.contains(rows)
        at = find(self.product, self.table, np.where(inside[:, None], rows, self.table[0]))
        return inside & (at >= 0)

    def sample(self, key: Any, n: int) -> np.ndarray:
        return self.table[generator(key).integers(0, self.size, size=n)]

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        return jnp.asarray(self.table)[jax.random.randint(key, (n,), 0, self.size)]

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        """Refused: a row with a level exchanged need not be there."""
        raise UserError(
            f"{self.element_names[old]!r} cannot be exchanged for {self.element_names[new]!r} in {self}: the result "
            "need not be there; use the whole Product, whose levels combine freely"
        )

    def possible_tuples(self, strength: int) -> int:
        """How many sets of `strength` levels occur together in some combination that is there."""
        if strength not in self._tuples:
            ids = self.elements(self.table)
            self._tuples[strength] = count_tuples(ids, strength, len(self.element_names))
        return self._tuples[strength]
