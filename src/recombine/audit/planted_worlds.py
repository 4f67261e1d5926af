"""Planted worlds: tables of all kinds whose truth is known: who fails how often on what, and because of what.

A world has a space of 3 to 8 factors with 2 to 12 levels, training rows on some of its combinations, and 200 to 50,000
answers on some of them. Each combination has a true rate of failure. A cause is a pattern (levels that fail together)
or a rule of coverage. A planted pattern is one on which at least `LEAST` answers are expected: of fewer nothing can be
known.

The worlds on which the audit was built and those on which it is judged are drawn from other streams (`PURPOSES`), and
their seeds differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from ..keys import generator, key_for
from ..spaces import Product
from .coverage_rules import Trained
from .findings import RULES
from .planted_kinds import BASE, HARD, KINDS, Kind
from .seen import Seen

PURPOSES = ("developed", "judged")  # tables to look at while building; tables to judge by
LEAST = 15  # answers that are expected on a planted pattern
_SIZES = (60, 20_000)  # combinations of a space
_ANSWERS = (200, 50_000)


@dataclass(frozen=True)
class Cause:
    """Why a world fails: factor number -> level number, or a rule of coverage."""

    pattern: tuple[tuple[int, int], ...] = ()
    rule: str = ""

    def covers(self, rows: np.ndarray, rules: dict[str, np.ndarray]) -> np.ndarray:
        """Which combinations it is about."""
        if self.rule:
            return rules[self.rule]
        return np.logical_and.reduce([rows[:, factor] == level for factor, level in self.pattern])


@dataclass(frozen=True)
class World:
    """A table whose truth is known, one entry per combination that is possible.

    Args:
        kind: a key of `KINDS`.
        space: of all combinations.
        rows: those that are possible.
        truth: how often each fails.
        frequency: how often each occurs in use.
        trained: training rows of each.
        answers: of each.
        wrong: how many of these are wrong.
        rules: which combinations each rule of coverage is about.
        causes: why it fails; none where nothing simpler than the combinations themselves explains it.
        effects: in an additive world the effect of each level of each factor, from the mean of its factor.
    """

    kind: str
    space: Product
    rows: np.ndarray
    truth: np.ndarray
    frequency: np.ndarray
    trained: np.ndarray
    answers: np.ndarray
    wrong: np.ndarray
    rules: dict[str, np.ndarray]
    causes: tuple[Cause, ...]
    effects: tuple[np.ndarray, ...] = ()

    @property
    def seen_rate(self) -> float:
        """The true rate of failure on seen combinations with answers, each counted by its answers."""
        used = (self.trained > 0) & (self.answers > 0)
        used = used if used.any() else self.answers > 0
        return float(np.average(self.truth[used], weights=self.answers[used]))

    def frame(self) -> Any:
        """The table as a user has it: factors, split, right, and how many rows a row stands for."""
        import pandas

        parts = [(self.trained, "train", None), (self.wrong, "test", "0"), (self.answers - self.wrong, "test", "1")]
        tables = []
        for times, split, right in parts:
            at = np.flatnonzero(times)
            levels = {f"f{i}": np.char.add("v", self.rows[at, i].astype(str)) for i in range(self.rows.shape[1])}
            tables.append(pandas.DataFrame(levels | {"split": split, "right": right, "times": times[at]}))
        return pandas.concat(tables, ignore_index=True)


def world(kind: str, seed: int, purpose: str = "developed", combinations: int = _SIZES[1]) -> World:
    """A planted world.

    Args:
        kind: a key of `KINDS`.
        seed: which one.
        purpose: one of `PURPOSES`: tables to build by, or tables to judge by.
        combinations: about how many there are at most.
    """
    if kind not in KINDS:
        raise unknown("kind of planted world", kind, KINDS)
    if purpose not in PURPOSES:
        raise unknown("purpose of planted worlds", purpose, PURPOSES)
    require_int("seed", seed, at_least=0)
    rng = generator(key_for(f"audit-world-{kind}-{purpose}", seed))
    made = KINDS[kind]
    for _ in range(200):
        found = _draw(kind, made, rng, combinations)
        if found is not None:
            return found
    raise UserError(f"no world of kind {kind!r} could be drawn with seed={seed}; try another one")


def _draw(kind: str, made: Kind, rng: np.random.Generator, combinations: int) -> World | None:
    """One attempt; None where no pattern would get enough answers, or nothing differs."""
    total = int(made.answers or round(math.exp(rng.uniform(*np.log(_ANSWERS)))))
    space = _space(made, rng, combinations)
    margins = [_margin(n, made.zipf, rng) for n in space.levels]
    rows = space.enumerate()
    impossible = _zeros(made, rows, margins, rng)
    rows = rows[~impossible]
    frequency = np.prod([margin[rows[:, i]] for i, margin in enumerate(margins)], axis=0)
    frequency /= frequency.sum()
    asked = rng.random(len(rows)) < rng.uniform(0.3, 0.8)
    causes: list[Cause] = []
    for size in made.patterns:
        pattern = _pattern(rows, frequency * asked, total, size, rng)
        if pattern is None or any(_overlap(pattern, one.pattern) for one in causes):
            return None
        causes.append(Cause(pattern))
    if made.xor:
        causes = [Cause(((0, a), (1, 1 - a))) for a in (0, 1)]
    trained = _trained(made, rows, frequency, causes, total, rng)
    if trained is None:
        return None
    found, _ = Trained(Seen(space, rows[trained > 0])).rules(rows)
    rules = dict(zip(RULES, found.T, strict=True))
    if made.rule:
        mass = (frequency * asked)[rules[made.rule]].sum()
        if mass * total < LEAST or (frequency * asked)[~rules[made.rule]].sum() * total < LEAST:
            return None
        causes.append(Cause(rule=made.rule))
    truth, effects = _truth(made, rows, causes, rules, rng)
    share = frequency * asked
    answers = rng.multinomial(total, share / share.sum())
    wrong = rng.binomial(answers, truth)
    if not 0 < wrong.sum() < total:
        return None
    return World(kind, space, rows, truth, frequency, trained, answers, wrong, rules, tuple(causes), effects)


# -- parts ------------------------------------------------------------------------------------------------------------
def _space(made: Kind, rng: np.random.Generator, most: int) -> Product:
    size = math.exp(rng.uniform(math.log(_SIZES[0]), math.log(most)))
    while True:
        levels = rng.integers(2, 13, rng.integers(3, 9))
        if made.xor:
            levels[:2] = 2
        if size / 1.6 < math.prod(levels.tolist()) < size * 1.6:
            return Product(**{f"f{i}": int(n) for i, n in enumerate(levels)})


def _margin(n: int, zipf: bool, rng: np.random.Generator) -> np.ndarray:
    if not zipf:
        return rng.dirichlet(np.full(n, 8.0))
    found = 1 / np.arange(1, n + 1)
    return rng.permutation(found / found.sum())


def _zeros(made: Kind, rows: np.ndarray, margins: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Combinations that cannot be: those of two pairs of levels."""
    found = np.zeros(len(rows), bool)
    for _ in range(2 if made.zeros else 0):
        a, b = rng.choice(len(margins), 2, replace=False)
        found |= (rows[:, a] == rng.integers(len(margins[a]))) & (rows[:, b] == rng.integers(len(margins[b])))
    return found


