"""Next: the first combinations of the plan, and what each buys."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..planning import plan_space
from .data import Observed
from .risk import RiskReport
from .seen import Seen

SHOWN = 10
_RISKS = 5_000  # of the riskiest combinations, which the plan chooses from once all is covered
_PAIRED = 4_000  # levels in all; of more, a table of pairs takes longer than a preview may


@dataclass(frozen=True)
class Suggestion:
    """A combination to add, and what it buys."""

    combination: dict[str, str]
    levels: int  # levels trained for the first time
    joined: int  # groups fewer
    pairs: int  # pairs seen for the first time
    buys: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def known_risks(risk: RiskReport, observed: Observed, most: int | None = None) -> dict[int, float]:
    """Rank -> risk of combinations for which there is one, the riskiest first."""
    known = np.flatnonzero(~np.isnan(risk.probability))[:most]
    ranks = observed.space.rank(risk.combinations[known]).tolist()
    return dict(zip(ranks, risk.probability[known].tolist(), strict=True))


def next_combinations(observed: Observed, seen: Seen, risk: RiskReport, n: int = SHOWN) -> list[Suggestion]:
    """The first n combinations of `recombine plan`, in order."""
    space = observed.space
    unseen = space.size - len(seen)
    if not unseen:
        return []
    strength = 2 if space.width > 1 and len(space.element_names) <= _PAIRED else 1
    risks = known_risks(risk, observed, _RISKS)
    made = plan_space(space, seen.combinations, budget=min(n, unseen), strength=strength, risk=risks or None)
    return [
        Suggestion(observed.labels(step.row), step.levels, step.joined, step.tuples, step.words(made.strength))
        for step in made
    ]
