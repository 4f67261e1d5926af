"""Next: which combinations to collect first, what each buys, and how many examples it takes.

With outcomes by priority = risk x frequency: the share of rows in use that fail on it. Each one taken makes those that
share pairs with it count for less, since a list of the riskiest is otherwise many times the same. Without outcomes by
the plan: levels and pairs never trained, common partners preferred.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..labels import listed, quoted
from ..planning import plan_space
from ..planning.forbidden import Forbidden
from ..planning.risks import shared_discount
from ..tables import Observed
from .findings import Impossible
from .frequency import Frequency
from .risk import RiskReport
from .seen import Seen

SHOWN = 10
_RISKS = 5_000  # of the combinations of highest priority, which suggestions are chosen from
_PAIRED = 4_000  # levels in all; of more, a table of pairs takes longer than a preview may


@dataclass(frozen=True)
class Suggestion:
    """A combination to add, and what it buys.

    Args:
        combination: factor -> level.
        levels: levels trained for the first time.
        joined: groups fewer.
        pairs: pairs seen for the first time.
        buys: all of it in words.
        examples: how many rows it takes to have as many as combinations that hold have.
        trained: rows of it that were trained on.
        risk: that it fails as things are; NaN if not known.
        frequency: share of rows in use that are of it.
        questioned: it has a pair that never occurs though it was to be expected.
    """

    combination: dict[str, str]
    levels: int
    joined: int
    pairs: int
    buys: str
    examples: int = 1
    trained: float = 0
    risk: float = math.nan
    frequency: float = math.nan
    questioned: bool = False

    @property
    def priority(self) -> float:
        """The share of rows in use that fail on it; NaN without a risk."""
        return self.risk * self.frequency

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"priority": self.priority}


def known_risks(risk: RiskReport, observed: Observed, most: int | None = None) -> dict[int, float]:
    """Rank -> risk of combinations for which there is one, the riskiest first."""
    known = np.flatnonzero(~np.isnan(risk.probability))[:most]
    ranks = observed.space.rank(risk.combinations[known]).tolist()
    return dict(zip(ranks, risk.probability[known].tolist(), strict=True))


def next_combinations(
    observed: Observed,
    seen: Seen,
    risk: RiskReport,
    impossible: Iterable[Impossible] = (),
    forbidden: Forbidden | None = None,
    n: int = SHOWN,
) -> list[Suggestion]:
    """The first n combinations to collect, in order.

    Args:
        observed: the table.
        seen: what of it was trained.
        risk: of seen and unseen combinations.
        impossible: pairs that never occur though they were to be expected: what has one comes last.
        forbidden: what cannot be had.
        n: how many.
    """
    frequency = Frequency(observed)
    doubted = _Doubted(observed, impossible)
    pool, chances = _at_risk(observed, risk)
    if len(pool):
        return _by_priority(observed, seen, risk, frequency, doubted, pool, chances, n)
    space = observed.space
    unseen = space.size - len(seen)
    if not unseen:
        return []
    strength = 2 if space.width > 1 and len(space.element_names) <= _PAIRED else 1
    made = plan_space(
        space,
        seen.combinations,
        budget=min(n, unseen),
        strength=strength,
        forbid=forbidden.expressions if forbidden else (),
        frequency=frequency,
    )
    each = _examples(observed, risk)
    steps = [
        Suggestion(
            observed.labels(step.row),
            step.levels,
            step.joined,
            step.tuples,
            f"{step.words(made.strength)}; {_takes(each, 0)}{doubted.words(step.row)}",
            each,
            frequency=float(frequency(step.row[None])[0]),
            questioned=doubted(step.row),
        )
        for step in made
    ]
    return sorted(steps, key=lambda one: one.questioned)  # the order is kept otherwise


# -- by priority ------------------------------------------------------------------------------------------------------
def _at_risk(observed: Observed, risk: RiskReport) -> tuple[np.ndarray, np.ndarray]:
    """Combinations with a risk, unseen and seen, and the risk of each."""
    rows = np.concatenate([risk.combinations, observed.rows[observed.seen]])
    chances = np.concatenate([risk.probability, risk.seen_probability])
    known = ~np.isnan(chances)
    return rows[known], chances[known]


def _by_priority(
    observed: Observed,
    seen: Seen,
    risk: RiskReport,
    frequency: Frequency,
    doubted: _Doubted,
    pool: np.ndarray,
    chances: np.ndarray,
    n: int,
) -> list[Suggestion]:
    above = chances > _reference(risk)  # what fails no more often than combinations do needs no more data
    pool, chances = pool[above], chances[above]
    often = frequency(pool)
    # what may be impossible comes after all that is known to occur
    order = np.lexsort((-chances * often, doubted.each(pool)))[:_RISKS]
    pool, chances, often = pool[order], chances[order], often[order]
    doubts = doubted.each(pool)
    each = _examples(observed, risk)
    left, taken, found = np.ones(len(pool), bool), [], []
    while len(found) < n and left.any():
        worth = np.where(left, chances * often * shared_discount(observed.space, pool, taken), -1.0)
        worth = np.where(doubts & left, worth * 1e-9, worth)
        best = int(np.argmax(worth))
        left[best] = False
        taken.append(pool[best])
        found.append(_suggested(observed, seen, pool[best], chances[best], often[best], each, doubted))
    return found


def _suggested(
    observed: Observed, seen: Seen, row: np.ndarray, chance: float, often: float, each: int, doubted: _Doubted
) -> Suggestion:
    place = np.flatnonzero((observed.rows == row).all(1))
    trained = float(observed.trained[place[0]]) if len(place) else 0.0
    ids = observed.space.elements(row[None])[0]
    fresh = [observed.space.element_names[i] for i in ids if not seen.usage[i]]
    pairs = 0
    if observed.space.width > 1 and seen.affordable(2):
        counts, _, there = seen.tuple_counts(row[None], 2)
        pairs = int(((counts == 0) & there).sum())
    said = [f"fails with probability {chance:.0%}, is {often:.2%} of the rows"]
    if fresh:
        said.append(f"trains {listed([quoted(name, 40) for name in fresh])} for the first time")
    if pairs:
        said.append(f"shows {pairs} new pair{'s' if pairs > 1 else ''}")
    more = _more(each, trained)
    said.append(_takes(more, trained))
    return Suggestion(
        observed.labels(row),
        len(fresh),
        0,
        pairs,
        "; ".join(said) + doubted.words(row),
        more,
        trained,
        float(chance),
        float(often),
        doubted(row),
    )


def _reference(risk: RiskReport) -> float:
    """The share of wrong answers that is usual; below it nothing is suggested."""
    return 0.0 if math.isnan(risk.reference) else risk.reference


# -- how many examples ------------------------------------------------------------------------------------------------
def _examples(observed: Observed, risk: RiskReport) -> int:
    """Training rows of the median combination that holds, or, where none is known to, that was trained."""
    trained = observed.trained[observed.seen].astype(float)
    holds = risk.seen_calls == "holds"
    return max(1, round(float(np.median(trained[holds] if holds.any() else trained))))


def _more(each: int, trained: float) -> int:
    """What is lacking; where nothing is, as many again: more of the same may help, or may not."""
    return each - round(trained) if trained < each else max(1, round(trained))


def _takes(examples: int, trained: float) -> str:
    some = f"about {examples:,} example{'s' if examples > 1 else ''}"
    return f"{some} beside the {trained:,.6g} there are" if trained else some


class _Doubted:
    """Which combinations have a pair that never occurs though it was to be expected."""

    def __init__(self, observed: Observed, impossible: Iterable[Impossible]):
        self.pairs = []
        for one in impossible:
            factors = [observed.factors.index(name) for name in one.pattern]
            levels = [list(observed.space.factors[name]).index(level) for name, level in one.pattern.items()]
            self.pairs.append((factors, levels, one))

    def each(self, rows: np.ndarray) -> np.ndarray:
        found = np.zeros(len(rows), bool)
        for factors, levels, _ in self.pairs:
            found |= (rows[:, factors] == levels).all(1)
        return found

    def __call__(self, row: np.ndarray) -> bool:
        return bool(self.each(row[None])[0])

    def words(self, row: np.ndarray) -> str:
        own = [str(one) for factors, levels, one in self.pairs if (row[factors] == levels).all()]
        return f"; {own[0]}" if own else ""
