"""What a split costs that should diverge in compounds and not in atoms, and what each move would change.

Units (combinations, or sets of them that must stay together) lie on one side or the other. With T_k and H_k the weight
of compound k on the training and on the held-out side, the cost is

    C = sum_k T_k^.1 H_k^.9 / ((sum T)^.1 (sum H)^.9)  +  penalties

for an atom divergence above its bound, for elements that are not trained, and for a held-out side that is too large or
too small. The same sum with exponents of one half, over elements, is what the atom divergence is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..spaces import Space, tuple_places
from .divergence import ATOM_EXPONENT, COMPOUND_EXPONENT, PAIRS

ROUNDING = 1e-9  # below this a change, or a weight, is nothing
_WITHIN = 0.97  # of the bound, from which on an atom divergence costs: what costs little is then not above it
_PENALTY = 20.0  # of one atom divergence too much, or of a side that is off by everything


class Shares:
    """Compounds, or atoms, by unit: what stands on the held-out side of a split, and the Chernoff coefficient."""

    def __init__(self, sets: np.ndarray, strength: int, elements: int, weights: np.ndarray, units: np.ndarray):
        codes, places = tuple_places(sets, strength, elements)
        known, column = np.unique(codes, return_inverse=True)
        shape = (int(units.max()) + 1, len(known))
        self.codes = known
        self.table = scipy.sparse.coo_array((weights[places], (units[places], column)), shape=shape).tocsr()
        self.table.sum_duplicates()
        self.total = np.asarray(self.table.sum(0)).ravel()
        self.of_unit = np.asarray(self.table.sum(1)).ravel()
        self.exponent = ATOM_EXPONENT if strength == 1 else COMPOUND_EXPONENT
        #: a typical weight of one unit in one compound
        self.step = float(self.table.data.mean()) if self.table.nnz else 1.0

    @property
    def uniform(self) -> bool:
        return bool(np.ptp(self.table.data) == 0) if self.table.nnz else True

    def held(self, units: np.ndarray) -> np.ndarray:
        """(compounds,) weight on the held-out side, of a split given by booleans."""
        return units.astype(float) @ self.table

    def terms(self, held: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.maximum(total - held, 0) ** self.exponent * np.maximum(held, 0) ** (1 - self.exponent)

    def coefficient(self, numerator: Any, held: Any) -> Any:
        """The Chernoff coefficient of a numerator and the weight of the held-out side; 1, the worst, if empty."""
        rest = np.maximum(self.total.sum() - held, 0)
        both = rest**self.exponent * np.maximum(held, 0) ** (1 - self.exponent)
        return np.where(both > 0, numerator / np.maximum(both, 1e-300), 1.0)

    def estimates(self, held: np.ndarray, units: np.ndarray, sign: int) -> np.ndarray:
        """The coefficient after moving each unit, as if every weight were a typical one."""
        before = self.terms(held, self.total)
        after = self.terms(np.clip(held + sign * self.step, 0, self.total), self.total)
        numerator = before.sum() + (self.table @ ((after - before) / self.step))[units]
        return self.coefficient(numerator, held.sum() + sign * self.of_unit[units])

    def entries(self, unit: int) -> tuple[np.ndarray, np.ndarray]:
        """Compounds of a unit and its weight in each."""
        where = slice(self.table.indptr[unit], self.table.indptr[unit + 1])
        return self.table.indices[where], self.table.data[where]


@dataclass
class State:
    """A split: which units are held out, and the weight of each compound and atom there."""

    held: np.ndarray  # (units,) bool
    compounds: np.ndarray
    atoms: np.ndarray
    size: int  # combinations held out


class Costs:
    """The cost of splits of some combinations. wanted: how many are held out; bound: of the atom divergence."""

    def __init__(self, space: Space, rows: np.ndarray, wanted: int, bound: float, weights: Any, units: Any):
        n = len(rows)
        self.units = np.arange(n) if units is None else np.asarray(units)
        weigh = np.ones(n) if weights is None else np.asarray(weights, float)
        sets, elements = space.element_sets(rows), len(space.element_names)
        self.compounds = Shares(sets, PAIRS, elements, weigh, self.units)
        self.atoms = Shares(sets, 1, elements, weigh, self.units)
        self.sizes = np.bincount(self.units)
        self.wanted, self.bound, self.combinations = wanted, bound, n
        self.aim = _WITHIN * bound
        self.slack = int(self.sizes.max()) - 1  # whole units need not add up to what is wanted

    def state(self, held: np.ndarray) -> State:
        return State(held, self.compounds.held(held), self.atoms.held(held), int(self.sizes[held].sum()))

    def cost(self, state: State) -> float:
        """What is made small."""
        shared = self._coefficient(self.compounds, state.compounds)
        off = abs(state.size - self.wanted) / self.combinations
        return float(shared + self._penalty(self.atom_divergence(state), off) + self.untrained(state))

    def cost_of_compounds(self, state: State) -> float:
        """The same while whole compounds are held out, which seldom add up: room that is left costs its share only."""
        shared = self._coefficient(self.compounds, state.compounds)
        room = 1 - state.size / self.wanted
        return float(shared + self._penalty(self.atom_divergence(state), 0) + self.untrained(state) + room)

    def judged(self, state: State) -> tuple[bool, float]:
        """What splits are compared by: those of the right size and within the bound first, then the cost."""
        unfit = abs(state.size - self.wanted) > self.slack or self.atom_divergence(state) > self.bound + ROUNDING
        return unfit, round(self.cost(state), 9)

    def atom_divergence(self, state: State) -> float:
        return max(0.0, 1 - self._coefficient(self.atoms, state.atoms))

    def untrained(self, state: State) -> int:
        """Elements that the training side lacks."""
        return int((self.atoms.total - state.atoms <= ROUNDING).sum())

    def moved(self, state: State, unit: int, inward: bool) -> State:
        sign = 1 if inward else -1
        held, compounds, atoms = state.held.copy(), state.compounds.copy(), state.atoms.copy()
        held[unit] = inward
        for total, shares in ((compounds, self.compounds), (atoms, self.atoms)):
            at, weight = shares.entries(unit)
            total[at] += sign * weight
        return State(held, compounds, atoms, state.size + sign * int(self.sizes[unit]))

    def estimates(self, state: State, units: np.ndarray, inward: bool) -> np.ndarray:
        """About what each move would cost; exact where all weights are alike."""
        sign = 1 if inward else -1
        shared = self.compounds.estimates(state.compounds, units, sign)
        apart = 1 - self.atoms.estimates(state.atoms, units, sign)
        off = np.abs(state.size + sign * self.sizes[units] - self.wanted) / self.combinations
        return shared + self._penalty(apart, off)

    @property
    def exact(self) -> bool:
        """Whether estimates are what they estimate."""
        return self.compounds.uniform and self.atoms.uniform

    def _coefficient(self, shares: Shares, held: np.ndarray) -> float:
        return float(shares.coefficient(shares.terms(held, shares.total).sum(), held.sum()))

    def _penalty(self, apart: Any, off: Any) -> Any:
        return _PENALTY * (np.maximum(apart - self.aim, 0) + off)
