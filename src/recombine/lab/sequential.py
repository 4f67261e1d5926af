"""Evidence over seeds: a confidence sequence, valid however often one looks and whenever one stops.

A claim has a threshold and a side. Readings, one per seed in order, are taken to a scale on which they are roughly
normal; at each look (3, 4, 6, ... 64 seeds) the interval

    CS_n = mean +- c_n s_n / sqrt(n),        I_n = intersection of CS_k over looks k <= n

is drawn, whose boundaries c_n are such that the truth ever leaves I_n with probability .05 at most
(`boundaries.py`). The claim is *supported* if I_n lies on its side, *refuted* if it lies on the other, a *tie* if it
lies within a declared margin of the threshold, else *open*. A decision stays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..labels import visible
from .boundaries import BOUNDARIES, LEVEL, LOOKS, spent
from .evidence import NONE, Sides, sides_of_mean

FLOOR = 0.01  # the least spread over seeds on the scale: identical seeds do not decide by zero width
SUPPORTED, REFUTED, TIE, OPEN = "supported", "refuted", "tie", "open"
OUTCOMES = (OPEN, SUPPORTED, REFUTED, TIE)


@dataclass(frozen=True)
class Transform:
    """A scale on which readings are roughly normal.

    Args:
        name: by which a claim declares it.
        forward: readings -> the scale.
        back: the scale -> readings.
        low: readings lie above this,
        high: and below this.
        closed: the ends themselves can occur; they are taken to lie half a resolution inside.
        tie: the default margin around a threshold, on the scale.
    """

    name: str
    forward: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray], np.ndarray]
    low: float
    high: float
    closed: bool
    tie: float

    def takes(self, values: Any) -> Any:
        """Whether readings can be taken there."""
        inside = (values > self.low) & (values < self.high)
        return inside | (values == self.low) | (values == self.high) if self.closed else inside

    def refusal(self, value: float) -> str:
        """Why a reading is not possible."""
        ends = f"{self.low:g} to {self.high:g}" if math.isfinite(self.high) else f"above {self.low:g}"
        return f"{value:g} is not on the scale {self.name!r}, which takes numbers {ends}"

    def __call__(self, values: Sequence[float] | np.ndarray, resolution: float = FLOOR) -> np.ndarray:
        """Readings on the scale; refuses those that cannot be."""
        array = np.asarray(values, dtype=float)
        for value in array[~self.takes(array)]:
            raise UserError(f"a reading of {self.refusal(value)}")
        if self.closed:
            array = np.clip(array, self.low + resolution / 2, self.high - resolution / 2)
        return self.forward(array)


TRANSFORMS = {
    one.name: one
    for one in (
        Transform("identity", lambda x: x, lambda y: y, -math.inf, math.inf, False, 0.02),
        Transform("log", np.log, np.exp, 0.0, math.inf, False, math.log(1.1)),
        Transform("fisher", np.arctanh, np.tanh, -1.0, 1.0, True, 0.05),
        Transform("logit", lambda x: np.log(x / (1 - x)), lambda y: 1 / (1 + np.exp(-y)), 0.0, 1.0, True, 0.1),
    )
}


@dataclass(frozen=True)
class Judgement:
    """What the seeds say of a claim: printed, a sentence.

    Args:
        outcome: "supported", "refuted", "tie" or "open".
        low: lower end of the confidence sequence, on the scale of the readings,
        high: and its upper end.
        mean: of the readings: the mean on the declared scale, taken back.
        n: seeds that count: the largest look that was reached.
        on_side: how many of these lie on the claim's side.
        e_sides: evidence against a mean exactly at the threshold, from effects on the claim's side and from those on
            the other; `e_value` is their sum, and 1 is none.
        effect: distance of the mean from the threshold, in standard deviations over seeds.
        often: the confidence sequence of how often a seed lies on the claim's side.
        decided_at: the look that decided; 0 while it is open.
        looks: low and high end at each look, on the scale of the readings.
        side: "at least" or "at most",
        threshold: of the claim.
        disagree: no value is left that all looks allow: seeds disagree with themselves.
        spread: standard deviation over seeds, on the declared scale.
    """

    outcome: str
    low: float
    high: float
    mean: float
    n: int
    on_side: int
    e_sides: Sides
    effect: float
    often: tuple[float, float]
    decided_at: int
    looks: tuple[tuple[int, float, float], ...]
    side: str
    threshold: float
    disagree: bool = False
    spread: float = math.nan

    @property
    def e_value(self) -> float:
        """Evidence against a mean exactly at the threshold; 1 is none."""
        return sum(self.e_sides)

    def __str__(self) -> str:
        if self.n < LOOKS[0]:
            return f"open: {self.n} seeds are fewer than the {LOOKS[0]} of the first look"
        words = f"{self.outcome}: {self.mean:.3g} [{self.low:.3g}, {self.high:.3g}] over {self.n} seeds"
        words += f", {self.side} {self.threshold:g} in {self.on_side} of {self.n}"
        return words + ("; seeds disagree with themselves" if self.disagree else "")


def verdict(
    values: Sequence[float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    scale: str = "identity",
    tie: float | None = None,
    floor: float = FLOOR,
) -> Judgement:
    """The judgement of a claim about a mean over seeds, valid whenever one stops adding seeds.

    Args:
        values: one reading per seed, in the order of the seeds; only the first 3, 4, 6, ... 64 of them count.
        at_least: the claim is that the mean is at least this; or
        at_most: that it is at most this.
        scale: where readings are roughly normal: "identity" (scores, gaps), "log" (ratios, errors), "fisher"
            (correlations) or "logit" (shares, AUROC).
        tie: the margin around the threshold, on that scale, within which the difference does not matter; 0 for none.
        floor: the least spread over seeds on that scale: the resolution of a reading.

    Example:
        >>> print(rc.verdict([0.31, 0.28, 0.33, 0.30], at_least=0.05))
        supported: 0.305 [0.249, 0.361] over 4 seeds, at least 0.05 in 4 of 4
    """
    if (at_least is None) == (at_most is None):
        raise UserError(f"at_least={at_least} and at_most={at_most}: a claim has one threshold, so give one of the two")
    if not isinstance(scale, str) or scale not in TRANSFORMS:
        raise unknown("scale", scale, TRANSFORMS)
    transform, sign = TRANSFORMS[scale], 1.0 if at_least is not None else -1.0
    side = "at_least" if at_least is not None else "at_most"
    threshold = _number(side, at_least if at_least is not None else at_most, "the threshold of a claim, such as 0.05")
    if not (math.isfinite(threshold) and transform.takes(threshold)):
        raise UserError(f"{side}={transform.refusal(threshold)}")
    resolution = _number("floor", floor, f"the resolution of a reading, such as {FLOOR}")
    if not 0 < resolution < math.inf:
        raise UserError(f"floor={floor} must be above 0: it is the resolution of a reading, such as {FLOOR}")
    around = f"a margin around the threshold, such as {transform.tie:.2g}"
    margin = transform.tie if tie is None else _number("tie", tie, around)
    if not 0 <= margin < math.inf:
        raise UserError(f"tie={tie} must be 0 or more: it is {around}")
    return judged(_readings(values), threshold, sign, transform, margin, resolution)


LARGEST = 1e100  # of a reading: squares of larger ones are beyond all numbers


def _readings(values: Any) -> np.ndarray:
    """One number per seed, or one sentence on why they are none."""
    try:
        found = np.asarray(values)
        readings = found.astype(float) if found.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        readings = None
    if readings is None or readings.ndim != 1 or not len(readings):
        raise UserError(f"values={visible(repr(values), 60)} holds no readings; give one number per seed")
    if np.isnan(readings).any():
        raise UserError(
            f"reading {int(np.flatnonzero(np.isnan(readings))[0])} of values is not a number; "
            "decide what an undefined seed means before you judge"
        )
    for value in readings[np.abs(readings) > LARGEST]:
        raise UserError(f"a reading of {value:g} is too large to be judged; {LARGEST:g} would do")
    return readings


def _number(name: str, value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)):
        raise UserError(f"{name}={visible(repr(value), 60)} is not a number: it is {what}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{name}={visible(repr(value), 60)} is not a number: it is {what}") from None


def judged(
    readings: np.ndarray, threshold: float, sign: float, transform: Transform, margin: float, floor: float, m: int = 1
) -> Judgement:
    """The judgement of readings; sign is +1 where the claim is "at least", m the claims that share the level."""
    y, theta = transform(readings, floor), float(transform([threshold], floor)[0])
    counts = [n for n in LOOKS if n <= len(y)]
    n = counts[-1] if counts else len(y)
    y = y[:n]
    side = "at least" if sign > 0 else "at most"
    on_side = int((sign * (y - theta) >= 0).sum())
    often = how_often(on_side, n)
    mean = float(y.mean())
    if not counts:
        found = float(transform.back(np.array(mean)))
        ends = (transform.low, transform.high)
        return Judgement(OPEN, *ends, found, n, on_side, NONE, math.nan, often, 0, (), side, threshold)
    low, high = confidence_sequence(y, floor, m)
    which, at = first_decisions(low, high, theta, sign, margin)
    outcome, decided_at = OUTCOMES[int(which)], int(at)
    disagree = bool(low[-1] > high[-1])
    spread = max(float(y.std(ddof=1)), floor)
    back = transform.back
    looks = tuple((at, float(back(low[i])), float(back(high[i]))) for i, at in enumerate(counts))
    return Judgement(
        outcome=outcome,
        low=looks[-1][1],
        high=looks[-1][2],
        mean=float(back(np.array(mean))),
        n=n,
        on_side=on_side,
        e_sides=sides_of_mean(mean, spread, n, theta, sign),
        effect=(mean - theta) / spread,
        often=often,
        decided_at=decided_at,
        looks=looks,
        side=side,
        threshold=threshold,
        disagree=disagree,
        spread=spread,
    )


def judged_together(
    y: np.ndarray, theta: Any, sign: Any, tie: Any = 0.02, floor: float = FLOOR
) -> tuple[np.ndarray, np.ndarray]:
    """The outcomes of many claims at once, of readings that are on their scale already.

    Args:
        y: readings by claim and seed, (..., seeds).
        theta: the threshold of each claim, or one for all.
        sign: 1 where a claim is "at least", else -1.
        tie: the margin around the threshold.
        floor: the least spread over seeds.

    Returns: numbers in OUTCOMES, and the seeds that each decision took (0: open).
    """
    low, high = confidence_sequence(y, floor)
    return first_decisions(low, high, theta, sign, tie)


def first_decisions(
    low: np.ndarray, high: np.ndarray, theta: Any, sign: Any, margin: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The first decision of each sequence: (..., looks) -> its number in OUTCOMES, and the seeds it took (0: open).

    A sequence in which no value is left decides nothing more; what was decided before stays.
    """
    theta, sign, margin = (np.asarray(one, dtype=float)[..., None] for one in (theta, sign, margin))
    one, other = sign * (low - theta), sign * (high - theta)
    nearest, farthest = np.minimum(one, other), np.maximum(one, other)
    tie = (nearest >= -margin) & (farthest <= margin)
    now = np.where(nearest >= 0, 1, np.where(farthest < 0, 2, np.where(tie, 3, 0)))
    now = np.where(low > high, 0, now)  # sequences only shrink: once empty, always empty
    decided = now != 0
    first = decided.argmax(-1)
    any_decided = decided.any(-1)
    which = np.take_along_axis(now, first[..., None], -1)[..., 0]
    return np.where(any_decided, which, 0), np.where(any_decided, np.array(LOOKS)[first], 0)


