"""What the page of an audit shows, as plain data: combinations, a map of every two factors, findings, and groups."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..audit import Audit
from ..audit.covering import covered_by, with_levels
from ..audit.findings import Finding
from ..audit.frequency import Frequency
from ..audit.outcomes import Evaluated, evaluate
from ..audit.pattern_rates import LEVEL, Share, exact_at, share
from ..audit.seen import Seen
from ..labels import visible

MOST_SHOWN = 2_000  # combinations that the page can be filtered to; the table beside it has all
MOST_LEVELS = 24  # of a factor on the map
MOST_PAIRS = 45  # of factors that the map can show
UNFOLDED = 20  # combinations of a finding


@dataclass(frozen=True)
class Group:
    """A level, how often the model is right on it, and how often the risk says it is.

    Args:
        factor: its name.
        level: of the factor.
        found: right answers.
        said: share right that the risk gives these answers, each combination judged by its own; NaN without a risk.
        within: whether what is said lies in the interval of what was found.
    """

    factor: str
    level: str
    found: Share
    said: float

    @property
    def within(self) -> bool:
        return math.isnan(self.said) or self.found.low <= self.said <= self.found.high


class Views:
    """Everything about the combinations of an audit that its page shows.

    Args:
        audit: what `rc.audit` gave.
    """

    def __init__(self, audit: Audit):
        self.audit, self.observed = audit, audit.observed
        observed = audit.observed
        self.seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
        rho = audit.found.overdispersion
        self.overdispersion = rho if math.isfinite(rho) else 0.0

    @cached_property
    def evaluated(self) -> Evaluated | None:
        return evaluate(self.observed) if self.observed.outcome else None

    @cached_property
    def answers(self) -> tuple[np.ndarray, np.ndarray]:
        """Answers that count and right ones of each combination of the table."""
        answers, right = np.zeros(len(self.observed.rows)), np.zeros(len(self.observed.rows))
        if self.evaluated is not None:
            answers[self.evaluated.at], right[self.evaluated.at] = self.evaluated.answers, self.evaluated.right
        return answers, right

    @cached_property
    def pool(self) -> _Pool:
        return _Pool(self)

    def evaluated_all(self) -> np.ndarray:
        """All combinations of the table, as `share` takes them."""
        return np.ones(len(self.observed.rows), bool)

    def share(self, covered: np.ndarray) -> Share:
        """Right answers on some combinations of the table."""
        if self.evaluated is None:
            return Share(math.nan, 0.0, 1.0, 0.0, 0.0, 0)
        return share(self.evaluated, covered[self.evaluated.at], self.overdispersion)

    # -- findings -----------------------------------------------------------------------------------------------------
    def findings(self) -> list[dict[str, Any]]:
        """One row a finding, with the combinations that it unfolds to: those with most wrong answers first."""
        return [self._finding(one) for one in self.audit.findings]

    def _finding(self, finding: Finding) -> dict[str, Any]:
        covered = covered_by(finding, self.observed, self.seen, self.pool.rows)
        at = np.flatnonzero(covered)
        worst = at[np.lexsort((-self.pool.priority[at], -self.pool.wrong[at]))][:UNFOLDED]
        return {
            "finding": finding,
            "levels": list(finding.pattern.items()),
            "combinations": [self.pool.line(i) for i in worst.tolist()],
            "of": len(at),
            "whole": self.pool.whole,
            "data": self._data(finding),
        }

    def _data(self, finding: Finding) -> str:
        """Whether it is for lack of data: training rows of a pattern beside those of others of its factors."""
        if not finding.pattern:
            return ""
        at = [self.observed.factors.index(name) for name in finding.pattern]
        kinds, inverse = np.unique(self.observed.rows[:, at], axis=0, return_inverse=True)
        trained = np.bincount(inverse.ravel(), weights=self.observed.trained, minlength=len(kinds))
        own = with_levels(finding.pattern, self.observed, self.observed.rows)
        mine = float(self.observed.trained[own].sum())
        others = np.delete(trained, np.unique(inverse.ravel()[own]))
        if not len(others):
            return ""
        usual = float(np.median(others))
        if mine >= usual / 2:
            return f"It has {mine:,.6g} training rows, others of its kind {usual:,.6g}: this is not for lack of data."
        return (
            f"It has {mine:,.6g} training rows, others of its kind {usual:,.6g}: about {usual - mine:,.0f} examples "
            "would make it as common."
        )

    # -- groups -------------------------------------------------------------------------------------------------------
    def groups(self) -> dict[str, list[Group]]:
        """By factor, how often the model is right on each level, and what the risk says of the same answers."""
        if self.evaluated is None:
            return {}
        at, answers = self.evaluated.at, self.evaluated.answers
        risk = self.pool.risk_of_rows[at]
        codes = self.observed.rows[at]
        found: dict[str, list[Group]] = {}
        for i, (factor, levels) in enumerate(self.observed.space.factors.items()):
            for j, level in enumerate(levels):
                chosen = codes[:, i] == j
                if not chosen.any():
                    continue
                known = chosen & ~np.isnan(risk)
                weight = float(answers[known].sum())
                said = 1 - float((risk[known] * answers[known]).sum()) / weight if weight else math.nan
                one = share(self.evaluated, chosen, self.overdispersion)
                found.setdefault(factor, []).append(Group(factor, str(level), one, said))
        return found

    # -- the map ------------------------------------------------------------------------------------------------------
    def map(self) -> dict[str, Any]:
        """For every two factors and every two of their levels: training rows, answers, right, interval, risk."""
        kept = [self._kept(i) for i in range(self.observed.space.width)]
        space = self.observed.space
        return {
            "factors": [visible(name, 60) for name in space.factors],
            "levels": [
                [visible(levels[j], 60) for j in own] for levels, own in zip(space.factors.values(), kept, strict=True)
            ],
            "all": list(space.levels),
            "codes": [own.tolist() for own in kept],
            "pairs": [
                {"a": i, "b": j, "cells": self._cells(i, j, kept[i], kept[j])}
                for i, j in itertools.islice(itertools.combinations(range(space.width), 2), MOST_PAIRS)
            ],
            "first": self._first(),
            "outcomes": self.evaluated is not None,
            "risk": bool((~np.isnan(self.pool.risk)).any()),
        }

    def _kept(self, factor: int) -> np.ndarray:
        """The most frequent levels of a factor, in their own order."""
        size = self.observed.space.levels[factor]
        rows = self.observed.trained + self.observed.tested
        used = np.bincount(self.observed.rows[:, factor], weights=rows, minlength=size)
        return np.sort(np.argsort(-used, kind="stable")[:MOST_LEVELS])

    def _first(self) -> int:
        """The pair that is shown first: that of the first finding with two levels, else one with most unseen cells."""
        pairs = list(itertools.combinations(range(self.observed.space.width), 2))[:MOST_PAIRS]
        for finding in self.audit.findings:
            own = sorted(self.observed.factors.index(name) for name in finding.pattern)
            if len(own) == 1:
                own = sorted({own[0], 0 if own[0] else 1})
            if len(own) >= 2 and (own[0], own[1]) in pairs:
                return pairs.index((own[0], own[1]))
        unseen = {tuple(m.factors): m.unseen / m.counts.size for m in self.audit.coverage.matrices}
        names = self.observed.factors
        return max(range(len(pairs)), key=lambda p: (unseen.get((names[pairs[p][0]], names[pairs[p][1]]), 0.0), -p))

    def _cells(self, i: int, j: int, down: np.ndarray, across: np.ndarray) -> list[list[Any]]:
        space, codes = self.observed.space, self.observed.rows.astype(np.int64)
        shape = space.levels[i], space.levels[j]
        place = codes[:, i] * shape[1] + codes[:, j]

        def summed(values: np.ndarray) -> np.ndarray:
            return np.bincount(place, weights=values, minlength=shape[0] * shape[1])

        answers, right = self.answers
        # n_eff of each cell, as in pattern_rates
        worth = summed(answers * (1 + np.maximum(answers - 1, 0) * self.overdispersion))
        counts = [summed(v.astype(float)) for v in (self.observed.trained, self.observed.tested, answers, right)]
        risk = self.pool.risk_by(i, j)
        n, good, trials = counts[2], counts[3], np.maximum(worth, 1e-12)
        mean = good / np.maximum(n, 1e-12)
        low, high = exact_at(mean, np.maximum(n * n / trials, 1e-9), LEVEL)
        found = []
        for a, b in itertools.product(down.tolist(), across.tolist()):
            at = a * shape[1] + b
            cell: list[Any] = [_short(float(one[at])) for one in counts[:3]]
            cell += [round(float(one[at]), 4) for one in (mean, low, high)] if n[at] else [None, None, None]
            found.append([*cell, None if math.isnan(risk[at]) else round(float(risk[at]), 4)])
        return found

    # -- combinations -------------------------------------------------------------------------------------------------
    def combinations(self) -> list[list[Any]]:
        """What the list below the map holds: codes of levels, training rows, answers, right, risk, its interval, call.

        Those of the highest priority first, where there are risks; else those that were not trained.
        """
        return [self.pool.coded(i) for i in self.pool.first(MOST_SHOWN).tolist()]


class _Pool:
    """Combinations of the table and unseen ones at risk, each once, with all that is known of them."""

    def __init__(self, views: Views):
        self.views = views
        audit, observed = views.audit, views.observed
        risk = audit.risk
        extra = risk.combinations
        if len(extra) and len(observed.rows):
            from ..spaces import find

            place = find(observed.space, observed.rows, extra)
        else:
            place = np.full(len(extra), -1)
        fresh = place < 0
        self.rows = np.concatenate([observed.rows, extra[fresh]])
        count = len(observed.rows)
        self.risk, self.low, self.high = (np.full(len(self.rows), math.nan) for _ in range(3))
        self.call = np.full(len(self.rows), "", dtype=object)
        seen_at = np.flatnonzero(observed.seen)
        own = ((self.risk, "probability"), (self.low, "low"), (self.high, "high"), (self.call, "calls"))
        for column, name in own:
            given = np.asarray(getattr(risk, name))
            column[place[~fresh]] = given[~fresh]
            column[count:] = given[fresh]
            column[seen_at] = getattr(risk, f"seen_{name}")
        self.trained = np.append(observed.trained, np.zeros(fresh.sum()))
        answers, right = views.answers
        self.answers, self.right = np.append(answers, np.zeros(fresh.sum())), np.append(right, np.zeros(fresh.sum()))
        self.whole = risk.whole
        self.frequency = Frequency(observed)(self.rows)

    @property
    def wrong(self) -> np.ndarray:
        return self.answers - self.right

    @property
    def risk_of_rows(self) -> np.ndarray:
        """The risk of the combinations of the table."""
        return self.risk[: len(self.views.observed.rows)]

    @cached_property
    def priority(self) -> np.ndarray:
        """Risk x frequency; where there is no risk, the frequency of what was not trained."""
        plain = self.frequency * (self.trained == 0)
        return np.where(np.isnan(self.risk), plain, self.risk * self.frequency)

    def first(self, most: int) -> np.ndarray:
        return np.argsort(-self.priority, kind="stable")[:most]

    def risk_by(self, i: int, j: int) -> np.ndarray:
        """The mean risk of the combinations of every two levels, by their frequency."""
        space = self.views.observed.space
        known = np.flatnonzero(~np.isnan(self.risk))
        codes = self.rows[known].astype(np.int64)
        place = codes[:, i] * space.levels[j] + codes[:, j]
        weight = np.maximum(self.frequency[known], 1e-12)
        size = space.levels[i] * space.levels[j]
        total = np.bincount(place, weights=weight, minlength=size)
        risk = np.bincount(place, weights=weight * self.risk[known], minlength=size)
        return np.divide(risk, total, out=np.full(size, math.nan), where=total > 0)

    def line(self, i: int) -> dict[str, Any]:
        """A combination as the templates show it."""
        observed, n = self.views.observed, float(self.answers[i])
        return {
            "levels": list(observed.labels(self.rows[i]).values()),
            "trained": float(self.trained[i]),
            "answers": n,
            "right": float(self.right[i]),
            "share": float(self.right[i]) / n if n else math.nan,
            "risk": float(self.risk[i]),
            "low": float(self.low[i]),
            "high": float(self.high[i]),
            "call": str(self.call[i]),
        }

    def coded(self, i: int) -> list[Any]:
        numbers = (self.trained[i], self.answers[i], self.right[i])
        chances = (self.risk[i], self.low[i], self.high[i])
        return [
            self.rows[i].tolist(),
            *(_short(float(one)) for one in numbers),
            *(None if math.isnan(one) else round(float(one), 4) for one in chances),
            self.call[i],
        ]


def _short(value: float) -> float | int:
    """A count as few letters say it."""
    return int(value) if value == int(value) else round(value, 3)
