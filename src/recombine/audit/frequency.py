"""How often a combination is met in use: by the rows that were not trained on, if there are any, else by its levels.

Of N such rows over D distinct combinations, n_c are of combination c. Its frequency is

    f(c) = (n_c + D q(c)) / (N + D),   q(c) = prod_i share(level i) min over pairs ab of min(1, (n_ab + 1)/(e_ab + 1))

so that combinations not yet met have D/(N + D) of all together, as is usual for kinds not met (Good 1953), spread by
how common their levels are; less where a pair occurs less often (n_ab) than independent levels would have it (e_ab).
Without rows in use q(c) is the product alone, by the margins of all rows: what was collected says little about what
goes together. Rows count by their weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..spaces import Product, find
from ..tables import Observed

_MOST_CELLS = 4_000_000  # of a table of pairs of levels


class Frequency:
    """The share of rows in use that are of a combination.

    Args:
        observed: a table.
        space: that of its combinations, perhaps with more levels at the end of its factors.
    """

    def __init__(self, observed: Observed, space: Product | None = None):
        self.observed, self.levels_there = observed, np.array(observed.space.levels)
        space = space or observed.space
        self.in_use = bool(observed.tested.sum() > 0)
        self.rows = (observed.tested if self.in_use else observed.trained + observed.tested).astype(float)
        self.total = float(self.rows.sum())
        self.distinct = int((self.rows > 0).sum())
        codes = observed.rows.astype(np.int64)
        self.margins = [
            np.bincount(codes[:, i], weights=self.rows, minlength=size) / self.total
            for i, size in enumerate(space.levels)
        ]
        self._ratios = self._pair_ratios(codes, space.levels) if self.in_use else {}

    @property
    def words(self) -> str:
        """What frequencies rest on, as a clause."""
        if self.in_use:
            return f"by the {self.total:,.6g} rows that were not trained on"
        return "by how common their levels are, since all rows were trained on"

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """(rows,) the frequency of each combination.

        Args:
            rows: combinations of the space.
        """
        codes = np.asarray(rows).astype(np.int64)
        if not len(codes):
            return np.zeros(0)
        found = np.prod([margin[codes[:, i]] for i, margin in enumerate(self.margins)], axis=0)
        if not self.in_use:
            return found
        least = np.ones(len(codes))
        for (i, j), ratio in self._ratios.items():
            least = np.minimum(least, ratio[codes[:, i], codes[:, j]])
        known = np.all(codes < self.levels_there, axis=1)
        own = np.where(np.expand_dims(known, 1), codes, 0).astype(self.observed.space.dtype)
        place = np.where(known, find(self.observed.space, self.observed.rows, own), -1)
        met = np.where(place >= 0, self.rows[place], 0.0)
        return (met + self.distinct * found * least) / (self.total + self.distinct)

    def levels(self) -> np.ndarray:
        """(levels of all factors,) how common each is, 0 to 1, the most common one of its factor being 1."""
        return np.concatenate([margin / max(margin.max(), 1e-300) for margin in self.margins])

    def _pair_ratios(self, codes: np.ndarray, sizes: Sequence[int]) -> dict[tuple[int, int], np.ndarray]:
        found, cells = {}, 0
        for i, j in itertools.combinations(range(len(sizes)), 2):
            cells += sizes[i] * sizes[j]
            if cells > _MOST_CELLS:
                break
            together = np.bincount(
                codes[:, i] * sizes[j] + codes[:, j], weights=self.rows, minlength=sizes[i] * sizes[j]
            ).reshape(sizes[i], sizes[j])
            expected = self.total * np.outer(self.margins[i], self.margins[j])
            found[i, j] = np.minimum(1.0, (together + 1) / (expected + 1))
        return found
