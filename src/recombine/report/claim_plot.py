"""A verdict at a glance: seeds as dots, their interval as a bar, the threshold as a line, on one small axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..lab.verdicts import Verdict
from ..statistics.intervals import Interval, over_seeds

WIDTH, MARGIN = 150.0, 7.0


@dataclass(frozen=True)
class ClaimPlot:
    """Where to draw what, in pixels from the left; None is not drawn."""

    dots: list[tuple[float, int, float]]  # place, seed, value
    bar: tuple[float, float] | None
    mean: float | None
    threshold: float | None
    shaded: tuple[float, float] | None  # from, width: the claim's side
    width: float = WIDTH


def ends(values: Mapping[int, float], interval: Interval) -> list[float]:
    """What an axis must reach to show seeds and interval; infinite ends are not drawn."""
    bounds = [interval.low, interval.high] if interval.seeds >= 2 else []
    return [end for end in (*values.values(), *bounds) if math.isfinite(end)]


def plot_of(
    values: Mapping[int, float],
    interval: Interval,
    threshold: float | None = None,
    side: str | None = None,
    reach: Sequence[float] = (),
) -> ClaimPlot | None:
    """The plot of a claim or a question on an axis that also includes `reach`; None where there is nothing to draw.

    Without a side the threshold is a line to compare with, and nothing is shaded.
    """
    if not any(map(math.isfinite, values.values())):
        return None
    span_of = [*ends(values, interval), *reach, *([] if threshold is None else [threshold])]
    low, span = min(span_of), max(span_of) - min(span_of)
    finite = interval.seeds >= 2 and math.isfinite(interval.low) and math.isfinite(interval.high)

    def place(value: float) -> float:
        share = (value - low) / span if span > 0 else 0.5
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    shaded = None
    at = None
    if threshold is not None:
        at = place(threshold)
        shaded = {"at least": (at, round(WIDTH - at, 1)), "at most": (0.0, at)}.get(side or "")
    return ClaimPlot(
        dots=[(place(value), seed, value) for seed, value in sorted(values.items()) if math.isfinite(value)],
        bar=(place(interval.low), place(interval.high)) if finite else None,
        mean=place(interval.mean) if math.isfinite(interval.mean) else None,
        threshold=at,
        shaded=shaded,
    )


def claim_plot(verdict: Verdict) -> ClaimPlot | None:
    """The plot of a claim; of one about how often its interval is one of shares, and only seeds are drawn."""
    claim = verdict.claim
    interval = verdict.interval if claim.how_often is None else over_seeds([])
    return plot_of(verdict.values, interval, claim.threshold, claim.side)
