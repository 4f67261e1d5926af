"""Groups of combinations that are scored apart: a predicate on rows, as data, for host and device alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..spaces import Space


@dataclass(frozen=True)
class ActiveCount:
    """Combinations of exactly `count` elements; one that stands in it twice counts twice. A predicate on rows.

    Args:
        space: of the combinations.
        count: how many elements.

    Example:
        >>> pairs = rc.Subsets(modules=3, at_most=2)
        >>> rc.supports.ActiveCount(pairs, count=2)(pairs.enumerate()).tolist()
        [False, False, False, True, True, True]
    """

    space: Space
    count: int

    def __call__(self, rows: Any) -> Any:
        there = self.space.elements(rows) >= 0
        if isinstance(there, np.ndarray) and there.ndim == 2:  # by column: five times as fast
            return sum(there.T, start=np.zeros(len(there), np.int16)) == self.count
        return there.sum(-1) == self.count


@dataclass(frozen=True)
class Has:
    """Combinations that contain at least one of the elements. A predicate on rows.

    Args:
        space: of the combinations.
        elements: ids of elements.

    Example:
        >>> pairs = rc.Subsets(modules=3, at_most=2)
        >>> [pairs.describe(row) for row in pairs.enumerate() if rc.supports.Has(pairs, (2,))(row)]
        ['{m2}', '{m0, m2}', '{m1, m2}']
    """

    space: Space
    elements: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        return (self.space.elements(rows)[..., None] == xp.asarray(self.elements)).any((-1, -2))


@dataclass(frozen=True)
class Lacks:
    """Combinations that contain none of the elements. A predicate on rows.

    Args:
        space: of the combinations.
        elements: ids of elements.

    Example:
        >>> pairs = rc.Subsets(modules=3, at_most=2)
        >>> [pairs.describe(row) for row in pairs.enumerate() if rc.supports.Lacks(pairs, (2,))(row)]
        ['{m0}', '{m1}', '{m0, m1}']
    """

    space: Space
    elements: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        return ~Has(self.space, self.elements)(rows)


@dataclass(frozen=True)
class Blocks:
    """Combinations whose elements lie in more than one block (`cross`), or all in one. A predicate on rows.

    Args:
        space: of the combinations.
        block_of: the block of each element.
        cross: true for combinations across blocks, false for those within one.

    Example:
        >>> pairs = rc.Subsets(modules=3, at_most=2)
        >>> across = rc.supports.Blocks(pairs, block_of=(0, 0, 1), cross=True)
        >>> [pairs.describe(row) for row in pairs.enumerate() if across(row)]
        ['{m0, m2}', '{m1, m2}']
    """

    space: Space
    block_of: tuple[int, ...]  # block of each element
    cross: bool

    def __call__(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        ids = self.space.elements(rows)
        blocks = xp.asarray(self.block_of)[xp.maximum(ids, 0)]
        crosses = ((blocks != blocks[..., :1]) & (ids >= 0)).any(-1)  # the first element is never padding
        return crosses if self.cross else ~crosses
