"""Forbidden: which combinations cannot be had, and whether a part can still be completed to one that can.

A clause forbids what lies in all of its sets at once. Whether some levels can stand together is a question about all
clauses (a forbids b, b is the only one left, ...), answered by search: where all but one column of a clause lie inside
it, the last is kept out of it; where nothing follows any more, an open clause is split in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UserError
from ..spaces import Space, require_free
from .forbidden_expressions import PRESENT, Clause, clauses_of, domain

_MOST_SPLITS = 100_000  # of one search; the question is as hard as any puzzle


class Forbidden:
    """What cannot be combined in a space.

    Args:
        space: what is combined.
        forbid: expressions such as "weather=snow & time=noon", or mappings from factors to a level or several.

    Example:
        >>> weather = rc.Product(weather=["sun", "snow"], time=["noon", "night"])
        >>> rc.planning.Forbidden(weather, "weather=snow & time=noon").allowed(weather.enumerate())
        array([ True,  True, False,  True])
    """

    def __init__(self, space: Space, forbid: Any = ()):
        require_free(space, "a plan")
        self.space = space
        if isinstance(forbid, (str, Mapping)):
            forbid = [forbid]
        if forbid is not None and not isinstance(forbid, Iterable):
            raise UserError(f"forbid={forbid!r} is no list of expressions such as 'weather=snow & time=noon'")
        self.clauses: list[Clause] = []
        self.spelled: list[str] = []  # the expression that each clause comes from
        for one in forbid or ():
            text = _spell(one) if isinstance(one, Mapping) else one
            found = clauses_of(text, space)
            self.clauses += found
            self.spelled += [text] * len(found)
        self._possible: dict[tuple[int, ...], bool] = {}
        if self.clauses and self.complete(()) is None:
            raise UserError(f"the forbidden combinations leave nothing of {space}; forbid fewer")

    def __bool__(self) -> bool:
        return bool(self.clauses)

    @property
    def expressions(self) -> list[str]:
        """What is forbidden, each expression once."""
        return list(dict.fromkeys(self.spelled))

    # -- whole combinations --------------------------------------------------------------------------------------------
    def allowed(self, rows: np.ndarray) -> np.ndarray:
        """Which combinations are not forbidden."""
        return ~inside_any(self.space, self.clauses, np.asarray(rows))

    # -- parts of combinations ----------------------------------------------------------------------------------------
    def possible(self, elements: Sequence[int]) -> bool:
        """Whether some allowed combination contains these elements. Answers are kept by kind of element."""
        if not self.clauses:
            return True
        kinds = tuple(sorted(int(self.kinds[e]) for e in elements))
        if kinds not in self._possible:
            self._possible[kinds] = self.complete(elements) is not None
        return self._possible[kinds]

    def why(self, elements: Sequence[int]) -> str:
        """The first expression that elements run into by themselves, or that several together rule them out."""
        domains = self._with(elements)
        for clause, text in zip(self.clauses, self.spelled, strict=True):
            if domains is not None and all(not domains[c] & ~bits for c, bits in clause.items()):
                return f"forbidden by {text!r}"
        return "every combination that contains them is forbidden by one expression or another"

    def complete(self, elements: Sequence[int]) -> dict[int, int] | None:
        """Sets of positions, one a column, in which no clause can hold any more; None if there are none."""
        domains = self._with(elements)
        self._splits = 0
        return None if domains is None else self._search(domains)

    def row(self, elements: Sequence[int], prefer: np.ndarray) -> np.ndarray | None:
        """An allowed combination with these elements, of the elements that `prefer` (a number each) likes best."""
        domains = self.complete(elements)
        if domains is None:
            return None
        row = np.full(self.space.width, -1, dtype=self.space.dtype)
        if self.space.columns:
            for column, members in enumerate(self.space.classes):
                inside = np.flatnonzero(_mask(domains[column], len(members)))
                row[column] = inside[np.argmax(prefer[np.array(members)[inside]])]
            return row
        chosen = [module for module, bits in domains.items() if bits == PRESENT]
        if not chosen:
            chosen = [max((m for m, bits in domains.items() if bits & PRESENT), key=lambda m: prefer[m])]
        row[: len(chosen)] = sorted(chosen)
        return row

    @cached_property
    def kinds(self) -> np.ndarray:
        """(elements,) a number: elements of one column with the same number are in the same clauses."""
        signs: dict[Any, int] = {}
        found = np.zeros(len(self.space.element_names), np.int64)
        for column, members in enumerate(self._columns()):
            mentioned = [(i, c[column]) for i, c in enumerate(self.clauses) if column in c]
            # modules in no clause stand in for each other; factors in no clause do not, their columns differ
            own = column if mentioned or self.space.columns else -1
            for position, element in enumerate(members):
                bit = 1 << position if self.space.columns else PRESENT
                sign = (own, tuple(i for i, bits in mentioned if bits & bit))
                found[element] = signs.setdefault(sign, len(signs))
        return found

    @cached_property
    def watched(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The column of each element; and of each clause its elements, its columns, and modules it wants absent."""
        space, columns = self.space, self._columns()
        column_of = np.zeros(len(space.element_names), np.int64)
        for column, members in enumerate(columns):
            column_of[list(members)] = column
        kept = [c for c in self.clauses if space.columns or PRESENT in c.values()]
        inside = np.zeros((len(kept), len(column_of)), np.float32)
        mentions, absent = (np.zeros((len(kept), len(columns)), bool) for _ in range(2))
        for i, clause in enumerate(kept):
            for column, bits in clause.items():
                if space.columns:
                    inside[i, list(columns[column])] = _mask(bits, len(columns[column]))
                    mentions[i, column] = True
                elif bits == PRESENT:
                    inside[i, column] = mentions[i, column] = True
                else:
                    absent[i, column] = True
        return column_of, inside, mentions, absent

    def _columns(self) -> list[tuple[int, ...]]:
        if self.space.columns:
            return list(self.space.classes)
        return [(module,) for module in range(len(self.space.element_names))]

    def _with(self, elements: Sequence[int]) -> dict[int, int] | None:
        domains = {column: domain(self.space, column) for column in range(len(self._columns()))}
        for element in elements:
            if self.space.columns:
                column = int(np.searchsorted(self._starts, element, side="right")) - 1
                domains[column] &= 1 << (int(element) - self._starts[column])
            else:
                domains[int(element)] &= PRESENT
        return domains if all(domains.values()) else None

    @cached_property
    def _starts(self) -> list[int]:
        return [members[0] for members in self.space.classes]

    def _search(self, domains: dict[int, int]) -> dict[int, int] | None:
        open_clauses = self._propagate(domains)
        if open_clauses is None:
            return None
        if not self.space.columns:
            present = sum(bits == PRESENT for bits in domains.values())
            if present > max(self.space.sizes) or not any(bits & PRESENT for bits in domains.values()):
                return None
        if not open_clauses:
            return domains
        self._splits += 1
        if self._splits > _MOST_SPLITS:
            raise UserError(f"what is forbidden in {self.space} is too tangled to decide; write fewer expressions")
        clause = self.clauses[open_clauses[0]]
        column = next(c for c, bits in clause.items() if domains[c] & bits and domains[c] & ~bits)
        for part in (domains[column] & ~clause[column], domains[column] & clause[column]):
            found = self._search({**domains, column: part})
            if found is not None:
                return found
        return None

    def _propagate(self, domains: dict[int, int]) -> list[int] | None:
        """Keeps columns out of clauses where they are the last hope; the clauses still open, or None: no way."""
        while True:
            open_clauses, changed = [], False
            for i, clause in enumerate(self.clauses):
                free = None
                for column, bits in clause.items():
                    here = domains[column]
                    if not here & bits:
                        break  # it cannot hold
                    if here & ~bits:
                        if free is not None:
                            open_clauses.append(i)
                            break
                        free = column
                else:
                    if free is None:
                        return None
                    domains[free] &= ~clause[free]
                    changed = True
            if not changed:
                return open_clauses


