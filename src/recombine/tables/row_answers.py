"""Answers row by row: of which combination a row is, how right it was, what it is called, whether it was trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Source
from .expression_sql import Cells
from .levels import declare
from .observed import Observed, row_codes


@dataclass(frozen=True)
class RowAnswers:
    """Every row of a table, in its order.

    Args:
        at: the position of its combination in `Observed.rows`; -1 where it was left out.
        right: how right it was, 0 to 1; NaN without an outcome.
        weight: how many rows it counts as.
        trained: whether it is a training row.
        ids: what it is called, None without a value; None where no column says it.
    """

    at: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    trained: np.ndarray
    ids: np.ndarray | None


def row_answers(source: Source, observed: Observed) -> RowAnswers:
    """The rows behind the combinations of a table, with the roles and the reading that it was read with.

    Args:
        source: the table, opened again or still open.
        observed: what was read from it.
    """
    roles = observed.roles
    observed.reading.apply(source, roles.taken)
    for name, levels in observed.space.factors.items():
        declare(source, name, levels)
    at, ids = row_codes(source, observed, roles.split, roles.id)
    cells = Cells(source)
    outcomes = [roles.outcome] if roles.outcome else list(roles.by_factor.values())
    values = [one.sql(cells)[0] for one in outcomes]
    weight = cells.number(roles.weight) if roles.weight else "1.0"
    names = [roles.split] if roles.split else []
    relation, parameters = source.relation(names, more=cells.shown or ["1 AS one"], of=cells.columns)
    right = " * ".join(f"({one})" for one in values) or "NULL"
    shown = [f"CAST({right} AS DOUBLE) AS o", f"CAST({weight} AS DOUBLE) AS w", *(["v0 AS side"] if names else [])]
    found = source.run(f"SELECT {', '.join(shown)} FROM {relation}", parameters | cells.parameters).fetchnumpy()
    trained = np.ones(len(at), bool)
    if names and observed.split is not None:
        sides = np.ma.filled(np.ma.asarray(found["side"], dtype=object), None)
        trains = {value for value, about in observed.split.items() if about["trained"]}
        trained = np.array([side in trains for side in sides], bool)
    return RowAnswers(at, _numbers(found["o"]), _numbers(found["w"]), trained, ids)


def answers_that_count(rows: RowAnswers, observed: Observed) -> np.ndarray:
    """Which rows an audit judges by: those outside of training; trained combinations by training rows if by no others.

    The same as `evaluate` does for combinations.
    """
    there = (rows.at >= 0) & ~np.isnan(rows.right)
    seen = np.append(observed.seen, False)[rows.at]
    fall_back = not (there & seen & ~rows.trained).any()
    return there & (~rows.trained | (seen & fall_back))


def _numbers(column: np.ndarray) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(column, dtype=float), np.nan)
