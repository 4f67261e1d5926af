"""A split to look at, combination by combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UserError

if TYPE_CHECKING:
    from ..supports import Support


@dataclass(frozen=True)
class SupportMap:
    """A split to look at: every combination of its space as a cell, trained or held out, and how its parts met.

    scores: of all combinations in order of rank, NaN where there is none; None if they were not kept.
    missing: why there is no split to show, if there is none.
    """

    name: str
    support: Support | None
    scores: np.ndarray | None = None
    score_name: str = "score"
    missing: str = ""

    def __post_init__(self):
        if self.support is None and not self.missing:
            raise UserError(f"map {self.name!r} has no split; say why in missing")
        if self.support is not None and self.scores is not None:
            size = self.support.space.size
            if np.shape(self.scores) != (size,):
                shape = np.shape(self.scores)
                raise UserError(f"scores of map {self.name!r} have shape {shape}, not one for each of {size:,}")
