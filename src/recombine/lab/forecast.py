"""What more seeds would bring to an open claim: the chance that it is decided by each look, by the predictive t.

Mean and spread are drawn from what the seeds so far leave possible (the reference prior: future readings are Student's
t), then seeds are, and each such future is judged. An estimate, for choosing what to run; no verdict depends on it.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Sequence

import numpy as np

from .boundaries import BOUNDARIES, LEVEL, LOOKS
from .cell_verdict import LEAST_SHARE, CellVerdict
from .sequential import TRANSFORMS, confidence_sequence, first_decisions, how_often

FUTURES = 400
HOPELESS = 0.05  # chance to be decided by the last look, below which seeds will not decide
NEVER = 10**6
Decisions = tuple[np.ndarray, np.ndarray]  # of each future: a number in OUTCOMES, and the seeds it took


def chances(cells: Sequence[CellVerdict]) -> dict[int, float]:
    """The chance that a claim is decided by each look that is still to come."""
    later = [n for n in LOOKS if cells and n > max(cell.asked for cell in cells)]
    if any(cell.share_met[1] < LEAST_SHARE for cell in cells):  # it is sure that most seeds fail the precondition
        return dict.fromkeys(later, 0.0)
    if any(cell.met < LOOKS[0] for cell in cells):
        return {}
    at = np.minimum(_supported_at(cells), _refuted_at(cells)) if later else np.empty(0)
    return {n: float((at <= n).mean()) for n in later}


def _supported_at(cells: Sequence[CellVerdict]) -> np.ndarray:
    """When all cells hold (or tie), in each future."""
    latest = np.zeros(FUTURES)
    for cell in cells:
        which, at = _future(cell, 1)
        alone = len(cells) == 1  # then a refutation decides, too
        latest = np.maximum(latest, np.where((which == 1) | (which == 3) | alone & (which == 2), at, NEVER))
    return latest


def _refuted_at(cells: Sequence[CellVerdict]) -> np.ndarray:
    """When some cell fails at its share of the level, in each future."""
    first = np.full(FUTURES, float(NEVER))
    for cell in cells if len(cells) > 1 else ():
        which, at = _future(cell, len(cells))
        first = np.minimum(first, np.where(which == 2, at, NEVER))
    return first


def _future(cell: CellVerdict, m: int) -> Decisions:
    """The decision of a cell in each future; the same for the same seeds."""
    share = cell.met / cell.asked
    if share < LEAST_SHARE:
        return np.zeros(FUTURES, dtype=int), np.full(FUTURES, NEVER)
    found, takes = cell.known_ends, TRANSFORMS[cell.claim.transform].takes
    if cell.claim.how_often is None and not all(np.all(takes(ends)) for ends in found):
        return np.zeros(FUTURES, dtype=int), np.full(FUTURES, NEVER)
    decide = _future_mean if cell.claim.how_often is None else _future_share
    both = [decide(cell, ends, m) for ends in found]
    which, at = both[0][0], np.max([one for _, one in both], axis=0)
    agreed = np.all([one == which for one, _ in both], axis=0) & (which != 0)
    total = np.maximum(cell.asked + np.maximum(at - cell.met, 0) / share, _sure_after(cell))
    return np.where(agreed, which, 0), np.where(agreed, total, NEVER)


def _generator(cell: CellVerdict) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{cell.claim.id}/{cell.cell}/{cell.met}".encode()))


def _future_mean(cell: CellVerdict, ends: np.ndarray, m: int) -> Decisions:
    claim, transform, generator = cell.claim, TRANSFORMS[cell.claim.transform], _generator(cell)
    y = transform(ends, claim.resolution)
    theta = float(transform([claim.threshold], claim.resolution)[0])
    n, spread = len(y), max(float(y.std(ddof=1)), claim.resolution)
    sigma = spread * np.sqrt((n - 1) / generator.chisquare(n - 1, FUTURES))
    mu = y.mean() + sigma / math.sqrt(n) * generator.standard_normal(FUTURES)
    more = mu[:, None] + sigma[:, None] * generator.standard_normal((FUTURES, max(LOOKS[-1] - n, 0)))
    whole = np.concatenate([np.broadcast_to(y, (FUTURES, n)), more], axis=1)
    low, high = confidence_sequence(whole, claim.resolution, m)
    return first_decisions(low, high, theta, claim.bound.sign, claim.margin)


def _future_share(cell: CellVerdict, ends: np.ndarray, m: int) -> Decisions:
    claim, generator = cell.claim, _generator(cell)
    there = claim.bound.sign * (ends - claim.threshold) >= 0
    k, n = int(there.sum()), len(there)
    p = generator.beta(k + 1, n - k + 1, FUTURES)
    more = generator.random((FUTURES, max(LOOKS[-1] - n, 0))) < p[:, None]
    counted = np.cumsum(np.concatenate([np.broadcast_to(there, (FUTURES, n)), more], axis=1), axis=1)
    table = share_table(m)
    ends_at = [table[look][counted[:, look - 1]] for look in LOOKS]
    low = np.maximum.accumulate(np.stack([one[:, 0] for one in ends_at], axis=1), axis=1)
    high = np.minimum.accumulate(np.stack([one[:, 1] for one in ends_at], axis=1), axis=1)
    return first_decisions(low, high, claim.how_often, 1.0, -1.0)


@functools.cache
def share_table(m: int) -> dict[int, np.ndarray]:
    """The interval of k of n at each look n: (n + 1, 2)."""
    return {n: np.array([how_often(k, n, LEVEL / m) for k in range(n + 1)]) for n in LOOKS}


def _sure_after(cell: CellVerdict) -> float:
    """Seeds after which it is sure that enough of them meet the precondition, at the share that did so far."""
    if cell.may_be_judged:
        return cell.asked
    share = cell.met / cell.asked
    later = (n for n in range(cell.asked + 1, LOOKS[-1] + 1) if how_often(int(share * n), n)[0] >= LEAST_SHARE)
    return next(later, NEVER)


def seeds_to_decide(cell: CellVerdict) -> int | None:
    """The look at which a cell would be decided if mean and spread stayed as they are; None if none would do."""
    one, share = cell.judgement, cell.claim.how_often
    for n in LOOKS:
        if n <= one.n:
            continue
        if share is not None:
            low, high = how_often(round(one.mean * n), n)
            decided = low >= share or high < share
        else:
            half, far = BOUNDARIES[LOOKS.index(n)] / math.sqrt(n) * one.spread, abs(one.effect) * one.spread
            decided = far > half or far + half <= cell.claim.margin
        if decided:
            return n
    return None