class Watch:
    """Clauses that rows in the making come near to: which elements each row must not take next."""

    def __init__(self, forbidden: Forbidden, rows: int):
        self.column_of, self.inside, self.mentions, self.absent = forbidden.watched
        self.left = np.tile(self.mentions.sum(1), (rows, 1))  # columns of the clause that a row has not decided
        self.alive = np.ones((rows, len(self.inside)), bool)

    def take(self, element: np.ndarray) -> None:
        """Each row took an element (-1: none)."""
        took = element >= 0
        columns = self.column_of[element]
        mentioned = self.mentions[:, columns].T & took[:, None]
        inside = self.inside[:, element].T > 0
        self.left -= mentioned & inside
        self.alive &= ~(mentioned & ~inside) & ~(self.absent[:, columns].T & took[:, None])

    def blocked(self) -> np.ndarray:
        """(rows, elements): taking this one would complete a clause."""
        near = (self.alive & (self.left == 1)).astype(np.float32)
        return near @ self.inside > 0


def inside_any(space: Space, clauses: Sequence[Clause], rows: np.ndarray) -> np.ndarray:
    """(rows,) which combinations lie in one of the clauses."""
    found = np.zeros(len(rows), bool)
    present = space.multihot(rows) if clauses and not space.columns else None
    for clause in clauses:
        inside = np.ones(len(rows), bool)
        for column, bits in clause.items():
            if present is not None:
                inside &= present[:, column] if bits == PRESENT else ~present[:, column]
            else:
                inside &= _mask(bits, space.levels[column])[rows[:, column]]
        found |= inside
    return found


def _mask(bits: int, length: int) -> np.ndarray:
    raw = np.frombuffer(bits.to_bytes((length + 7) // 8, "little"), np.uint8)
    return np.unpackbits(raw, bitorder="little")[:length].astype(bool)


def _spell(mapping: Mapping[Any, Any]) -> str:
    """The expression that a mapping stands for."""

    def quote(value: Any) -> str:
        return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    parts = []
    for name, levels in mapping.items():
        several = levels if isinstance(levels, (list, tuple, set, frozenset)) else [levels]
        parts.append(f"{quote(name)} in {{{', '.join(quote(level) for level in several)}}}")
    return " & ".join(parts)
