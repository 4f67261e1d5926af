"""The picture of a claim: its seeds as dots, and its confidence sequence narrowing look by look towards a decision."""

from __future__ import annotations

import math
from typing import Any

from .chart_parts import data, linear, log_axis, sized, thresholds
from .figure import Figure
from .lazy_altair import alt
from .tidy_rows import Rows

HEIGHT, AIR = 170, 0.15
LOOKS = [1, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]  # ticks: a seed alone, and the numbers of seeds that are looked at


def claim_sequence(title: str, caption: str, rows: Rows, threshold: float, value_title: str, log: bool) -> Figure:
    """Draws rows of two kinds: of a seed (seeds, seed, value), and of a look (seeds, low, high, mean).

    The axis shows the seeds, the threshold and the last look; earlier, wider looks run out of the picture.
    """
    looks, dots = ([row for row in rows if row["kind"] == kind] for kind in ("look", "seed"))
    low, high = _reach([*(row["value"] for row in dots), threshold, *_ends(looks[-1:])], log)
    scale = alt.Scale(type="log", base=2, domain=[0.9, max(row["seeds"] for row in rows) * 1.1], nice=False)
    ticks = alt.Axis(values=LOOKS, format="d")
    across = alt.X(field="seeds", type="quantitative", title="seeds", scale=scale, axis=ticks)
    of_values: dict[str, Any] = log_axis(low, high) if log else {"scale": linear(low, high)}
    layers = [
        *(_sequence(looks, across, value_title, of_values) if looks else []),
        _seeds(dots, across, value_title, of_values),
        *thresholds("y", [threshold]),
    ]
    return Figure(title, caption, sized(alt.layer(*layers), HEIGHT))


def _sequence(looks: Rows, across: Any, words: str, of_values: dict[str, Any]) -> list[Any]:
    """The interval of each look, as an area and as lines that answer to the pointer."""
    up = alt.Y(field="low", type="quantitative", title=words, **of_values)
    names = ("seeds", "mean", "low", "high")
    tips = [alt.Tooltip(field=name, type="quantitative", format=".3g") for name in names]
    base = alt.Chart(data(looks)).encode(x=across, y=up, y2=alt.Y2(field="high"))
    area = base.mark_area(opacity=0.12, clip=True)
    return [area, base.mark_rule(style=["interval"], clip=True).encode(tooltip=tips)]


def _seeds(dots: Rows, across: Any, words: str, of_values: dict[str, Any]) -> Any:
    up = alt.Y(field="value", type="quantitative", title=words, **of_values)
    tips = [
        alt.Tooltip(field="seed", type="nominal"),
        alt.Tooltip(field="value", type="quantitative", format=".3g"),
    ]
    mark = alt.Chart(data(dots)).mark_point(filled=True, size=46, opacity=0.8, clip=True)
    return mark.encode(x=across, y=up, tooltip=tips)


def _ends(looks: Rows) -> list[float]:
    return [row[name] for row in looks for name in ("low", "high")]


def _reach(values: list[float], log: bool) -> tuple[float, float]:
    """The ends of the axis with a little air."""
    finite = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = min(finite), max(finite)
    if log:
        air = AIR * math.log(high / low) or 0.1
        return low * math.exp(-air), high * math.exp(air)
    air = AIR * (high - low) or 0.1
    return low - air, high + air
