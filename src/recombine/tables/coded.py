"""The one pass over the rows: groups that agree in every factor and in the split, with counts and sums of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import quoted
from .base import Source
from .expression_sql import Cells
from .levels import encode, lookalikes
from .outcome_forms import Outcome, Roles, check_agreement
from .roles import check_outcome, refuse_cell

MOST_WEIGHT = 1e12
_SUM = "CAST({} AS DECIMAL(28, 9))"  # decimals add up to the same sum in any order, so that threads change nothing


@dataclass
class Coded:
    """Groups of rows that agree in every candidate and in the split. Codes are positions in `levels`; -1 is missing."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: np.ndarray  # (groups, candidates)
    split: np.ndarray  # (groups,) position in split_values; -1 is missing
    split_values: tuple[str, ...]
    rows: np.ndarray  # (groups,) number of rows
    weights: np.ndarray  # (groups,) what they count as: their number, or the sum of their weights
    answers: np.ndarray  # (groups,) rows with an outcome, by weight
    right: np.ndarray  # (groups,) sum of the outcomes, by weight
    outcome: str | None = None  # what it is called
    parts: dict[str, tuple[np.ndarray, ...]] = field(default_factory=dict)  # factor -> those of `Part`
    notes: list[str] = field(default_factory=list)


def code(source: Source, candidates: Sequence[str], roles: Roles | None = None) -> Coded:
    """Groups the rows by the candidate factors and the split, in one pass over the source."""
    roles = roles or Roles()
    grouping = _Grouping(source, candidates, roles)
    grouping.run()
    grouping.check()
    levels, codes = [], []
    for i, name in enumerate(candidates):
        found, column = encode(source, f"v{i}", name)
        levels.append(found)
        codes.append(column)
    split_values, split_codes = encode(source, f"v{len(candidates)}", roles.split) if roles.split else ((), None)
    found = grouping.fetched()
    rows = found["n"].astype(np.int64)
    counted = float if roles.weight else np.int64
    asked = len(grouping.outcomes)
    coded = Coded(
        tuple(candidates),
        tuple(levels),
        np.stack(codes, axis=1) if codes else np.zeros((len(rows), 0), np.int32),
        split_codes if split_codes is not None else np.zeros(len(rows), np.int32),
        tuple(split_values),
        rows,
        found["w"].astype(counted),
        found["answers0"].astype(counted) if asked else np.zeros(len(rows), counted),
        found["good0"] if asked else np.zeros(len(rows)),
        grouping.called,
        {
            name: (
                found[f"answers{i}"].astype(counted),
                found[f"good{i}"],
                *(found[f"{kind}{i}"].astype(counted) for kind in ("alone", "wrong")),
            )
            for i, name in enumerate(roles.by_factor, 1)
        },
        list(source.notes),
    )
    for name, own in zip(coded.names, coded.levels, strict=True):
        coded.notes += lookalikes(name, own)
    return coded


