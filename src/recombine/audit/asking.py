"""Asking: what a forecast has to know of combinations, and how rows of the user's become combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..labels import quoted
from ..spaces import find
from ..tables import Observed
from .coverage_rules import Trained
from .patterns import Answered
from .risk_forecast import Asked
from .seen import Seen


class Asking:
    """Looks up what is known of combinations.

    Args:
        observed: the table.
        seen: its training combinations.
        more: rows -> further features of them.
    """

    def __init__(self, observed: Observed, seen: Seen, more: Callable[[np.ndarray], np.ndarray] | None = None):
        self.observed, self.seen, self.trained = observed, seen, Trained(seen)
        self.more = more or (lambda rows: np.zeros((len(rows), 0)))
        self.table: Answered | None = None
        self._place = np.zeros(0, np.int64)

    def answered(self, table: Answered, used: np.ndarray) -> None:
        """Notes which combinations have answers, and which of these a forecast is made from."""
        self.table = table
        self._place = np.full(len(table) + 1, -1)  # the last is that of combinations without answers
        self._place[used] = np.arange(len(used))

    def about(self, rows: np.ndarray) -> Asked:
        """What a forecast has to know of rows of levels."""
        space, typed = self.observed.space, np.asarray(rows).astype(self.observed.space.dtype)
        codes = typed.astype(np.int64)
        rules, share = self.trained.rules(codes)
        if self.table is None:
            none = np.zeros(len(codes))
            return Asked(codes, ~rules[:, 0], rules, share, np.full(len(codes), -1), none, none, self.more(codes))
        at = find(space, self.table.codes.astype(space.dtype), typed)
        n, k = (np.append(one, 0.0)[at] for one in (self.table.answers, self.table.wrong))
        return Asked(codes, ~rules[:, 0], rules, share, self._place[at], n, k, self.more(codes))

    def read(self, rows: Any) -> tuple[np.ndarray, dict[str, list[str]]]:
        """Combinations of levels for rows of the user's, and the levels by factor."""
        if isinstance(rows, Mapping) and not any(isinstance(one, (list, tuple, np.ndarray)) for one in rows.values()):
            rows = [rows]
        if isinstance(rows, (list, tuple)):
            columns = {name: [self._cell(row, name) for row in rows] for name in self.observed.factors}
        else:
            columns = {name: self._column(rows, name) for name in self.observed.factors}
        codes, names = [], {}
        for name, levels in self.observed.space.factors.items():
            place = {str(level): i for i, level in enumerate(levels)}
            shown = [str(value) for value in columns[name]]
            strange = next((one for one in shown if one not in place), None)
            if strange is not None:
                raise unknown(f"level of {quoted(name)}", strange, list(place))
            codes.append([place[one] for one in shown])
            names[name] = shown
        if len({len(one) for one in codes}) > 1:
            raise UserError(f"the columns have {sorted({len(one) for one in codes})} rows; all must have as many")
        return np.array(codes, dtype=np.int64).T.reshape(-1, len(names)), names

    def _cell(self, row: Any, name: str) -> Any:
        if not isinstance(row, Mapping):
            raise UserError(f"the row {row!r} is no mapping from factors to levels, such as {self._example()}")
        return self._column(row, name)

    def _column(self, rows: Any, name: str) -> Any:
        try:
            return rows[name]
        except (KeyError, TypeError, IndexError):
            raise UserError(f"the rows lack the factor {quoted(name)}; give all, such as {self._example()}") from None

    def _example(self) -> dict[str, str]:
        return {name: str(levels[0]) for name, levels in self.observed.space.factors.items()}
