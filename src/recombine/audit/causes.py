"""Causes: the patterns and rules that explain failures, found one after the other, each given all the others.

    logit mu_c = b0 + sum_g b_g 1[g in c] + d max(0, #found in c - 1)        (d: two causes need not add up)

Answers on one combination may be alike for no reason that a pattern has. So the variance of k_c of n_c wrong answers is
n_c mu (1 - mu) D_c with D_c = 1 + (n_c - 1) rho. Without rho, a table in which each combination has a rate of its own
shows causes nearly always. rho is what a fit of all levels and pairs leaves unexplained, if that is less than what the
causes so far leave: a table of failures that need two levels to be seen is not one of combinations with a rate each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri, xlogy

from .patterns import Answered, Patterns

ALPHA = 0.04  # of all that is asked of a table; below .05, for the overdispersion is estimated, too
_RIDGE, _RIDGE_OF_LEVELS = 1 / 9, 2.0
_BEYOND = 3.0  # z that a pair, triple or rule needs beyond levels that add up
_STEPS = 25
_MOST = 40  # causes
_SHARPER = 3  # times that a cause is changed into one of more or fewer levels
_NEAR = 4  # patterns with one level more that are fitted
_TIED = 0.02  # share of a pattern's information that the causes so far leave, from which it is asked at all


@dataclass(frozen=True)
class Fit:
    """A logistic regression with some variance beyond the binomial one."""

    b: np.ndarray
    mu: np.ndarray
    weight: np.ndarray  # n mu (1 - mu) / D
    residual: np.ndarray  # (k - n mu) / D
    inverse: np.ndarray  # of the Hessian
    loss: float


@dataclass(frozen=True)
class Causes:
    """What was found.

    Args:
        numbers: of the patterns, in order of finding.
        b: log odds of each, given the others.
        p: of no effect, given the others, corrected for all patterns of its kind and for the kinds.
        overdispersion: rho.
    """

    numbers: tuple[int, ...]
    b: tuple[float, ...]
    p: tuple[float, ...]
    overdispersion: float


def design(columns: list[np.ndarray], n: int) -> np.ndarray:
    """(n, q): one, a column per cause, and by how many more than one a combination has."""
    if not columns:
        return np.ones((n, 1))
    held = np.stack(columns, axis=1)
    extra = np.maximum(held.sum(1) - 1, 0)
    return np.column_stack([np.ones(n), held, *([extra] if extra.any() else [])])


def fit(z: np.ndarray, table: Answered, rho: float, levels: int = 0) -> Fit:
    """Iteratively reweighted least squares, each step at most 2 in any log odds; the last columns may be of levels."""
    n, k = table.answers, table.wrong
    d = 1 + np.maximum(n - 1, 0) * rho
    ridge = np.full(z.shape[1], _RIDGE)
    ridge[0], ridge[z.shape[1] - levels :] = 1e-4, _RIDGE_OF_LEVELS
    b = np.zeros(z.shape[1])
    rate = float((k.sum() + 0.5) / (n.sum() + 1))
    b[0] = math.log(rate / (1 - rate))
    for _ in range(_STEPS):
        mu = expit(z @ b)
        w, e = n * mu * (1 - mu) / d, (k - n * mu) / d
        step = np.linalg.solve((z * w[:, None]).T @ z + np.diag(ridge), z.T @ e - ridge * b)
        largest = np.abs(z @ step).max()
        b = b + step * min(1.0, 2 / max(largest, 1e-9))
        if largest < 1e-5:
            break
    mu = np.clip(expit(z @ b), 1e-9, 1 - 1e-9)
    w, e = n * mu * (1 - mu) / d, (k - n * mu) / d
    loss = -float(((xlogy(k, mu) + xlogy(n - k, 1 - mu)) / d).sum()) + 0.5 * float(ridge[1:] @ b[1:] ** 2)
    return Fit(b, mu, w, e, np.linalg.inv((z * w[:, None]).T @ z + np.diag(ridge)), loss)


def overdispersion(mu: np.ndarray, table: Answered, used: float) -> float:
    """rho: what answers on one combination share beyond mu, by moments; `used` degrees of freedom went into mu."""
    several = table.answers > 1
    if several.sum() <= used + 1:
        return 0.0
    n, k, mu = table.answers[several], table.wrong[several], mu[several]
    v = mu * (1 - mu)
    more = len(table) / max(len(table) - used, 1.0)
    found = (float(((k - n * mu) ** 2).sum()) * more - float((n * v).sum())) / float(((n - 1) * n * v).sum())
    return float(np.clip(found, 0.0, 0.95))


def _roots(sums: np.ndarray, now: Fit) -> np.ndarray:
    """z of patterns from the sums of residuals, weights and weighted columns over the combinations that hold them."""
    u, v, g = sums[:, 0], np.maximum(sums[:, 1], 1e-12), sums[:, 2:]
    left = v - ((g @ now.inverse) * g).sum(1)
    r = np.maximum(1 + u / v, 1e-12)
    root = np.sign(u) * np.sqrt(np.maximum(2 * v * (xlogy(r, r) - r + 1), 0))
    return np.where(left < _TIED * v, -np.inf, root * np.sqrt(v / np.maximum(left, _TIED * v)))


class Search:
    """The forward search over the patterns of a table."""

    def __init__(self, patterns: Patterns, rho_most: float = 0.95, alpha: float = ALPHA):
        self.patterns, self.table, self.rho_most = patterns, patterns.answered, rho_most
        self.family = patterns.family
        self.asked = {size: int((self.family == size).sum()) for size in range(4)}
        kinds = sum(count > 0 for count in self.asked.values())
        share = {size: alpha / max(kinds, 1) / count for size, count in self.asked.items() if count}
        self.level = np.array([share.get(size, 0.0) for size in range(4)])  # p value to pass, by family
        self.threshold = -ndtri(np.maximum(self.level, 1e-300))
        self.columns: dict[int, np.ndarray] = {}
        self.single = np.flatnonzero(self.family == 1)
        self.levels = np.stack([patterns.column(number) for number in self.single.tolist()], axis=1)

    def column(self, number: int) -> np.ndarray:
        if number not in self.columns:
            self.columns[number] = self.patterns.column(number)
        return self.columns[number]

    def fit(self, found: list[int], rho: float) -> Fit:
        return fit(design([self.column(number) for number in found], len(self.table)), self.table, rho)

    def run(self) -> Causes:
        found: list[int] = []
        refused: set[int] = set()
        rho = 0.0
        for _ in range(3 * _MOST):
            now, rho = self._with_rho(found)
            dropped = self._dropped(found, now, rho)
            if dropped is not None:
                found.remove(dropped)
                refused.add(dropped)
                continue
            best = self._best(found, now, refused, rho) if len(found) < _MOST else None
            if best is None:
                break
            found.append(self._sharpened(found, best, refused, rho))
        now, rho = self._with_rho(found)
        values = [self._ratio(found, number, now, rho) for number in found]
        p = [min(1.0, float(ndtr(-z) * ALPHA / self.level[self.family[g]])) for g, z in zip(found, values, strict=True)]
        return Causes(tuple(found), tuple(now.b[1 : 1 + len(found)].tolist()), tuple(p), rho)

    def _with_rho(self, found: list[int]) -> tuple[Fit, float]:
        now, rho = self.fit(found, 0.0), 0.0
        for _ in range(2):
            rho = min(overdispersion(now.mu, self.table, len(now.b)), self.rho_most)
            now = self.fit(found, rho)
        return now, rho

    def scores(self, found: list[int], now: Fit) -> np.ndarray:
        """z of every pattern, given what was found: the signed root of a Poisson deviance, honest for rare failures."""
        z = design([self.column(number) for number in found], len(self.table))
        return _roots(self.patterns.sums(np.column_stack([now.residual, now.weight, now.weight[:, None] * z])), now)

    def _best(self, found: list[int], now: Fit, refused: set[int], rho: float) -> int | None:
        z = self.scores(found, now)
        z[[*found, *refused]] = -np.inf
        z = np.where(z > self.threshold[self.family], z, -np.inf)
        passing = np.flatnonzero(np.isfinite(z) & (self.family > 0))
        z[passing[~self._beyond_levels(found, passing, rho)]] = -np.inf
        if not np.isfinite(z.max(initial=-np.inf)):
            return None
        top = np.flatnonzero(z >= z.max() - 1e-9)
        return int(top[np.argmax(self.family[top] > 0)])  # one pattern that is untrained is no proof of a rule

    def _beyond_levels(self, found: list[int], asked: np.ndarray, rho: float) -> np.ndarray:
        """Of patterns whether they say more than levels that add up: a level is harder than its factor is on average,
        a pair or triple fails more often than its levels make it. Pairs of the same factors say what levels say
        together, so each is asked without the others, too."""
        if not len(asked):
            return np.zeros(0, bool)
        place = self.patterns.place_of
        above = [number for number in found if self.family[number] != 1]
        right = np.zeros(len(asked), bool)
        bases = {None: above} | {at: [g for g in above if place[g] != at] for at in {int(place[g]) for g in above}}
        for at, base in bases.items():
            z = np.column_stack([design([self.column(number) for number in base], len(self.table)), self.levels])
            now = fit(z, self.table, rho, self.levels.shape[1])
            own = np.ones(len(asked), bool) if at is None else place[asked] == at
            right[own] |= self._scores_of(asked[own], z, now) > _BEYOND
            if at is None:
                effect = self._from_mean(now.b[z.shape[1] - self.levels.shape[1] :])
                single = self.family[asked] == 1
                right[single] = effect[np.searchsorted(self.single, asked[single])] > 0
        return right

    def _from_mean(self, b: np.ndarray) -> np.ndarray:
        """Effects of levels, from the mean of their factor."""
        factor = self.patterns.place_of[self.single]
        mean = np.bincount(factor, b) / np.maximum(np.bincount(factor), 1)
        return b - mean[factor]

    def _scores_of(self, asked: np.ndarray, z: np.ndarray, now: Fit) -> np.ndarray:
        """z of some patterns, given the columns of a fit."""
        part = self.patterns.matrix[asked]
        return _roots(part @ np.column_stack([now.residual, now.weight, now.weight[:, None] * z]), now)

    def _sharpened(self, found: list[int], number: int, refused: set[int], rho: float) -> int:
        """The pattern, or one of fewer or one more level that explains more."""
        if not self.family[number]:
            return number
        base = self.fit(found, rho)
        z = self.scores(found, base)
        barred = {*found, *refused}
        for _ in range(_SHARPER):
            own = self.fit([*found, number], rho).loss
            above = self.patterns.above(number)
            above = above[np.argsort(-z[above], kind="stable")[:_NEAR]]
            above = above[self._beyond_levels(found, above, rho)]
            gain = math.log(max(self.asked[int(self.family[number]) + 1], 1)) if len(above) else 0.0
            asked = [(one, 0.0) for one in self.patterns.below(number)] + [(one, gain) for one in above.tolist()]
            tried = [(self.fit([*found, one], rho).loss + more, one) for one, more in asked if one not in barred]
            best = min(tried, default=(math.inf, -1))
            if best[0] >= own:
                break
            number = best[1]
        return number

    def _ratio(self, found: list[int], number: int, now: Fit, rho: float) -> float:
        """Signed root of the likelihood ratio of one cause, given the others."""
        rest = [other for other in found if other != number]
        gain = self.fit(rest, rho).loss - now.loss
        b = now.b[1 + found.index(number)]
        return math.copysign(math.sqrt(max(2 * gain, 0.0)), b)

    def _dropped(self, found: list[int], now: Fit, rho: float) -> int | None:
        """The cause that explains least, if it does not pass by itself any more."""
        if not found:
            return None
        short = [
            (self._ratio(found, number, now, rho) - self.threshold[self.family[number]], number) for number in found
        ]
        least, number = min(short)
        return number if least < 0 else None
