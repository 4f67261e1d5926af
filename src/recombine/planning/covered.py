"""Covered: which elements are trained, which hang together, which t-tuples were seen. What a combination would buy."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ..errors import UserError
from ..spaces import Space
from ..supports.certificate import components, element_usage
from .forbidden import Forbidden

MOST_CELLS = 1 << 28  # of the table of t-tuples
_AT_ONCE = 1 << 17  # tuples of a combination that are looked up together
_MOST_KINDS = 20_000  # tuples of kinds of elements that are asked about before the plan begins


class Covered:
    """What some combinations cover, kept up to date as more are added.

    open: (elements,) * strength, true where a t-tuple was never seen and could be; symmetric, so that a set of elements
    can be looked up in any order.
    """

    def __init__(self, space: Space, rows: np.ndarray, strength: int, forbidden: Forbidden):
        self.space, self.strength, self.forbidden = space, strength, forbidden
        n = len(space.element_names)
        rows = np.asarray(rows)
        self.trained = element_usage(space, rows) > 0 if len(rows) else np.zeros(n, bool)
        #: elements that no allowed combination contains
        self.never = np.zeros(n, bool)
        if forbidden:
            self.never = np.array([not forbidden.possible((e,)) for e in range(n)])
        self.component = np.arange(n)  # an untrained element is one by itself
        for part in components(space, rows) if len(rows) else []:
            self.component[part] = part[0]
        self.possible = space.possible_tuples(strength)
        self.impossible: list[tuple[int, ...]] = []  # tuples that cannot be covered, as far as was looked
        self.n_impossible = 0
        self.open = self._all_open() if strength > 1 else np.zeros((0,) * strength, bool)
        #: (elements,) tuples of each element that cannot be had, as far as was looked; counted as degrees are
        self.lost = np.zeros(n, np.int64)
        if strength > 1:
            self._close(rows)
            if forbidden:
                before = self._counted()
                self._close_impossible()
                self.lost = before - self._counted()
        self._factorial = math.factorial(strength)
        #: (elements,) open tuples of each element, counted once for each order of the others
        self.degrees = self._counted()

    # -- questions -----------------------------------------------------------------------------------------------------
    @property
    def fresh(self) -> np.ndarray:
        """(elements,) those that were never trained and could be."""
        return ~self.trained & ~self.never

    def parts(self) -> int:
        """Components of the trained elements."""
        return len(np.unique(self.component[self.trained])) if self.trained.any() else 0

    @property
    def urgency(self) -> np.ndarray:
        """(elements,) how far behind an element is: its open tuples, and those it cannot have.

        Without the latter, an element of which much is forbidden would wait for the others, and be trained least.
        """
        return np.where(self.degrees > 0, self.degrees + self.lost, 0)

    def left(self) -> int:
        """Open tuples."""
        return int(self.degrees.sum()) // self._factorial

    def bought(self, ids: np.ndarray) -> np.ndarray:
        """(n, 3): levels trained first, components less, t-tuples seen first, by combinations of these elements."""
        there = ids >= 0
        found = np.zeros((len(ids), 3), np.int64)
        found[:, 0] = (~self.trained[ids] & there).sum(1)
        parts = np.sort(np.where(there, self.component[ids], self.component[ids[:, :1]]), axis=1)
        found[:, 1] = (np.diff(parts, axis=1) > 0).sum(1)
        if self.strength > 1:
            found[:, 2] = self._open_tuples(ids, there)
        return found

    def _open_tuples(self, ids: np.ndarray, there: np.ndarray) -> np.ndarray:
        """(n,) open tuples of each combination: looked up in every order at once where that is not too many."""
        t, width = self.strength, ids.shape[1]
        if width**t > _AT_ONCE:
            found = np.zeros(len(ids), np.int64)
            for columns in itertools.combinations(range(width), t):
                found += self.open[tuple(ids[:, columns].T)] & there[:, columns].all(1)
            return found
        axes = [tuple(slice(None) if axis == place else None for axis in range(t)) for place in range(t)]
        counts = []
        for one, real in zip(ids, there, strict=True):
            own = one[real]
            counts.append(np.count_nonzero(self.open[tuple(own[axis] for axis in axes)]))
        return np.array(counts, np.int64) // math.factorial(t)  # no tuple with an element twice is open

    # -- changes -------------------------------------------------------------------------------------------------------
    def add(self, ids: np.ndarray) -> None:
        """A combination of these elements is trained from now on."""
        ids = ids[ids >= 0]
        self.trained[ids] = True
        parts = np.unique(self.component[ids])
        self.component[np.isin(self.component, parts)] = parts[0]
        if self.strength > 1:
            block = np.ix_(*[ids] * self.strength)
            self.degrees[ids] -= self.open[block].reshape(len(ids), -1).sum(1)
            self.open[block] = False

    def refuse(self, elements: tuple[int, ...]) -> None:
        """No allowed combination has these elements together."""
        for order in itertools.permutations(elements):
            self.degrees[order[0]] -= self.open[order]
            self.lost[order[0]] += self.open[order]
            self.open[order] = False
        self._note(elements)

    def _note(self, elements: tuple[int, ...]) -> None:
        self.n_impossible += 1
        if len(self.impossible) < 100:
            self.impossible.append(tuple(sorted(int(e) for e in elements)))

    def _counted(self) -> np.ndarray:
        n = len(self.space.element_names)
        return self.open.reshape(n, -1).sum(1) if self.strength > 1 else np.zeros(n, np.int64)

    # -- the table -----------------------------------------------------------------------------------------------------
    def _all_open(self) -> np.ndarray:
        n, t = len(self.space.element_names), self.strength
        if not self.possible:
            raise UserError(f"strength={t} is more than the {self.space.width} elements of a combination")
        if n**t > MOST_CELLS:
            raise UserError(
                f"strength={t} over {n:,} levels is {n**t:,} tuples to keep, more than {MOST_CELLS:,}; "
                "use a lower strength, or merge levels"
            )
        own = np.arange(n)
        if self.space.columns:
            own = np.repeat(np.arange(self.space.width), self.space.levels)
        table = np.ones((n,) * t, bool)
        for a, b in itertools.combinations(range(t), 2):  # two levels of a factor, or a module twice, never meet
            apart = own[:, None] != own
            shape = [1] * t
            shape[a] = shape[b] = n
            table &= apart.reshape(shape)
        return table

    def _close(self, rows: np.ndarray) -> None:
        ids = self.space.elements(rows).astype(np.int64)
        for columns in itertools.combinations(range(self.space.width), self.strength):
            part = ids[:, columns]
            self.open[tuple(part[(part >= 0).all(1)].T)] = False  # ids rise along a row, so a set is met in one order
        for order in itertools.permutations(range(self.strength)):
            self.open &= self.open.transpose(order)

    def _close_impossible(self) -> None:
        """Closes tuples that no allowed combination contains, kind by kind; where kinds are many, when they are met."""
        kinds = self.forbidden.kinds
        members = [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)]
        t = self.strength
        if math.comb(len(members) + t - 1, t) > _MOST_KINDS:
            return
        for chosen in itertools.combinations_with_replacement(range(len(members)), t):
            block = np.ix_(*(members[kind] for kind in chosen))
            found = np.argwhere(self.open[block])
            if not len(found):
                continue
            first = tuple(int(members[kind][at]) for kind, at in zip(chosen, found[0], strict=True))
            if self.forbidden.possible(first):
                continue
            sets = {tuple(sorted(int(members[k][i]) for k, i in zip(chosen, at, strict=True))) for at in found}
            for one in sorted(sets):
                self._note(one)
            for order in set(itertools.permutations(chosen)):
                self.open[np.ix_(*(members[kind] for kind in order))] = False
