"""Audits of planted worlds of one kind, against the truth: the readings of audit-truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...audit.planted_worlds import World, world
from ...audit.scorecard import examine, score
from ...keys import generator, key_for
from ...spaces import find

_STRONG = 0.8  # how often what a control adds fails
SEEDS = 10_000  # worlds of a seed are numbered apart from those of another


def judge(options: dict[str, Any], seed: int, number: int) -> list[dict[str, Any]]:
    """Audits one world of the kind: rows that compare what is said with the truth."""
    made = world(options["kind"], SEEDS * seed + number, "judged", options["combinations"])
    rng = generator(key_for(f"audit-truth-told-{options['kind']}-{number}", seed))
    said = examine(ANSWERS_GIVEN[options["told"]](made, rng))
    if options["told"] == "unsure":  # a control of what is said, not of what is told: no interval says anything
        nothing, one = np.zeros(len(said.risk)), np.ones(len(said.risk))
        said = replace(said, low=nothing, high=one, calls=np.full(len(said.risk), "open"))
    return [
        {"reading": "table", "metric": metric, "group": str(number), "value": value}
        for metric, value in score(made, said).items()
    ]


# -- what the audit is told: the truth, or what a control makes of it --------------------------------------------------
def _answered_by(made: World, rates: np.ndarray, rng: np.random.Generator) -> World:
    """The world with answers by other rates; at least one of them right and one wrong."""
    wrong = rng.binomial(made.answers, rates)
    at = int(np.argmax(made.answers))
    if not 0 < wrong.sum() < made.answers.sum():
        wrong[at] = made.answers[at] - 1 if wrong.sum() else 1
    return replace(made, wrong=wrong)


def shuffled(made: World, rng: np.random.Generator) -> World:
    """Each combination fails as often as another one, drawn by lot."""
    return _answered_by(made, rng.permutation(made.truth), rng)


def shifted(made: World, rng: np.random.Generator) -> World:
    """Each combination fails as often as the one with the next level of each factor."""
    moved = ((made.rows.astype(np.int64) + 1) % np.array(made.space.levels)).astype(made.space.dtype)
    at = find(made.space, made.rows.astype(made.space.dtype), moved)
    return _answered_by(made, np.where(at >= 0, made.truth[at], made.truth), rng)


def margins(made: World, rng: np.random.Generator) -> World:
    """Each level of a planted pattern fails by itself."""
    rates = made.truth.copy()
    for cause in made.causes:
        for factor, level in cause.pattern:
            rates = np.where(made.rows[:, factor] == level, np.maximum(rates, _STRONG), rates)
    return _answered_by(made, rates, rng)


def planted(made: World, rng: np.random.Generator) -> World:
    """Pairs of levels fail, of whatever model."""
    rates = made.truth.copy()
    weight = made.answers / made.answers.sum()
    for _ in range(3):
        a, b = rng.choice(made.rows.shape[1], 2, replace=False)
        one = made.rows[rng.choice(len(weight), p=weight)]
        rates[(made.rows[:, a] == one[a]) & (made.rows[:, b] == one[b])] = 0.98
    return _answered_by(made, rates, rng)


ANSWERS_GIVEN: dict[str, Callable[[World, np.random.Generator], World]] = {
    "truth": lambda made, rng: made,
    "shuffled": shuffled,
    "shifted": shifted,
    "margins": margins,
    "planted": planted,
    "unsure": lambda made, rng: made,
}
