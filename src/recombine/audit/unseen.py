"""Which unseen combinations are listed: the riskiest, found without going through a huge space."""

from __future__ import annotations

import numpy as np

from ..planning.forbidden import Forbidden
from ..tables import Observed
from .asking import Asking
from .risk_forecast import Forecast
from .seen import Seen

LISTED_UP_TO = 300_000  # combinations of a space that is gone through as a whole
SAMPLED = 50_000  # combinations of each kind that are looked at in a larger one


def candidates(
    observed: Observed,
    seen: Seen,
    forecast: Forecast | None,
    asking: Asking,
    most: int,
    seed: int,
    forbidden: Forbidden | None = None,
) -> tuple[np.ndarray, bool]:
    """The `most` riskiest unseen combinations, and whether these are all that are unseen.

    Of a huge space those in the table, neighbors of trained ones, a sample, and combinations with what was found to
    fail are looked at.
    """
    space = observed.space
    if space.size <= LISTED_UP_TO:
        rest = np.ones(space.size, bool)
        rest[space.rank(seen.combinations)] = False
        rows, whole = space.unrank(np.flatnonzero(rest)), True
    else:
        rows, whole = _drawn(observed, seen, forecast, min(SAMPLED, most), seed), False
    if forbidden:
        rows = rows[forbidden.allowed(rows)]
    if len(rows) <= most:
        return rows, whole
    if forecast is None:
        order = np.argsort(-asking.trained.rules(rows)[1], kind="stable")
    else:
        order = np.argsort(-forecast.order(asking.about(rows)), kind="stable")
    return rows[np.sort(order[:most])], False


def _drawn(observed: Observed, seen: Seen, forecast: Forecast | None, size: int, seed: int) -> np.ndarray:
    space = observed.space
    rng = np.random.default_rng(seed)
    near = seen.combinations[np.argsort(-seen.rows, kind="stable")[:size]].copy()
    column = rng.integers(0, space.width, len(near))
    near[np.arange(len(near)), column] = rng.integers(0, np.array(space.levels)[column])
    drawn = [observed.rows[~observed.seen], near, space.sample(rng, size)]
    for number in forecast.causes.numbers if forecast is not None else ():
        held = space.sample(rng, size // 4)
        for factor, level in forecast.patterns.levels(number):  # type: ignore[union-attr]
            held[:, factor] = level
        drawn.append(held)
    rows = np.concatenate(drawn).astype(space.dtype)
    rows = space.unrank(np.unique(space.rank(rows))) if space.size < 2**62 else np.unique(rows, axis=0)
    return rows[~seen.contains(rows)]