@functools.cache
def boundaries_for(m: int) -> tuple[float, ...]:
    """c_n at level .05 / m: of one claim the table; of several the quantile of Student at each look's share.

    The latter spends the error look by look (a union bound), so it is valid and a little wide.
    """
    if m == 1:
        return BOUNDARIES
    from scipy.special import stdtrit

    before = [0.0, *(spent(n) for n in LOOKS)]
    shares = [(spent(n) - earlier) / m for n, earlier in zip(LOOKS, before, strict=False)]
    return tuple(float(stdtrit(n - 1, 1 - share / 2)) for n, share in zip(LOOKS, shares, strict=True))


def confidence_sequence(y: np.ndarray, floor: float = FLOOR, m: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of I_n at each look that was reached: (..., seeds) -> two of (..., looks).

    m: how many sequences share the level .05.
    """
    counts = np.array([n for n in LOOKS if n <= y.shape[-1]])
    widths = np.array(boundaries_for(m)[: len(counts)]) / np.sqrt(counts)
    center = y[..., :1]  # of differences, so that squares do not cancel
    sums = np.cumsum(y - center, axis=-1)[..., counts - 1]
    squares = np.cumsum((y - center) ** 2, axis=-1)[..., counts - 1]
    variances = np.maximum(squares - sums**2 / counts, 0.0) / (counts - 1)
    means = center + sums / counts
    half = widths * np.maximum(np.sqrt(variances), floor)
    low = np.maximum.accumulate(means - half, axis=-1)
    high = np.minimum.accumulate(means + half, axis=-1)
    return low, high


@functools.cache
def how_often(k: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """The confidence sequence of a share of which k of n were seen: {p : p^k (1-p)^(n-k) / B(k+1, n-k+1) > level}.

    Robbins 1970: valid at all n together.
    """
    if not n:
        return 0.0, 1.0
    from scipy.optimize import brentq
    from scipy.special import betaln, xlog1py, xlogy

    least = math.log(level) + betaln(k + 1, n - k + 1)

    def excess(p: float) -> float:
        return float(xlogy(k, p) + xlog1py(n - k, -p) - least)

    peak = k / n
    low = 0.0 if excess(0.0) > 0 else float(brentq(excess, 0.0 if k == 0 else 1e-300, peak))  # type: ignore[arg-type]
    high = 1.0 if excess(1.0) > 0 else float(brentq(excess, peak, 1 - 1e-16))  # type: ignore[arg-type]
    return low, high
