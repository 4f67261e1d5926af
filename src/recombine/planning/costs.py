"""Costs: what a combination costs to collect. Costs of levels add up; a combination may have a price of its own."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import UserError, describe
from ..spaces import Space


class Costs:
    """The cost of any combination.

    Args:
        space: what is combined.
        cost: None (one each), a mapping from elements ("weather=snow", ("weather", "snow")) or, nested, from factors to
            levels to costs, which add up, or a function from rows to costs.
        base: what a combination costs before its levels; 1 if no level has a cost, else 0.
        own: rank -> cost of combinations that have a price of their own.

    Example:
        >>> weather = rc.Product(weather=["sun", "snow"], time=["noon", "night"])
        >>> rc.planning.Costs(weather, {"weather=snow": 5, "time=night": 2}, base=1).of(weather.enumerate())
        array([1., 3., 6., 8.])
    """

    def __init__(
        self, space: Space, cost: Any = None, *, base: float | None = None, own: Mapping[int, float] | None = None
    ):
        self.space = space
        self.elements = np.zeros(len(space.element_names))  # (elements,)
        self.own = dict(own or {})
        self._function: Callable[[np.ndarray], Any] | None = None
        if callable(cost):
            self._function = cost
        elif isinstance(cost, Mapping):
            for element, value in _flat(cost):
                self.elements[space.element_id(element)] = _number(element, value, at_least=0.0)
        elif cost is not None:
            raise UserError(f"cost={cost!r} is neither a mapping from levels to costs nor a function of rows")
        self.base = base if base is not None else float(not self.elements.any())
        self.even = not self.elements.any() and not self.own and self._function is None

    def of(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the cost of each combination."""
        rows = np.asarray(rows)
        if self._function is not None:
            costs = numbers_of("cost", self._function, rows)
            if costs.shape != (len(rows),):
                raise UserError(f"the cost function gave {costs.shape} for {len(rows)} rows; one number each is needed")
        else:
            ids = self.space.elements(rows)
            costs = self.base + np.append(self.elements, 0.0)[ids].sum(1)  # -1 reads the last
            if self.own:
                ranks = self.space.rank(rows).tolist()
                costs = np.array([self.own.get(rank, cost) for rank, cost in zip(ranks, costs.tolist(), strict=True)])
        bad = ~np.isfinite(costs) | (costs <= 0)
        if bad.any():
            worst = rows[np.flatnonzero(bad)[0]]
            raise UserError(f"the cost of {self.space.describe(worst)} is {costs[bad][0]:g}; it must be above 0")
        return costs

    def thrift(self) -> np.ndarray:
        """(elements,) factors above one for elements that are cheaper than the rest of their kind."""
        factors = np.ones(len(self.elements))
        if not self.elements.any():
            return factors
        means = [self.elements[list(members)].mean() for members in self.space.classes]
        per_slot = [mean * (1 if self.space.columns else self.space.width) for mean in means]
        typical = self.base + sum(per_slot)
        for members, mean in zip(self.space.classes, means, strict=True):
            at = list(members)
            factors[at] = typical / np.maximum(typical + self.elements[at] - mean, 1e-3 * typical)
        return factors


def additive(space: Space, rows: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> Costs:
    """Costs of levels that fit the costs of known combinations best (least squares with a slight pull to the mean).

    What an unseen combination costs is not known; that costs add up over levels is our assumption. No estimate is
    taken below the least cost that was seen.

    Args:
        space: what is combined.
        rows: (N, K) combinations whose cost is known.
        costs: (N,) theirs, above 0.
        weights: (N,) how much each counts.

    Example:
        >>> known = grid.enumerate()
        >>> fitted = rc.planning.additive(grid, known, 1.0 + known.sum(1), np.ones(len(known)))
        >>> fitted.of(np.array([[5, 5]])).round()
        array([11.])
    """
    if not np.isfinite(costs).all() or (costs <= 0).any():
        raise UserError("a cost in the table is not above 0; every cost must be a positive number")
    hot = space.multihot(rows).astype(float)
    mean = float(np.average(costs, weights=weights))
    gram = hot.T @ (hot * weights[:, None]) + 1e-3 * weights.mean() * np.eye(hot.shape[1])
    effects = np.linalg.solve(gram, hot.T @ (weights * (costs - mean)))
    found = Costs(space, base=mean)
    found.elements = effects
    found.even = False
    least = float(costs.min())

    def floored(some: np.ndarray) -> np.ndarray:
        ids = space.elements(np.asarray(some))
        return np.maximum(mean + np.append(effects, 0.0)[ids].sum(1), least)

    found._function = floored
    return found


def _flat(cost: Mapping[Any, Any]):
    for key, value in cost.items():
        if isinstance(value, Mapping):
            yield from (((key, level), price) for level, price in value.items())
        else:
            yield key, value


def _number(what: Any, value: Any, at_least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value) or value < at_least:
        raise UserError(f"the cost of {what!r} is {value!r}; it must be a number of at least {at_least:g}")
    return float(value)


def numbers_of(kind: str, function: Any, *arguments: np.ndarray) -> np.ndarray:
    """What a function of the user's gives, as numbers."""
    try:
        return np.asarray(function(*(one.copy() for one in arguments)), dtype=float)
    except Exception as problem:
        raise UserError(f"the {kind} function raised {describe(problem)}") from problem
