"""Outcomes: how often the model is right on combinations seen in training and on others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtr

from ..labels import quoted
from ..tables import Observed
from .association import holm
from .rates import Rate, difference, rate
from .seen import Seen

_MANY = 50  # right or wrong trials that are expected in either group, from which the normal approximation is taken
_MOST_TRIALS = 10_000_000


@dataclass(frozen=True)
class Evaluated:
    """Answers of each combination that count, and whether it was seen."""

    at: np.ndarray  # positions in observed.rows
    answers: np.ndarray
    right: np.ndarray
    seen: np.ndarray  # bool
    from_training_rows: bool  # seen combinations have no other answers than those on training rows

    @property
    def failed(self) -> np.ndarray:
        """Share of wrong answers."""
        return 1 - self.right / self.answers


@dataclass(frozen=True)
class OutcomeReport:
    """Section 3 of the audit."""

    seen: Rate
    unseen: Rate
    gap: tuple[float, float, float]  # seen less unseen, and its interval
    by_unseen_pairs: list[Rate]
    by_level: dict[str, list[tuple[Rate, float]]]  # with the corrected p value against the other levels
    notes: list[str]

    def sentences(self) -> list[str]:
        said = []
        if self.seen.answers:
            said.append(
                f"Right on {self.seen.mean:.1%} of the answers on seen combinations "
                f"[{self.seen.low:.1%}, {self.seen.high:.1%}]."
            )
        if self.unseen.answers:
            said.append(
                f"Right on {self.unseen.mean:.1%} of the answers on unseen ones "
                f"[{self.unseen.low:.1%}, {self.unseen.high:.1%}]."
            )
        if not math.isnan(self.gap[0]):
            low, high = self.gap[1:]
            verdict = (
                "unseen ones are harder"
                if low > 0
                else "seen ones are harder"
                if high < 0
                else "no difference is shown"
            )
            said.append(f"The gap is {100 * self.gap[0]:.1f} points [{100 * low:.1f}, {100 * high:.1f}]: {verdict}.")
        return said

    def to_json(self) -> dict[str, Any]:
        return {
            "seen": self.seen.to_json(),
            "unseen": self.unseen.to_json(),
            "gap": dict(zip(("mean", "low", "high"), self.gap, strict=True)),
            "by_unseen_pairs": [one.to_json() for one in self.by_unseen_pairs],
            "by_level": {
                factor: [one.to_json() | {"p_holm": p} for one, p in levels] for factor, levels in self.by_level.items()
            },
            "interval": "95 %, Wilson's with as many trials as the spread of the combinations says",
            "notes": self.notes,
            "summary": self.sentences(),
        }


def evaluate(observed: Observed) -> Evaluated:
    """Answers outside training; for seen combinations those on training rows, if there are no others."""
    outside, inside = observed.answers[:, 1], observed.answers[:, 0]
    seen = observed.seen
    fall_back = bool(not (outside[seen] > 0).any() and (inside > 0).any())
    side = np.where(seen & fall_back, 0, 1)
    place = np.arange(len(side))
    answers, right = observed.answers[place, side], observed.right[place, side]
    at = np.flatnonzero(answers > 0)
    return Evaluated(at, answers[at].astype(float), right[at], seen[at], fall_back)


def compare(observed: Observed, seen: Seen, evaluated: Evaluated) -> OutcomeReport:
    """Seen against unseen, by number of unseen pairs, and by level."""
    notes = []
    if evaluated.from_training_rows:
        notes.append("seen combinations have outcomes on training rows only, which flatter the model")
    if not (~evaluated.seen).any():
        notes.append(
            "no unseen combination has an outcome"
            + ("" if observed.split else "; a --split tells training rows from others")
        )
    sides = [(evaluated.right[side], evaluated.answers[side]) for side in (evaluated.seen, ~evaluated.seen)]
    names = ("seen combinations", "unseen combinations")
    both = [rate(name, *side) for name, side in zip(names, sides, strict=True)]
    by_pairs = []
    if observed.space.width > 1 and len(evaluated.at) and seen.affordable(2):
        unseen = _unseen_pairs(seen, observed.rows[evaluated.at])
        for number in np.unique(unseen).tolist():
            chosen = unseen == number
            by_pairs.append(
                rate(
                    f"{number} unseen pair{'s' if number != 1 else ''}",
                    evaluated.right[chosen],
                    evaluated.answers[chosen],
                )
            )
    return OutcomeReport(both[0], both[1], difference(*both), by_pairs, _by_level(observed, evaluated), notes)


def _unseen_pairs(seen: Seen, combinations: np.ndarray) -> np.ndarray:
    """(n,) pairs of levels of each combination that were never seen together, place by place to spare memory."""
    unseen = np.zeros(len(combinations), np.int64)
    for place in seen.places(2):
        has, codes = seen.codes(combinations, place)
        unseen[has] += seen.table(place).look_up(codes)[0] == 0
    return unseen


def _by_level(observed: Observed, evaluated: Evaluated) -> dict[str, list[tuple[Rate, float]]]:
    """The rate of each level; p that it is as the others', by combinations, corrected over all levels."""
    found: list[tuple[str, Rate, float]] = []
    share = evaluated.right / evaluated.answers
    for i, (factor, levels) in enumerate(observed.space.factors.items()):
        column = observed.rows[evaluated.at, i]
        for j, level in enumerate(levels):
            chosen = column == j
            if chosen.any():
                one = rate(str(level), evaluated.right[chosen], evaluated.answers[chosen])
                found.append((factor, one, _differ(share[chosen], share[~chosen])))
    corrected = holm([p for *_, p in found])
    by_level: dict[str, list[tuple[Rate, float]]] = {}
    for (factor, one, _), p in zip(found, corrected, strict=True):
        by_level.setdefault(factor, []).append((one, p))
    return by_level


