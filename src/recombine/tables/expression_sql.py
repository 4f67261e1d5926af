"""Expressions as SQL: names become columns we have quoted ourselves, literals become bound parameters.

What is not known stays unknown: a comparison with an empty cell is neither true nor false; "false & unknown" is false
and "true | unknown" is true. A quotient by zero is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UserError
from .base import Column, Source
from .expressions import Call, Compared, Joined, Name, Number, Part, Text, Truth, wrong
from .roles import outcome_sql

_LONGEST = 100_000  # letters of SQL
_EXACT = 2**53  # whole numbers up to this are themselves as DOUBLE


class Cells:
    """What SQL reads of a table: each column once, as text or as a number, and the values bound in it."""

    def __init__(self, source: Source):
        self.source = source
        self.selected: dict[tuple[str, str], str] = {}
        self.parameters: dict[str, Any] = {}

    def text(self, column: str) -> str:
        """The name by which SQL has the text of a column."""
        return self.selected.setdefault((column, "text"), f"x{len(self.selected)}")

    def number(self, column: str) -> str:
        """The name by which SQL has its value as a number."""
        return self.selected.setdefault((column, "number"), f"x{len(self.selected)}")

    def bound(self, value: Any) -> str:
        """The name of a parameter that holds a value."""
        name = f"e{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    @property
    def columns(self) -> list[Column]:
        return [self.source.columns[name] for name, _ in self.selected]

    @property
    def shown(self) -> list[str]:
        """What the subquery selects: cells as they are, not as factors read them."""
        found = []
        for (name, form), short in self.selected.items():
            column = self.source.columns[name]
            found.append(f"{column.cell if form == 'text' else column.numeric} AS {short}")
        return found


class Translation:
    """The SQL of a tree, and what must hold of the cells that it reads."""

    def __init__(self, text: str, what: str, cells: Cells):
        self.text, self.what, self.cells = text, what, cells
        self.bad: dict[str, str] = {}  # column -> SQL of a cell that cannot be read as it must be, else NULL

    def outcome(self, tree: Part) -> str:
        """SQL of a DOUBLE: 1 and 0 for a truth, the value of a number, NULL where it is not known."""
        if isinstance(tree, Truth):
            return f"CASE {self.truth(tree)} WHEN TRUE THEN 1.0 WHEN FALSE THEN 0.0 END"
        if isinstance(tree, Name):
            return self._answered(tree)
        return self.number(tree)

    def truth(self, tree: Part) -> str:
        """SQL of a BOOLEAN or NULL."""
        if isinstance(tree, Joined):
            parts = [self.truth(part) for part in tree.of]
            if tree.sign == "!":
                return f"(NOT {parts[0]})"
            return f"({(' AND ' if tree.sign == '&' else ' OR ').join(parts)})"
        if isinstance(tree, Compared):
            return self._compared(tree)
        if isinstance(tree, Name):
            return f"CASE {self._answered(tree, only_words=True)} WHEN 1.0 THEN TRUE WHEN 0.0 THEN FALSE END"
        raise self._wrong(tree, "a comparison should stand there, such as abs_error < 2")

    def number(self, tree: Part) -> str:
        """SQL of a DOUBLE or NULL, never NaN."""
        if isinstance(tree, Number):
            return f"CAST({self.cells.bound(tree.value)} AS DOUBLE)"
        if isinstance(tree, Name):
            return self._numeric(tree.column)
        if isinstance(tree, Call):
            sql = _calculated(tree.function, [self.number(part) for part in tree.of])
            if len(sql) > _LONGEST:  # min and max name their values twice
                raise self._wrong(tree, "too many min and max stand inside each other")
            return f"nullif({sql}, CAST('nan' AS DOUBLE))"
        if isinstance(tree, Text):
            raise self._wrong(tree, "a number should stand there, and this is text; leave the quotes out")
        raise self._wrong(tree, "a number should stand there, and this is true or false")

    # -- comparisons --------------------------------------------------------------------------------------------------
    def _compared(self, tree: Compared) -> str:
        sides = (tree.left, tree.right)
        for side in sides:
            if isinstance(side, Truth):
                raise self._wrong(side, "a comparison of comparisons; join them with & or |")
        if tree.sign in ("=", "!=") and all(isinstance(side, (Name, Text)) for side in sides):
            left, right = (self._text(side) for side in sides)
            return f"({'NOT ' if tree.sign == '!=' else ''}{same(left, right)})"
        left, right = (self.number(side) for side in sides)
        return f"({left} {'<>' if tree.sign == '!=' else tree.sign} {right})"

    def _text(self, tree: Part) -> str:
        if isinstance(tree, Text):
            return f"CAST({self.cells.bound(tree.value)} AS VARCHAR)"
        assert isinstance(tree, Name)
        return self.cells.text(tree.column)

    # -- columns ------------------------------------------------------------------------------------------------------
    def _numeric(self, column: str) -> str:
        if not self.cells.source.columns[column].number:  # text that should be numbers
            text = self.cells.text(column)
            self.bad[column] = f"CASE WHEN TRY_CAST({text} AS DOUBLE) IS NULL THEN {text} END"
        return self.cells.number(column)

    def _answered(self, tree: Name, only_words: bool = False) -> str:
        text = self.cells.text(tree.column)
        found = outcome_sql(text)
        fits = f"({found}) IN (0.0, 1.0)" if only_words else f"({found}) IS NOT NULL"
        self.bad[tree.column] = f"CASE WHEN {text} IS NOT NULL AND ({fits}) IS NOT TRUE THEN {text} END"
        return f"({found})"

    def _wrong(self, tree: Part, why: str) -> UserError:
        return wrong(self.text, self.what, tree.at, why)


def _calculated(function: str, values: Sequence[str]) -> str:
    if function in ("min", "max"):  # DuckDB's leave out what is not known
        known = " AND ".join(f"{value} IS NOT NULL" for value in values)
        return f"CASE WHEN {known} THEN {'least' if function == 'min' else 'greatest'}({', '.join(values)}) END"
    if function == "abs":
        return f"abs({values[0]})"
    if len(values) == 1:
        return f"(-{values[0]})"
    left, right = values
    return f"({left} / nullif({right}, 0.0))" if function == "/" else f"({left} {function} {right})"


def same(left: str, right: str) -> str:
    """SQL of whether two cells say the same: as text without spaces around it, as numbers, or as true and false."""
    a, b = f"TRY_CAST({left} AS DOUBLE)", f"TRY_CAST({right} AS DOUBLE)"
    words = "('true', 'false')"
    low, other = f"lower(trim({left}))", f"lower(trim({right}))"
    equal = (
        f"trim({left}) = trim({right}) OR coalesce({a} = {b} AND abs({a}) < {_EXACT}, FALSE) "
        f"OR ({low} IN {words} AND {low} = {other})"
    )
    return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN ({left} = {right} OR {equal}) END"