class _Grouping:
    """The statement that groups the rows. Outcome 0 is the one that counts; those of factors follow."""

    def __init__(self, source: Source, candidates: Sequence[str], roles: Roles):
        self.source, self.roles = source, roles
        self.names = [*candidates, *([roles.split] if roles.split else [])]
        self.cells = Cells(source)
        self.weight = self.cells.number(roles.weight) if roles.weight else ""
        self.weight_text = self.cells.text(roles.weight) if roles.weight else ""
        parts = list(roles.by_factor.values())
        self.outcomes: list[Outcome | None] = [roles.outcome, *parts] if roles.outcome or parts else []
        self.called = roles.outcome.name if roles.outcome else " & ".join(f"({one.name})" for one in parts) or None
        self.bad: list[tuple[Outcome, str]] = []  # an outcome, and a column of it that has to be read in some way
        self._values: list[str] = []
        self._checks: list[str] = []
        for one in self.outcomes:
            if one is None:
                continue
            sql, checks = one.sql(self.cells)
            self._values.append(sql)
            self.bad += [(one, column) for column in checks]
            self._checks += checks.values()

    def run(self) -> None:
        keys = ", ".join(f"v{i}" for i in range(len(self.names)))
        first = 0 if self.roles.outcome else 1  # without an outcome of the whole, all factors must be right
        shown = [f"({sql}) AS o{i}" for i, sql in enumerate(self._values, first)]
        shown += [f"{check} AS bad{i}" for i, check in enumerate(self._checks)]
        relation, parameters = self.source.relation(self.names, more=self.cells.shown, of=self.cells.columns)
        inner = f"(SELECT *{''.join(f', {one}' for one in shown)} FROM {relation})"
        if first and self._values:
            every = " * ".join(f"o{i}" for i in range(1, len(self._values) + 1))
            inner = f"(SELECT *, {every} AS o0 FROM {inner})"
        self.source.run("DROP TABLE IF EXISTS grouped")
        self.source.run(
            f"CREATE TEMP TABLE grouped AS SELECT {keys}, {', '.join(self._sums())} FROM {inner} GROUP BY {keys}",
            parameters | self.cells.parameters,
        )

    def _sums(self) -> list[str]:
        """What is kept of each group."""
        sums = ["count(*) AS n"]
        if self.weight:
            sums += [f"sum({_SUM.format(self._safe())}) AS w"]
            sums += [f"min({self.weight}) AS least", f"max({self.weight}) AS most", f"count({self.weight}) AS weighed"]
            sums += [f"min(CASE WHEN {self.weight} IS NULL THEN {self.weight_text} END) AS unweighed"]
            sums += [f"sum({self._safe()} * {self._safe()}) AS squares"]
        else:
            sums += ["count(*) AS w"]
        wrong = [f"o{j} < 0.5" for j in range(1, len(self.outcomes))]
        for i in range(len(self.outcomes)):
            value = f"o{i}" if not self.weight else f"o{i} * {self._safe()}"
            sums += [f"sum({_SUM.format(value)}) AS good{i}", f"min(o{i}) AS low{i}", f"max(o{i}) AS high{i}"]
            sums += [f"{self._counted(f'o{i} IS NOT NULL')} AS answers{i}"]
            if i:
                others = [f"o{j} >= 0.5" for j in range(1, len(self.outcomes)) if j != i]
                sums += [f"{self._counted(' AND '.join([f'o{i} < 0.5', *others]))} AS alone{i}"]
                sums += [f"{self._counted(' OR '.join(wrong))} AS wrong{i}"]
        return sums + [f"min(bad{i}) AS bad{i}" for i in range(len(self._checks))]

    def _safe(self) -> str:
        """A weight that can be added up; what is none is refused after the pass."""
        return f"CASE WHEN {self.weight} BETWEEN 0 AND {MOST_WEIGHT:.0f} THEN {self.weight} END"

    def _counted(self, condition: str) -> str:
        if not self.weight:
            return f"count(*) FILTER ({condition})"
        return f"coalesce(sum({_SUM.format(self._safe())}) FILTER ({condition}), 0)"

    # -- what came of it ----------------------------------------------------------------------------------------------
    def check(self) -> None:
        """Raises where a cell, an outcome or a weight is not what it must be."""
        asked = ["sum(n)"]
        for i in range(len(self.outcomes)):
            asked += [f"min(low{i})", f"max(high{i})"]
        rows, *found = self._one(asked + [f"min(bad{i})" for i in range(len(self._checks))])
        if not rows:
            raise UserError(f"{self.source.name} has a header and no rows")
        for (outcome, column), cell in zip(self.bad, found[2 * len(self.outcomes) :], strict=True):
            if cell is not None:
                raise refuse_cell(outcome.name, column, cell, plain=outcome.uses == (outcome.name,))
        if self.weight:
            self._check_weights(rows)
        for i, outcome in enumerate(self.outcomes):
            name = outcome.name if outcome else str(self.called)
            low, high = found[2 * i : 2 * i + 2]
            check_outcome(self.source, name, low, high)
            if outcome is not None:
                check_agreement(self.source, outcome, high)

    def _check_weights(self, rows: int) -> None:
        name = quoted(self.roles.weight)
        wanted = "weights say how many rows a row counts as, zero or more"
        asked = ["min(least)", "max(most)", "sum(weighed)", "min(unweighed)", "sum(w)", "sum(squares)"]
        least, most, weighed, text, total, squares = self._one(asked)
        if text is not None:
            raise UserError(f"the weight {name} has the value {quoted(text)}, which is no number; {wanted}")
        if weighed < rows:
            raise UserError(
                f"the weight {name} is empty in {rows - weighed:,} of {rows:,} rows; {wanted} (1 for a plain one)"
            )
        if least < 0:
            raise UserError(f"the weight {name} goes down to {least:g}, below zero; {wanted}")
        if most > MOST_WEIGHT:
            raise UserError(f"the weight {name} goes up to {most:g}, more than {MOST_WEIGHT:g}; {wanted}")
        if not total:
            raise UserError(f"the weight {name} is 0 in every row, so that no row counts; {wanted}")
        worth = float(total) ** 2 / squares
        self.source.notes.append(
            f"rows are counted by {name}: {rows:,} rows count as {float(total):,.6g}, and intervals take a row of "
            f"weight 3 for three; if the weights say how much rows matter, the rows are worth about {worth:,.3g}"
        )

    def _one(self, asked: Sequence[str]) -> tuple:
        return self.source.run(f"SELECT {', '.join(asked)} FROM grouped").fetchone()

    def fetched(self) -> dict[str, np.ndarray]:
        """Counts of the groups by name; sums as numbers, 0 where there is none."""
        names = ["n", "w", *(f"{kind}{i}" for i in range(len(self.outcomes)) for kind in ("answers", "good"))]
        names += [f"{kind}{i}" for i in range(1, len(self.outcomes)) for kind in ("alone", "wrong")]
        shown = ", ".join(f"coalesce(CAST({name} AS DOUBLE), 0) AS {name}" for name in names)
        found: Any = self.source.run(f"SELECT {shown} FROM grouped").fetchnumpy()
        return {name: np.asarray(found[name], dtype=float) for name in names}
