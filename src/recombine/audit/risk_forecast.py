"""Forecast: how often any combination fails, with an interval, own answers folded in.

Models of different reach (causes alone; with coverage; with levels; with pairs) are mixed by how well each foretells
combinations that it did not see: leave-one-out, by a linear approximation, as "pseudo-BMA" weighs models (Yao et al.
2018), with a small price for reach. Stacking, which they prefer, kept half of the weight on models with effects where
there are none; there it made intervals hold the truth in 97 of 100 cases rather than in 95.
The mixture gives each combination a mean m and a variance s2. Around that it has a rate of its own: a beta distribution
with variance s2 + r (m - m^2 - s2), where r is what fits the leave-one-out forecasts best. Answers of the combination
itself update that distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln, expit

from .causes import Causes, Search
from .coverage_rules import Trained
from .effects import Effects, fit_effects
from .findings import RULES
from .patterns import Answered, Patterns, patterns_of

LOW, HIGH = 0.05, 0.95
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_OWN = np.concatenate([[0.0], np.geomspace(0.001, 0.95, 24)])
_LEAST = 1e-6
_PRICE = np.array([0.0, 1.0, 1.5, 2.0])  # nats, of causes alone, with coverage, levels, pairs
_AT_ONCE = 10_000


class Asked(NamedTuple):
    """Combinations that are asked about.

    Args:
        rows: (N, factors) levels.
        seen: (N,) whether each was trained.
        rules: (N, len(RULES)) which rules of coverage are about it.
        pairs: (N,) share of its pairs that were never trained together.
        at: (N,) its place among those that the forecast was made from; -1 for none.
        answers: (N,) of each.
        wrong: (N,) how many of them are wrong.
        more: (N, features) what else is known of it, such as how confident the model is.
    """

    rows: np.ndarray
    seen: np.ndarray
    rules: np.ndarray
    pairs: np.ndarray
    at: np.ndarray
    answers: np.ndarray
    wrong: np.ndarray
    more: np.ndarray


@dataclass(frozen=True)
class Model:
    """One of the models that are mixed, and which of the dense columns it has."""

    name: str
    effects: Effects
    columns: np.ndarray


@dataclass(frozen=True)
class Forecast:
    """The mixture.

    Args:
        table: combinations with answers.
        patterns: of these.
        causes: that were found.
        models: what is mixed.
        shares: of each.
        mean: (A,) of answered combinations without their own answers.
        variance: (A,) likewise.
        own: r on unseen and on seen combinations.
    """

    table: Answered
    patterns: Patterns
    causes: Causes
    models: list[Model]
    shares: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    own: np.ndarray

    def order(self, asked: Asked) -> np.ndarray:
        """(N,) about how risky each is, without any variance or answer of its own."""
        dense = dense_columns(self.patterns, self.causes, asked)
        total = np.zeros(len(asked.rows))
        for share, one in zip(self.shares, self.models, strict=True):
            if share > 0:
                total += share * expit(one.effects.mean(asked.rows, dense[:, one.columns]))
        return total

    def risk(self, asked: Asked) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Risk of combinations, and the two ends of its 90 % interval."""
        parts = [
            self._risk(Asked(*(one[start : start + _AT_ONCE] for one in asked)))
            for start in range(0, max(len(asked.rows), 1), _AT_ONCE)
        ]
        p, low, high = (np.concatenate(one) for one in zip(*parts, strict=True))
        return p, low, high

    def _risk(self, asked: Asked) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dense = dense_columns(self.patterns, self.causes, asked)
        used = [(share, one) for share, one in zip(self.shares, self.models, strict=True) if share > 0]
        parts = [moments(*one.effects.moments(asked.rows, dense[:, one.columns])) for _, one in used]
        mean, variance = mixed(np.array([share for share, _ in used]), parts)
        known = asked.at >= 0
        at = asked.at[known]
        mean[known], variance[known] = self.mean[at], self.variance[at]
        a, b = beta_of(mean, variance, self.own[asked.seen.astype(int)])
        a, b = a + asked.wrong, b + asked.answers - asked.wrong
        return a / (a + b), betaincinv(a, b, LOW), betaincinv(a, b, HIGH)


# -- fitting ----------------------------------------------------------------------------------------------------------
def foretell(table: Answered, trained: Trained, pairs: np.ndarray, more: np.ndarray | None = None) -> Forecast:
    """Causes, models and their mixture, from combinations with answers.

    Args:
        table: these.
        trained: levels and pairs that have training rows.
        pairs: (A,) share of the pairs of each combination that were never trained together.
        more: (A, features) what else is known of each.
    """
    more = np.zeros((len(table), 0)) if more is None else more
    at = np.arange(len(table))
    asked = Asked(table.codes, table.seen, table.rules, pairs, at, table.answers, table.wrong, more)
    patterns = patterns_of(table)
    nothing = Causes((), (), (), 0.0)
    free = _model("pairs", table, trained, dense_columns(patterns, nothing, asked), 0, True, True)
    causes = Search(patterns, free.effects.rho).run()
    dense, found = dense_columns(patterns, causes, asked), _found(causes)
    models = [_model("causes", table, trained, dense, found, False, None)]
    models.append(_model("coverage", table, trained, dense, found, True, None))
    models.append(_model("levels", table, trained, dense, found, True, False))
    models.append(_model("pairs", table, trained, dense, found, True, True) if found else free)
    parts = [moments(*left_out(one.effects, table)) for one in models]
    shares = shared(table, parts)
    mean, variance = mixed(shares, parts)
    own = own_spread(table, mean, variance)
    return Forecast(table, patterns, causes, models, shares, mean, variance, own)


