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
    """Combinations of exactly `count` elements; one that stands in it twice counts twice."""

    space: Space
    count: int

    def __call__(self, rows: Any) -> Any:
        return (self.space.elements(rows) >= 0).sum(-1) == self.count


@dataclass(frozen=True)
class Has:
    """Combinations that contain at least one of the elements."""

    space: Space
    elements: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        return (self.space.elements(rows)[..., None] == xp.asarray(self.elements)).any((-1, -2))


@dataclass(frozen=True)
class Lacks:
    """Combinations that contain none of the elements."""

    space: Space
    elements: tuple[int, ...]

    def __call__(self, rows: Any) -> Any:
        return ~Has(self.space, self.elements)(rows)


@dataclass(frozen=True)
class Blocks:
    """Combinations whose elements lie in more than one block (`cross`), or all in one."""

    space: Space
    block_of: tuple[int, ...]  # block of each element
    cross: bool

    def __call__(self, rows: Any) -> Any:
        xp = jnp if isinstance(rows, jax.Array) else np
        ids = self.space.elements(rows)
        blocks = xp.asarray(self.block_of)[xp.maximum(ids, 0)]
        crosses = ((blocks != blocks[..., :1]) & (ids >= 0)).any(-1)  # the first element is never padding
        return crosses if self.cross else ~crosses