def _pattern(
    rows: np.ndarray, share: np.ndarray, total: int, size: int, rng: np.random.Generator
) -> tuple[tuple[int, int], ...] | None:
    """Levels of some factors on which enough answers, and no more than a third of all, are expected."""
    for _ in range(60):
        factors = np.sort(rng.choice(rows.shape[1], min(size, rows.shape[1]), replace=False))
        levels = rows[rng.integers(len(rows)), factors]
        inside = (rows[:, factors] == levels).all(1)
        mass = share[inside].sum() / share.sum()
        if mass * total >= LEAST and mass < 0.34 and (share[inside] > 0).sum() > 2:
            return tuple(zip(factors.tolist(), levels.tolist(), strict=True))
    return None


def _overlap(a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...]) -> bool:
    """Whether one pattern holds the other."""
    return set(a) <= set(b) or set(b) <= set(a)


def _trained(
    made: Kind, rows: np.ndarray, frequency: np.ndarray, causes: list[Cause], total: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Training rows of each combination; some combinations, and what the kind says, have none."""
    allowed = rng.random(len(rows)) < rng.uniform(*made.covered)
    if made.untrained:
        for cause in causes:
            allowed &= ~cause.covers(rows, {})
    if made.harmless:
        a, b = rng.choice(rows.shape[1], 2, replace=False)
        allowed &= ~((rows[:, a] == rows[0, a]) & (rows[:, b] == rows[0, b]))
    if not allowed.any():
        return None
    share = frequency * allowed
    return rng.multinomial(max(total, 5 * len(rows)), share / share.sum())


def _truth(
    made: Kind, rows: np.ndarray, causes: list[Cause], rules: dict[str, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """How often each combination fails, and the effects of levels where they add up."""
    base = rng.uniform(*BASE)
    if made.lottery:
        mean, size = rng.uniform(0.1, 0.4), rng.uniform(0.5, 3)
        holds = 1 - rng.beta(mean * size, (1 - mean) * size, len(rows))
    elif made.additive:
        effects = [rng.normal(0, 0.8, int(rows[:, i].max()) + 1) for i in range(rows.shape[1])]
        effects = tuple(own - own.mean() for own in effects)
        logit = math.log(0.12 / 0.88) + sum(own[rows[:, i]] for i, own in enumerate(effects))
        return 1 / (1 + np.exp(-logit)), effects
    else:
        holds = np.full(len(rows), 1 - base)
    for cause in causes:
        hard = rng.uniform(*HARD)
        holds = holds * np.where(cause.covers(rows, rules), 1 - hard, 1.0)
    return 1 - holds, ()