def _found(causes: Causes) -> int:
    return len(causes.numbers) + (len(causes.numbers) > 1)


def dense_columns(patterns: Patterns, causes: Causes, asked: Asked) -> np.ndarray:
    """(N, 1 + causes + coverage): a one, each cause, by how many more than one there are, and coverage."""
    held = []
    for number in causes.numbers:
        rule, levels = patterns.rule(number), patterns.levels(number)
        if rule:
            held.append(asked.rules[:, list(RULES).index(rule)])
        else:
            held.append(np.logical_and.reduce([asked.rows[:, column] == level for column, level in levels]))
    found = [np.ones(len(asked.rows)), *held]
    if len(held) > 1:
        found.append(np.maximum(np.sum(held, axis=0) - 1, 0))
    return np.column_stack([*found, asked.rules, asked.pairs, asked.more]).astype(float)


def _model(
    name: str, table: Answered, trained: Trained, dense: np.ndarray, found: int, covered: bool, pairs: bool | None
) -> Model:
    """A model with the causes, with coverage or without; with no effects (None), levels (False), or pairs (True)."""
    more = dense.shape[1] - 1 - found if covered else 0
    columns = np.arange(1 + found + more)
    group = ["base", *["found"] * found, *["coverage"] * more]
    effects = fit_effects(table, trained, dense[:, columns], group, levels=pairs is not None, pairs=bool(pairs))
    return Model(name, effects, columns)


def left_out(effects: Effects, table: Answered) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the log odds of each answered combination, as if its own answers were not there."""
    n, k = table.answers, table.wrong
    mu = expit(effects.eta)
    d = 1 + np.maximum(n - 1, 0) * effects.rho
    h = np.minimum(effects.weight * effects.spread, 0.999)
    away = np.clip(h / (1 - h) * (k - n * mu) / np.maximum(d * effects.weight, 1e-12), -6, 6)
    return effects.eta - away, effects.spread / (1 - h)


def moments(eta: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of expit(N(eta, v)), by 15 Hermite nodes."""
    at = expit(eta[:, None] + np.sqrt(np.maximum(v, 0))[:, None] * _NODES)
    mean = at @ _WEIGHTS
    return mean, np.maximum((at**2) @ _WEIGHTS - mean**2, 0)


def mixed(shares: np.ndarray, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a mixture."""
    means, variances = (np.stack(one) for one in zip(*parts, strict=True))
    mean = shares @ means
    return mean, shares @ (variances + (means - mean) ** 2)


def beta_of(mean: np.ndarray, variance: np.ndarray, own: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """The beta distribution with this mean, and this variance with that of a rate of its own."""
    mean = np.clip(mean, 1e-6, 1 - 1e-6)
    most = mean * (1 - mean)
    variance = np.clip(variance, _LEAST * most, 0.999 * most)
    size = most / np.maximum(variance + own * (most - variance), 1e-12) - 1
    size = np.maximum(size, 1e-3)
    return mean * size, (1 - mean) * size


def surprise(table: Answered, mean: np.ndarray, variance: np.ndarray, own: np.ndarray | float) -> np.ndarray:
    """(A,) log probability of the answers of each combination, a beta-binomial without the binomial coefficient."""
    a, b = beta_of(mean, variance, own)
    return betaln(a + table.wrong, b + table.answers - table.wrong) - betaln(a, b)


def own_spread(table: Answered, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """r on unseen and on seen combinations; where one of them has no answers, that of both."""
    by = np.stack([surprise(table, mean, variance, own) for own in _OWN])
    both = by.sum(1)
    found = []
    for side in (~table.seen, table.seen):
        likely = by[:, side].sum(1) if side.sum() > 1 else both
        found.append(_OWN[int(np.argmax(likely))])
    return np.array(found)


def shared(table: Answered, parts: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The share of each model: how likely its leave-one-out forecasts make all answers, less a price for its reach."""
    side = table.seen.astype(int)
    likely = np.array([surprise(table, *part, own_spread(table, *part)[side]).sum() for part in parts]) - _PRICE
    shares = np.exp(likely - likely.max())
    shares = np.where(shares < 0.01 * shares.sum(), 0, shares)
    return shares / shares.sum()
