"""Ways to choose the combinations that are trained, and those that are set aside for scoring."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...audit.features import describe
from ...audit.seen import Seen
from ...errors import UserError
from ...keys import generator, key_for
from ...planning import fewest_to_connect, plan_space
from ...spaces import Space
from ...supports.certificate import components, element_usage
from ...supports.grids import stair
from ...trials.panel import NOISE

METHODS = ("plan", "stair", "random", "risk", "variance")
FIRST = 1.5  # the smallest number tried, in combinations that connect all
ASIDE = 0.2  # share of the combinations that no way may choose
TRIES = 1000


def budgets(space: Space, points: int, most: float) -> list[int]:
    """Numbers of combinations, from a few more than connect all to a share of the space, evenly on a log axis."""
    low, high = math.ceil(FIRST * fewest_to_connect(space)), int(most * space.size)
    if low >= high:
        raise UserError(f"{space} is too small: {low} combinations are to connect it and {high} are the most tried")
    return sorted({round(n) for n in np.geomspace(low, high, points).tolist()})


def set_aside(space: Space, seed: int) -> np.ndarray:
    """Ranks of combinations that are for scoring only, in random order; the others have every element and connect."""
    rng = generator(key_for("plan-saves-data", seed))
    count = math.ceil(ASIDE * space.size)
    for _ in range(TRIES):
        ranks = rng.permutation(space.size)
        if _hang_together(space, space.unrank(ranks[count:])):
            return ranks[:count]
    raise UserError(f"{space} is too small to set {count} of its {space.size} combinations aside")


def choose(space: Space, method: str, n: int, seed: int, aside: np.ndarray) -> np.ndarray:
    """n combinations, none of those set aside, chosen in one of the ways."""
    rng = generator(key_for(f"plan-saves-data-{method}", seed))
    if method == "plan":
        return plan_space(space, budget=n, forbid=_forbidding(space, aside), seed=seed).rows
    pool = np.setdiff1d(np.arange(space.size), aside)
    return {"random": _random, "stair": _stair, "risk": _riskiest, "variance": _most_uncertain}[method](
        space, n, rng, pool
    )


def _forbidding(space: Space, ranks: np.ndarray) -> list[Any]:
    """These combinations and no others, as what a plan is told to leave out."""
    rows = space.unrank(ranks)
    if space.columns:
        factors = list(space.columns.items())
        return [{name: levels[at] for (name, levels), at in zip(factors, row, strict=True)} for row in rows.tolist()]
    hot = np.asarray(space.multihot(rows), bool).tolist()
    return [" & ".join(name if on else f"!{name}" for name, on in zip(space.element_names, row)) for row in hot]


def _hang_together(space: Space, rows: np.ndarray) -> bool:
    return bool((element_usage(space, rows) > 0).all()) and len(components(space, rows)) == 1


def _random(space: Space, n: int, rng: np.random.Generator, pool: np.ndarray) -> np.ndarray:
    rows = space.unrank(rng.permutation(pool)[:n])
    for _ in range(TRIES):
        if _hang_together(space, rows):
            return rows
        rows = space.unrank(rng.permutation(pool)[:n])
    return rows


def _stair(space: Space, n: int, rng: np.random.Generator, pool: np.ndarray) -> np.ndarray:
    if space.columns:
        ranks = space.rank(stair(space).train.combinations())
        ranks = ranks[np.argsort(space.unrank(ranks).sum(1), kind="stable")]  # as it is climbed
    else:
        m, k = len(space.element_names), space.sizes[-1]
        rows = [sorted((i + j) % m for j in range(k)) for i in range(m)]  # of the largest sets: no padding
        ranks = space.rank(rows)
    ranks = ranks[np.isin(ranks, pool)]
    return space.unrank(np.concatenate([ranks, rng.permutation(np.setdiff1d(pool, ranks))])[:n])


def _riskiest(space: Space, n: int, rng: np.random.Generator, pool: np.ndarray) -> np.ndarray:
    """Begins with one at random; then always the one that lacks most."""
    candidates = space.unrank(pool)
    chosen = [int(rng.integers(len(pool)))]
    while len(chosen) < n:
        features = describe(Seen(space, candidates[np.array(chosen)]), candidates)
        # our weights: pairs decide (the prototype's Spearman of .75), then what was never trained, then what is rare
        lacks = features["unseen_pairs"] + features["untrained"] + 0.1 * features["rare_pair"]
        lacks = lacks + 1e-6 * rng.random(len(lacks))
        lacks[chosen] = -np.inf
        chosen.append(int(np.argmax(lacks)))
    return candidates[np.array(chosen)]


def _most_uncertain(space: Space, n: int, rng: np.random.Generator, pool: np.ndarray) -> np.ndarray:
    """Always the one of which a Gaussian process that knows parts only is least sure, by its prior variance.

    The kernel is that of the panel, 1 + overlap, a product of features; each choice updates the posterior by rank one.
    """
    candidates = space.unrank(pool)
    features = np.hstack([np.ones((len(candidates), 1)), space.multihot(candidates).astype(float)])
    prior, covariance = (features**2).sum(1), np.eye(features.shape[1])
    lots, chosen = 1e-6 * rng.random(len(candidates)), []
    for _ in range(n):
        left = (features @ covariance * features).sum(1) / prior + lots
        left[chosen] = -np.inf
        chosen.append(int(np.argmax(left)))
        known = covariance @ features[chosen[-1]]
        covariance = covariance - np.outer(known, known) / (NOISE + features[chosen[-1]] @ known)
    return candidates[np.array(chosen)]
