"""Effects: a logistic regression on causes, coverage, levels and pairs, each group as wide as the answers say.

    logit mu_c = b0 + sum of the effects that c has,        effect_j ~ N(0, s2_group(j))

The variance of a group follows MacKay's fixed point, held up by a few pseudo-effects of a usual size (`GROUPS`), so
that a group of which nothing was answered keeps a variance. Answers that are alike within a combination
count less (rho).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from .causes import overdispersion
from .coverage_rules import Trained
from .patterns import Answered, codes_of

#: group -> (usual standard deviation squared, how many effects that counts as); fixed where that is None
GROUPS = {
    "base": (100.0, None),
    "found": (9.0, None),
    "coverage": (0.2, 3.0),
    "levels": (0.1, 4.0),
    "untrained levels": (1.5, 1.0),
    "pairs": (0.05, 10.0),
    "untrained pairs": (1.5, 1.0),
}
NAMES = list(GROUPS)
_UNKNOWN = 1.5**2  # variance of a coverage column that is the same in all answered combinations
_MOST_PAIRS = 300
_MOST_CELLS = 12_000_000  # of a dense design
_ROUNDS = 8
_NEWTON = 4


@dataclass(frozen=True)
class Columns:
    """Which columns of a design are which levels and pairs.

    Args:
        sizes: levels of each factor.
        dense: how many dense columns come first: the base, causes, coverage.
        places: columns of a table that a level or a pair is at.
        codes: of each place, sorted, those that have a column.
        first: of each place, the number of its first column.
        group: (P,) which of `NAMES` each column belongs to.
        bare: which coverage columns are alike in all answered combinations.
    """

    sizes: tuple[int, ...]
    dense: int
    places: list[tuple[int, ...]]
    codes: list[np.ndarray]
    first: list[int]
    group: np.ndarray
    bare: np.ndarray

    def of(self, rows: np.ndarray) -> np.ndarray:
        """(n, places) the number of the column of each place; -1 where it has none."""
        found = np.full((len(rows), len(self.places)), -1, np.int64)
        for number, (place, known, first) in enumerate(zip(self.places, self.codes, self.first, strict=True)):
            if not len(known):
                continue
            codes = codes_of(rows, self.sizes, place)
            at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            found[:, number] = np.where(known[at] == codes, first + at, -1)
        return found


def columns_of(
    table: Answered, trained: Trained, dense: int, group: list[int], bare: np.ndarray, strengths: int
) -> Columns:
    """All answered levels, and the answered pairs that say most."""
    rate = table.wrong.sum() / table.answers.sum()
    places = [place for size in range(1, strengths + 1) for place in trained.places(size)]
    codes, scores, sizes = [], [], []
    for place in places:
        known, ids = np.unique(codes_of(table.codes, table.sizes, place), return_inverse=True)
        u = np.bincount(ids, table.wrong - table.answers * rate)
        v = np.bincount(ids, table.answers) * max(rate * (1 - rate), 1e-9)
        codes.append(known)
        scores.append(np.abs(u) / np.sqrt(v))
        sizes.append(np.full(len(known), len(place)))
    flat, size = np.concatenate([*scores, []]), np.concatenate([*sizes, []])
    most = max(min(_MOST_PAIRS, _MOST_CELLS // max(len(table), 1) - int((size == 1).sum())), 0)
    order = np.flatnonzero(size == 2)
    order = order[np.argsort(-flat[order], kind="stable")[:most]]
    kept = size == 1
    kept[order] = True
    first, at, number = [], 0, dense
    groups = list(group)
    for i, place in enumerate(places):
        own = kept[at : at + len(codes[i])]
        at += len(codes[i])
        codes[i] = codes[i][own]
        first.append(number)
        number += len(codes[i])
        known = trained.has(place, codes[i])
        names = ("levels", "untrained levels") if len(place) == 1 else ("pairs", "untrained pairs")
        groups += np.where(known, NAMES.index(names[0]), NAMES.index(names[1])).tolist()
    return Columns(table.sizes, dense, places, codes, first, np.array(groups), bare)


@dataclass(frozen=True)
class Effects:
    """A fit.

    Args:
        columns: what each effect is of.
        b: (P,) effects.
        covariance: (P, P) of them.
        variance: of each group in `NAMES`.
        rho: overdispersion that the fit leaves.
        used: degrees of freedom that it uses.
        trained: which levels and pairs were trained.
        eta: (A,) log odds of the answered combinations.
        spread: (A,) variance of these.
        weight: (A,) n mu (1 - mu) / D.
    """

    columns: Columns
    b: np.ndarray
    covariance: np.ndarray
    variance: np.ndarray
    rho: float
    used: float
    trained: Trained
    eta: np.ndarray
    spread: np.ndarray
    weight: np.ndarray

    def mean(self, rows: np.ndarray, dense: np.ndarray) -> np.ndarray:
        """(n,) log odds of failure of combinations."""
        at = self.columns.of(rows)
        return dense @ self.b[: self.columns.dense] + np.where(at >= 0, self.b[at], 0.0).sum(1)

    def moments(self, rows: np.ndarray, dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) mean and variance of the log odds of failure of combinations."""
        eta, v = np.empty(len(rows)), np.empty(len(rows))
        step = 20_000
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            eta[part], v[part] = self._moments(rows[part], dense[part])
        return eta, v

    def _moments(self, rows: np.ndarray, dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, q = self.columns.of(rows), self.columns.dense
        known = at >= 0
        b, s = np.append(self.b, 0.0), np.pad(self.covariance, ((0, 1), (0, 1)))  # -1 reads a last zero
        eta = dense @ self.b[:q] + b[at].sum(1)
        v = ((dense @ self.covariance[:q, :q]) * dense).sum(1)
        cross = dense @ s[:q]  # (n, P + 1)
        v += 2 * np.take_along_axis(cross, at, 1).sum(1)
        used = np.flatnonzero([len(codes) > 0 for codes in self.columns.codes]).tolist()
        for here, i in enumerate(used):
            v += s[at[:, i], at[:, i]]
            for j in used[:here]:
                v += 2 * s[at[:, i], at[:, j]]
        return eta, v + self._unknown(rows, known)

    def _unknown(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """What effects that nobody answered add: their prior variance."""
        more = np.zeros(len(rows))
        for number, place in enumerate(self.columns.places):
            lacks = ~known[:, number]
            if not lacks.any():
                continue
            names = ("levels", "untrained levels") if len(place) == 1 else ("pairs", "untrained pairs")
            there = self.trained.has(place, codes_of(rows[lacks], self.columns.sizes, place))
            more[lacks] += np.where(there, *(self.variance[NAMES.index(name)] for name in names))
        return more


def fit_effects(
    table: Answered, trained: Trained, dense: np.ndarray, group: list[str], *, levels: bool = True, pairs: bool = True
) -> Effects:
    """Fits effects and the variances of their groups.

    Args:
        table: the combinations with answers.
        trained: which levels and pairs were trained.
        dense: (A, q) columns that are no levels: a one, causes, coverage.
        group: which of `NAMES` each of them belongs to.
        levels: whether levels have effects.
        pairs: whether pairs of levels have them, too.
    """
    numbers = [NAMES.index(name) for name in group]
    bare = np.array([name == "coverage" and np.ptp(column) == 0 for name, column in zip(group, dense.T, strict=True)])
    columns = columns_of(table, trained, dense.shape[1], numbers, bare, 0 if not levels else 2 if pairs else 1)
    x = np.zeros((len(table), len(columns.group)))
    x[:, : dense.shape[1]] = np.where(bare, 0.0, dense)
    at = columns.of(table.codes)
    row, place = np.nonzero(at >= 0)
    x[row, at[row, place]] = 1.0
    return _Fitting(table, trained, columns, x).run()


class _Fitting:
    """Newton steps for the effects, MacKay's fixed point for the variances, moments for rho, in turn."""

    def __init__(self, table: Answered, trained: Trained, columns: Columns, x: np.ndarray):
        self.table, self.trained, self.columns, self.x = table, trained, columns, x
        self.variance = np.array([start for start, _ in GROUPS.values()])
        self.b = np.zeros(x.shape[1])
        rate = (table.wrong.sum() + 0.5) / (table.answers.sum() + 1)
        self.b[0] = np.log(rate / (1 - rate))
        self.rho = 0.0

    def run(self) -> Effects:
        gram = None
        for round_ in range(_ROUNDS):
            before = self.variance.copy()
            prior = self._prior()
            for _ in range(_NEWTON if round_ < 2 else 1):
                w, e = self._pull()
                if gram is None or round_ < 3:
                    gram = (self.x * w[:, None]).T @ self.x
                factor = cho_factor(gram + np.diag(1 / prior), lower=True, check_finite=False)
                step = cho_solve(factor, self.x.T @ e - self.b / prior, check_finite=False)
                largest = np.abs(self.x @ step).max()
                self.b = self.b + step * min(1.0, 2 / max(largest, 1e-9))
                if largest < 1e-3:
                    break
            s = cho_solve(factor, np.eye(len(prior)), check_finite=False)
            used = float(len(prior) - (np.diag(s) / prior).sum())
            self._widen(np.diag(s))
            self.rho = overdispersion(expit(self.x @ self.b), self.table, used)
            if round_ > 2 and np.abs(np.log(self.variance / before)).max() < 0.05:
                break
        w, _ = self._pull()
        s = np.linalg.inv((self.x * w[:, None]).T @ self.x + np.diag(1 / self._prior()))
        spread = ((self.x @ s) * self.x).sum(1)
        covariance = s.copy()
        at = np.flatnonzero(self.columns.bare)
        covariance[at, at] = _UNKNOWN
        return Effects(
            self.columns, self.b, covariance, self.variance, self.rho, used, self.trained, self.x @ self.b, spread, w
        )

    def _prior(self) -> np.ndarray:
        return self.variance[self.columns.group]

    def _pull(self) -> tuple[np.ndarray, np.ndarray]:
        n, k = self.table.answers, self.table.wrong
        mu = expit(self.x @ self.b)
        d = 1 + np.maximum(n - 1, 0) * self.rho
        return n * mu * (1 - mu) / d, (k - n * mu) / d

    def _widen(self, diagonal: np.ndarray) -> None:
        for number, (usual, weight) in enumerate(GROUPS.values()):
            if weight is None:
                continue
            own = self.columns.group == number
            own[: self.columns.dense] &= ~self.columns.bare
            now = self.variance[number]
            known = float((1 - diagonal[own] / now).sum())
            self.variance[number] = np.sqrt(now * (float((self.b[own] ** 2).sum()) + weight * usual) / (known + weight))
