"""bench of what counts and solves: balanced splits and their certificates, plans of all pairs, ridge regression."""

from __future__ import annotations

import time

import numpy as np

from ..planning import plan_space
from ..spaces import Product, Subsets
from ..statistics import ridge
from ..supports import balanced
from .bench_row import Row, Say, in_turns
from .other_sides import pairs_by, ridge_of_scikit_learn

#: factors of ten levels -> the other sides that end within a minute, and the most seconds that are wanted of ours
PLANS = {10: (("allpairspy", "covertable"), None), 20: (("allpairspy", "covertable"), None), 50: (("allpairspy",), 3.0)}
LEVELS = 10


def measure_splits(rounds: int, say: Say, modules: int = 32, at_most: int = 7) -> list[Row]:
    """A balanced split of millions of combinations, and the certificate of it."""
    space = Subsets(modules=modules, at_most=at_most)
    split, certified = [], []
    for number in range(rounds):
        took, gave = in_turns({"split": lambda seed=number: balanced(space, seed=seed)}, 1, time.process_time)
        split += took["split"]
        certified += in_turns({"certificate": gave["split"].certificate}, 1, time.process_time)[0]["certificate"]
    work = f"of Subsets({modules}, {at_most}), {space.size:,} combinations"
    rows = [
        Row(f"balanced split {work}", "s", split, at_most=5.0),
        Row(f"certificate of a balanced split {work}", "s", certified, at_most=2.0),
    ]
    for row in rows:
        say(f"  {row}")
    return rows


def measure_plans(
    rounds: int, against: list[str], say: Say, plans: dict[int, tuple[tuple[str, ...], float | None]] | None = None
) -> list[Row]:
    """Rows that show every pair of levels, and the time until they are found. No other side is to need fewer rows."""
    rows = []
    for factors, (others, limit) in (PLANS if plans is None else plans).items():
        levels = [LEVELS] * factors
        space = Product(**{f"f{number}": LEVELS for number in range(factors)})
        sides = {"ours": lambda space=space: len(plan_space(space).steps)}
        sides |= {name: pairs_by(name, levels) for name in others if name in against}
        took, gave = in_turns(sides, rounds, time.process_time)
        ours = took.pop("ours")
        needed = {name: [float(count)] * rounds for name, count in gave.items()}
        work = f"plan of all pairs of {factors} factors with {LEVELS} levels"
        times = dict.fromkeys(others, 1.0)
        rows += [
            Row(work, "s", ours, took, at_most=limit),
            Row(work, "rows", needed.pop("ours"), needed, times=times),
        ]
        for row in rows[-2:]:
            say(f"  {row}")
    return rows


def measure_ridge(rounds: int, against: list[str], say: Say, shape: tuple[int, int, int] = (10_000, 512, 16)) -> Row:
    """A linear probe of a layer: rows x features, and targets."""
    count, features, targets = shape
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((count, features)), rng.standard_normal((count, targets))
    sides = {"ours": lambda: ridge.fit(x, y)}
    if "scikit-learn" in against:
        sides["scikit-learn"] = ridge_of_scikit_learn(x, y)
    in_turns(sides, 1, time.process_time)  # libraries load their kernels when they are first used
    took = {
        name: [1e3 * each for each in times] for name, times in in_turns(sides, rounds, time.process_time)[0].items()
    }
    row = Row(f"ridge {count:,} x {features} x {targets}", "ms", took.pop("ours"), took, times={"scikit-learn": 1.0})
    say(f"  {row}")
    return row