def _differ(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p value that shares of two groups of combinations are alike; NaN where too few are there.

    Fisher's exact test where a combination is right or wrong: five that are all wrong have no variance of their own,
    and a test that believes it calls them certain. Ours: of shares between 0 and 1, a combination counts as so many
    trials as its variance is smaller than that of one trial. Where many are expected, the normal approximation.
    """
    if len(a) < 5 or len(b) < 5:
        return math.nan
    both = np.concatenate([a, b])
    n, mean, variance = len(both), float(both.mean()), float(both.var())
    if variance < 1e-12:
        return 1.0
    trials = min(max(mean * (1 - mean) / variance, 1.0), max(_MOST_TRIALS / n, 1.0))
    if min(len(a), len(b)) * trials * min(mean, 1 - mean) > _MANY:
        error = math.sqrt(variance * n / (n - 1) * (1 / len(a) + 1 / len(b)))
        return float(2 * ndtr(-abs(float(a.mean() - b.mean())) / error))
    right = float(a.sum()) * trials
    counts = round(n * trials), round(float(both.sum()) * trials), round(len(a) * trials)  # all, right ones, those of a
    above, below = hypergeometric_tails(right, *counts)
    return float(min(1.0, 2 * min(above, below)))


def hypergeometric_tails(found: float, total: int, good: int, drawn: int) -> tuple[float, float]:
    """P(X >= found) and P(X <= found) of good ones among those drawn without replacement.

    As scipy.stats has it, importing which takes a third of a second.

    Args:
        found: good ones that were drawn; between whole numbers it counts for neither side.
        total: of all.
        good: of these.
        drawn: of all.
    """
    x = np.arange(max(0, drawn - (total - good)), min(good, drawn) + 1)
    logs = _log_choose(good, x) + _log_choose(total - good, drawn - x) - _log_choose(total, np.array(drawn))
    chance = np.exp(logs)
    above, below = x >= math.floor(found + 1e-9), x <= math.ceil(found - 1e-9)
    return min(1.0, float(chance[above].sum())), min(1.0, float(chance[below].sum()))


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def weak_levels(report: OutcomeReport) -> list[str]:
    """Levels on which the model is worse than on the others of their factor, after correction."""
    found = []
    for factor, levels in report.by_level.items():
        for one, p in levels:
            others = [other for other, _ in levels if other is not one]
            answers = sum(other.answers for other in others)
            if p < 0.05 and answers and one.mean < sum(o.mean * o.answers for o in others) / answers:
                found.append((p, f"{quoted(one.name)} of {quoted(factor)} ({one.mean:.1%})"))
    return [words for _, words in sorted(found, key=lambda pair: pair[0])]
