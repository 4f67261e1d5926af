"""The plan: which combinations to add, in order, and what each buys.

First every level is trained, then the levels are connected (one component of the co-occurrence graph), then all
t-tuples are seen, then risk is lowered: the riskiest combinations if risks are given, else those whose pairs were seen
least. The order is ours; that pairs decide is measured in the study plan-saves-data.

Without costs and forbidden combinations the first two stages are as short as can be. Of U untrained elements and c
components, a combination of K elements joins at most K of them into one, so connecting takes at least
ceil((U + c - 1) / (K - 1)) combinations, and training the levels of a factor takes as many as it has untrained ones.
The greedy choice (all untrained levels it can hold, the other places from different components) meets the larger of
both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import UserError, require_int, require_number
from ..keys import generator, key_for
from ..spaces import Space, require_free
from ..supports.certificate import components, cooccurrence, element_usage
from .costs import Costs
from .covered import Covered
from .forbidden import Forbidden
from .greedy import candidates
from .risks import Risks
from .table import Plan, Step

CANDIDATES = 50
#: without a budget the number of combinations is what counts: more candidates are tried, where elements are few enough
THOROUGH, _LOOKED_AT = 300, 12_500_000
WITHOUT_BUDGET = 100_000  # combinations at most
_EVENED = 3_000  # elements up to which pairs are counted to even them out
_TRIES = 3  # plans made of a small space, of which the shortest is taken
_SMALL = 1_000  # tuples


def plan_space(
    space: Space,
    covered: Any = None,
    *,
    budget: float | int | None = None,
    strength: int | None = None,
    forbid: Any = (),
    cost: Any = None,
    risk: Any = None,
    frequency: Any = None,
    seed: int = 0,
) -> Plan:
    """What to add to the covered combinations.

    Args:
        space: what is combined.
        covered: rows of the space that are trained already; none if left out.
        budget: how many combinations, or with costs how much they may cost in all; without it, until all is covered.
        strength: every set of so many elements is to be seen together; pairs if left out, of one factor its levels.
        forbid: expressions such as "weather=snow & time=noon", or mappings from factors to a level or several.
        cost: mapping from levels to costs, which add up; a function of rows; or `Costs`.
        risk: a function of rows (or of rows and of what is trained by then), or a mapping from ranks to risks.
        frequency: a function of rows, with `levels()`: how often combinations and levels are met in use. Of what buys
            the same, common partners are preferred; once all is covered, risk x frequency decides.
        seed: of what is drawn where several would do.

    Example:
        >>> found = rc.planning.plan_space(rc.Product(color=3, shape=4))
        >>> len(found.rows), found.after["unseen"]
        (12, 0)
    """
    if not isinstance(space, Space):
        raise UserError(f"a plan needs a space, such as Product(color=3, shape=4); got {space!r}")
    require_free(space, "a plan")
    if strength is None:
        strength = min(2, space.width)
    strength = require_int("strength", strength, at_least=1, at_most=space.width)
    require_int("seed", seed, at_least=0)
    if budget is not None:
        budget = require_number("budget", budget, above=0)
    nothing = covered is None or (hasattr(covered, "__len__") and not len(covered))
    rows = np.zeros((0, space.width), space.dtype) if nothing else np.asarray(space.check(covered))
    rows = _distinct(space, rows)
    forbidden = Forbidden(space, forbid)
    costs = cost if isinstance(cost, Costs) else Costs(space, cost)
    small = strength > 1 and space.possible_tuples(strength) <= _SMALL
    found = None
    for attempt in range(_TRIES if small else 1):
        rng = generator(key_for(f"plan-{attempt}", seed))
        risks = Risks(space, risk, seed)
        made = _Planner(space, rows, budget, strength, forbidden, costs, risks, rng, frequency).run()
        if found is None or _better(made, found):
            found = made
        if made.covered_at is None:
            break  # cut by the budget: another try would end there too
    assert found is not None
    return found


def _distinct(space: Space, rows: np.ndarray) -> np.ndarray:
    """Rows without repetitions, in order; by rank where ranks are machine numbers, which is many times faster."""
    if not len(rows):
        return rows
    return space.unrank(np.unique(space.rank(rows))) if space.size < 2**62 else np.unique(rows, axis=0)


def fewest_to_connect(space: Space, covered: Any = None) -> int:
    """The fewest combinations after which every element is trained and all hang together: exact.

    Args:
        space: what is combined.
        covered: rows of the space that are trained already; none if left out.

    Example:
        >>> rc.planning.fewest_to_connect(rc.Product(color=4, shape=5))
        8
    """
    require_free(space, "a plan")
    rows = np.zeros((0, space.width), space.dtype) if covered is None else np.asarray(space.check(covered))
    usage = element_usage(space, rows)
    untrained = [int((usage[list(members)] == 0).sum()) for members in space.classes]
    parts = len(components(space, rows)) if len(rows) else 0
    most = max(untrained) if space.columns else math.ceil(untrained[0] / space.width)
    joins = sum(untrained) + parts - 1
    if space.width == 1:  # a combination of one element joins nothing
        return most
    return max(most, math.ceil(joins / (space.width - 1)))


def _better(new: Plan, old: Plan) -> bool:
    if (new.covered_at is None) != (old.covered_at is None):
        return new.covered_at is not None
    return new.covered_at is not None and new.cost_to_cover < old.cost_to_cover


class _Planner:
    """One plan in the making."""

    def __init__(
        self,
        space: Space,
        rows: np.ndarray,
        budget: float | None,
        strength: int,
        forbidden: Forbidden,
        costs: Costs,
        risks: Risks,
        rng: np.random.Generator,
        frequency: Any = None,
    ):
        self.frequency = frequency
        self.likes = None if frequency is None else np.asarray(frequency.levels(), float)
        self.space, self.budget, self.costs, self.risks, self.rng = space, budget, costs, risks, rng
        self.rows = rows
        self.forbidden = forbidden
        self.covered = Covered(space, rows, strength, forbidden)
        self.usage = element_usage(space, rows) if len(rows) else np.zeros(len(space.element_names), np.int64)
        self.thrift = costs.thrift()
        self.done = set(space.rank(rows).tolist()) if len(rows) else set()
        self.plan = Plan(space, self.covered, already=len(rows))
        self.joinable = True
        self.pairs: np.ndarray | None = None  # counts of pairs, once they are to be evened out
        self.left = budget if budget is not None else math.inf
        affordable = min(THOROUGH, _LOOKED_AT // len(space.element_names) ** 2)
        self.tried = CANDIDATES if budget is not None else max(CANDIDATES, affordable)

    def run(self) -> Plan:
        while len(self.plan.steps) < WITHOUT_BUDGET and self.left > 0:
            stage = self._stage()
            if stage == "risk" and self.plan.covered_at is None:
                self.plan.covered_at = len(self.plan.steps)
            if stage == "risk" and self.budget is None:
                break
            found = self._next(stage)
            if found is None:
                continue  # the stage turned out impossible, and is over
            if not len(found):
                break
            if not self._take(found, stage):
                break
        if self.plan.covered_at is None and self._stage() == "risk":
            self.plan.covered_at = len(self.plan.steps)
        self.plan.finish()
        return self.plan

    def _stage(self) -> str:
        if self.covered.fresh.any():
            return "levels"
        if self.joinable and self.space.width > 1 and self.covered.parts() > 1:
            return "connect"
        return "cover" if self.covered.left() else "risk"

    # -- candidates -------------------------------------------------------------------------------------------------
    def _next(self, stage: str) -> np.ndarray | None:
        """Rows that serve the stage, none if nothing is left at all, None if the stage is to be asked again."""
        if stage == "risk":
            return self._risky() if self.risks else self._evened()
        staged = stage != "cover"
        made = candidates(self.covered, self.rng, self.tried, self.thrift, staged=staged, likes=self.likes)
        rows = np.unique(made, axis=0)
        at = ("levels", "connect", "cover").index(stage)
        serves = self.covered.bought(self.space.elements(rows))[:, at] > 0
        if serves.any():
            return rows[serves]
        # Forbidden clauses are in the way of all of them, or luck was: search for one.
        return {"levels": self._one_level, "connect": self._one_join, "cover": self._one_tuple}[stage]()

    def _one_level(self) -> np.ndarray | None:
        element = int(np.flatnonzero(self.covered.fresh)[0])
        row = self.forbidden.row((element,), self.rng.random(len(self.thrift)) * self.thrift)
        assert row is not None  # it is fresh because some allowed combination has it
        return row[None]

    def _one_join(self) -> np.ndarray | None:
        """A row that joins two components; else the stage is over, and what cannot be joined is written down."""
        trained = np.flatnonzero(self.covered.trained)
        parts = self.covered.component[trained]
        kinds = self.forbidden.kinds
        # one element of each kind in each component is enough to ask
        _, first = np.unique(np.stack([parts, kinds[trained]], axis=1), axis=0, return_index=True)
        asked = trained[first]
        column = np.zeros(len(kinds), np.int64)
        if self.space.columns:
            column = np.repeat(np.arange(self.space.width), self.space.levels)
        for i, a in enumerate(asked):
            for b in asked[i + 1 :]:
                same_factor = bool(self.space.columns) and column[a] == column[b]
                if self.covered.component[a] == self.covered.component[b] or same_factor:
                    continue
                row = self.forbidden.row((int(a), int(b)), self.rng.random(len(kinds)))
                if row is not None:
                    return row[None]
        self.joinable = False
        self.plan.apart = self.covered.parts()
        return None

    def _one_tuple(self) -> np.ndarray | None:
        elements = tuple(int(e) for e in np.unravel_index(int(np.argmax(self.covered.open)), self.covered.open.shape))
        if not self.forbidden.possible(elements):
            self.covered.refuse(elements)
            return None
        row = self.forbidden.row(elements, self.covered.degrees + self.rng.random(len(self.thrift)))
        if row is None:
            raise RuntimeError(f"{elements} can be completed and was not")
        return row[None]

    def _risky(self) -> np.ndarray:
        rows = self.risks.pool(self.rows)
        rows = rows[self._new(rows)]
        if self.forbidden:
            rows = rows[self.forbidden.allowed(rows)]
        rows = rows[self.costs.of(rows) <= self.left + 1e-9] if len(rows) else rows
        if not len(rows):
            return rows
        value = self.risks.of(rows, self.rows) * self.risks.discount(rows) / self.costs.of(rows)
        value = np.where(np.isnan(value), -1.0, value * self._often(rows))
        best = np.argsort(-value, kind="stable")[: self.risks.shortlist]
        return rows[best]

    def _evened(self) -> np.ndarray:
        """Rows of pairs that were seen least; of modules, of the size that is furthest behind its share of the space.

        Pairs alone would ask for the largest sets only, and a net that was never shown small ones fails on them.
        """
        n = len(self.space.element_names)
        if n > _EVENED or self.space.width < 2:
            self.plan.notes.append("All is covered; the rest of the budget is not spent.")
            return np.zeros((0, self.space.width), self.space.dtype)
        pairs = self.pairs
        if pairs is None:
            pairs = cooccurrence(self.space, self.rows) if len(self.rows) else np.zeros((n, n), np.int64)
            self.pairs = pairs
        worth = 100.0 / (1 + pairs)
        size = None if self.space.columns else self._lagging_size()
        rows = candidates(self.covered, self.rng, CANDIDATES, self.thrift, extra=worth, staged=False, size=size)
        rows = np.unique(rows, axis=0)
        rows = rows[self._new(rows)] if len(rows) else rows
        if not len(rows):  # all good ones are trained: any that is not
            rows = self._any_new()
        ids = self.space.elements(rows)
        score = np.array([self._evenness(one, worth) for one in ids]) / self.costs.of(rows)
        return rows[score >= score.max() - 1e-9] if len(rows) else rows

    def _lagging_size(self) -> int:
        sizes = np.bincount((self.space.elements(self.rows) >= 0).sum(1), minlength=self.space.width + 1)[1:]
        modules = len(self.space.element_names)
        there = np.array([math.comb(modules, k) for k in range(1, self.space.width + 1)], float)
        lag = there / there.sum() * (sizes.sum() + 1) - sizes
        return 1 + int(np.argmax(np.where(sizes < there, lag, -np.inf)))  # a size of which all are there has no more

    def _evenness(self, ids: np.ndarray, worth: np.ndarray) -> float:
        ids = ids[ids >= 0]
        return float(worth[np.ix_(ids, ids)].sum() - worth[ids, ids].sum())

    def _any_new(self) -> np.ndarray:
        if self.space.size <= 200_000:
            rest = np.ones(self.space.size, bool)
            rest[list(self.done)] = False
            rows = self.space.unrank(self.rng.permutation(np.flatnonzero(rest))[:CANDIDATES])
        else:
            rows = np.unique(self.space.sample(self.rng, 20 * CANDIDATES), axis=0)
            rows = rows[self._new(rows)]
        return rows[self.forbidden.allowed(rows)] if self.forbidden else rows

    def _new(self, rows: np.ndarray) -> np.ndarray:
        return np.array([rank not in self.done for rank in self.space.rank(rows).tolist()], bool)

    # -- choice -----------------------------------------------------------------------------------------------------
    def _take(self, rows: np.ndarray, stage: str) -> bool:
        """Adds the best of the rows that the budget allows; False if it allows none."""
        costs = self.costs.of(rows)
        fits = costs <= self.left + 1e-9
        if not fits.any():
            self.plan.notes.append(f"{self.left:g} of the budget is left, and nothing that is needed costs so little.")
            return False
        rows, costs = rows[fits], costs[fits]
        elements = self.space.elements(rows)
        bought = self.covered.bought(elements)
        risk = self.risks.of(rows, self.rows) if self.risks else np.full(len(rows), math.nan)
        lowered = self.risks.lowered(rows, self.rows, risk) if self.risks else risk
        keys = bought / costs[:, None]
        if stage == "cover":  # levels are trained, and joins that are impossible must not count
            keys = keys[:, 2:]
        tie = np.where(np.isnan(lowered), 0.0, lowered) / costs * self._often(rows)
        last = self._rarity(elements) if self.frequency is None else self._often(rows)
        best = np.lexsort((self.rng.random(len(rows)), last, tie, *keys.T[::-1]))[-1]
        row, ids = rows[best], elements[best]
        rarest = None
        if stage == "risk" and self.pairs is not None:
            own = ids[ids >= 0]
            counts = self.pairs[np.ix_(own, own)]
            rarest = int(counts[~np.eye(len(own), dtype=bool)].min()) if len(own) > 1 else None
            self.pairs[np.ix_(own, own)] += 1
        words = self._words(ids)
        self.covered.add(ids)
        self.usage[ids[ids >= 0]] += 1
        self.rows = np.concatenate([self.rows, row[None]])
        self.done.add(int(self.space.rank(row[None])[0]))
        self.risks.add(row)
        self.left -= float(costs[best])
        self.plan.add(
            Step(
                row=row,
                stage=stage,
                levels=int(bought[best, 0]),
                joined=int(bought[best, 1]),
                tuples=int(bought[best, 2]),
                cost=float(costs[best]),
                risk=float(risk[best]),
                lowered=float(lowered[best]),
                rarest=rarest,
                **words,
            )
        )
        return True

    def _often(self, rows: np.ndarray) -> np.ndarray:
        """How often combinations are met in use; 1 where nobody says."""
        return np.ones(len(rows)) if self.frequency is None else np.asarray(self.frequency(rows), float)

    def _rarity(self, elements: np.ndarray) -> np.ndarray:
        """Of combinations that buy the same: those whose elements were trained less often, where a budget may end it.

        Without one all is covered in the end, and chance finds shorter ways.
        """
        there = elements >= 0
        return -(self.usage[elements] * there).sum(1) / there.sum(1) * (self.budget is not None)

    def _words(self, ids: np.ndarray) -> dict[str, Any]:
        """Which levels and groups a row brings, by name, before it is added."""
        ids = ids[ids >= 0]
        names = self.space.element_names
        joined = self.covered.component[ids]
        first = [int(ids[np.flatnonzero(joined == part)[0]]) for part in dict.fromkeys(joined.tolist())]
        new_pairs = []
        if self.covered.strength > 1:
            block = np.argwhere(self.covered.open[np.ix_(*[ids] * self.covered.strength)])
            rising = block[(np.diff(block, axis=1) > 0).all(1)][:3]
            new_pairs = [tuple(names[int(ids[i])] for i in one) for one in rising]
        return {
            "new_levels": [names[int(e)] for e in ids if not self.covered.trained[e]],
            "groups": [names[e] for e in first] if len(first) > 1 else [],
            "new_tuples": new_pairs,
        }
