"""Next: which unseen combinations to collect first, and what each buys.

Greedy and small: levels that were never trained, then groups that were never combined, then as many unseen pairs as
possible, then risk. `recombine plan` does the same job with budgets, costs and what is forbidden; this is its preview.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .data import Observed
from .risk import RiskReport
from .seen import Seen
from .text import listed, quoted, visible

CONSIDERED = 50_000


@dataclass(frozen=True)
class Suggestion:
    """A combination to add, and what it buys."""

    combination: dict[str, str]
    levels: int  # levels trained for the first time
    pairs: int  # pairs seen for the first time
    joins: bool  # it combines groups that were never combined
    buys: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def next_combinations(observed: Observed, seen: Seen, risk: RiskReport, n: int = 10) -> list[Suggestion]:
    """The first n combinations to add, in order."""
    pool = risk.combinations
    considered = min(CONSIDERED, seen.at_once(2))
    if len(pool) > considered:  # those that lack most, whatever their risk
        lacks = risk.features["unseen_pairs"] + risk.features["untrained"]
        pool = pool[np.sort(np.argsort(-lacks, kind="stable")[:considered])]
    if not len(pool) or not seen.affordable(2):
        return []
    space = observed.space
    ids = space.elements(pool).astype(np.int64)
    trained = seen.usage > 0
    group = seen.component_of.copy()
    places = seen.places(2)
    open_pairs = np.zeros((len(pool), len(places)), bool)
    codes = np.zeros((len(pool), len(places)), np.int64)
    for column, place in enumerate(places):
        codes[:, column] = seen.codes(pool, place)[1]
        open_pairs[:, column] = seen.table(place).look_up(codes[:, column])[0] == 0
    found: list[Suggestion] = []
    left = np.ones(len(pool), bool)
    while len(found) < n and left.any():
        fresh = (~trained[ids]).sum(1)
        groups = np.where(trained[ids], group[ids], -1)
        joins = (groups.max(1) != np.where(groups >= 0, groups, np.iinfo(np.int64).max).min(1)) & (groups.max(1) >= 0)
        value = (fresh * 1e6 + joins * 1e4 + open_pairs.sum(1)) * left - (~left)
        best = int(np.argmax(value))  # the pool is in order of risk, so ties go to the riskier
        if value[best] <= 0 and risk.basis == "none":
            break
        own = ids[best]
        pairs = [places[c] for c in np.flatnonzero(open_pairs[best])]
        found.append(_suggestion(observed, seen, pool[best], own, int(fresh[best]), bool(joins[best]), pairs))
        left[best] = False
        trained[own] = True
        parts = {int(part) for part in group[own] if part >= 0}
        target = min(parts, default=int(group.max()) + 1)
        group[np.isin(group, list(parts))] = target
        group[own] = target
        for column in np.flatnonzero(open_pairs[best]):
            open_pairs[:, column] &= codes[:, column] != codes[best, column]
    return found


def _suggestion(
    observed: Observed,
    seen: Seen,
    row: np.ndarray,
    own: np.ndarray,
    fresh: int,
    joins: bool,
    pairs: list[tuple[int, ...]],
) -> Suggestion:
    def level(element: Any) -> str:
        return quoted(seen.labels[int(element)][1], 40)

    words = []
    if fresh:
        words.append(f"{fresh} level{'s' if fresh > 1 else ''} trained for the first time")
    if joins:
        words.append("joins groups that were never combined")
    if pairs:
        shown = listed([f"{level(own[a])} with {level(own[b])}" for a, b in pairs], 3)
        words.append(f"{len(pairs)} new pair{'s' if len(pairs) > 1 else ''}: {shown}")
    buys = "; ".join(words) or "no new pair; it is the riskiest of those left"
    return Suggestion(observed.labels(row), fresh, len(pairs), joins, visible(buys))
