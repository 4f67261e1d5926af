"""Where things lie: one axis of a chart, by numbers or by categories, as matplotlib counts it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from .expressions import evaluate
from .numbers import written
from .rows import Row

Channel = dict[str, Any]
LETTER = 0.05  # inches of a letter of 7 points, on average
MANY_DECADES = 300  # beyond this ratio of its ends, a logarithmic axis has a tick a decade
INNER = 0.1  # of a category that lies between two of them


class Axis:
    """The horizontal or vertical axis: made of all channels that speak of it."""

    def __init__(self, name: str, channels: Sequence[Channel], rows: Sequence[Row]):
        self.name = name
        named = [channel for channel in channels if "type" in channel]
        self.scale: dict[str, Any] = _merged(named, "scale")
        self.looks: dict[str, Any] = _merged(named, "axis")
        self.title = next((c["title"] for c in named if c.get("title")), "") or self.looks.get("title") or ""
        self.categories: list[Any] | None = None
        if any(channel["type"] in ("nominal", "ordinal") for channel in named):
            sort = next((c["sort"] for c in named if isinstance(c.get("sort"), list)), None)
            fields = [channel["field"] for channel in named if "field" in channel]
            found = dict.fromkeys(row[field] for row in rows for field in fields if field in row)
            self.categories = list(self.scale.get("domain") or sort or found)
        self.log = self.scale.get("type") == "log"

    def at(self, channel: Channel, row: Row) -> float:
        """The place of a row, in the units of the axis; NaN where there is none."""
        value = row.get(channel["field"]) if "field" in channel else channel.get("datum")
        if self.categories is None:
            number = math.nan if value is None else float(value)
            return math.nan if self.log and number <= 0 else number
        place = self.categories.index(value) if value in self.categories else math.nan
        band = channel.get("bandPosition", 0.5)
        return place + (band - 0.5)

    def lane(self, channel: Channel, row: Row) -> float:
        """How far from the middle of its category a row of this series lies."""
        domain = channel.get("scale", {}).get("domain") or []
        if row.get(channel["field"]) not in domain:
            return 0.0
        outer = channel.get("scale", {}).get("paddingOuter", 0)
        share = (domain.index(row[channel["field"]]) + 0.5 + outer) / (len(domain) + 2 * outer)
        return (share - 0.5) * (1 - INNER)

    # -- drawing -------------------------------------------------------------------------------------------------------
    def apply(self, axes: Any, inches: float) -> None:
        """Scale, ends, ticks and names. inches: how much room names on the left may take, or the length of the axis."""
        which = axes.xaxis if self.name == "x" else axes.yaxis
        if self.categories is not None:
            self._by_category(axes, which, inches)
        else:
            self._by_number(axes, which)
        if self.looks.get("grid") is False or (self.categories is not None and self.name == "x"):
            which.grid(False)
        which.set_label_text(self.title)

    def _by_category(self, axes: Any, which: Any, inches: float) -> None:
        assert self.categories is not None
        count = len(self.categories)
        air = self.scale.get("padding", 0) if self.scale.get("type") == "point" else 0
        names = [self._named(category, inches) for category in self.categories]
        which.set_ticks(range(count))
        labels = which.set_ticklabels(names)
        weight = self.looks.get("labelFontWeight")
        for label, category in zip(labels, self.categories, strict=True):
            if isinstance(weight, dict):
                bold = (valued(weight, {"value": category}) or 400) >= 600
                label.set_fontweight("bold" if bold else "normal")
        low, high = -0.5 - air, count - 0.5 + air
        if self.scale.get("type") == "point":
            low, high = -max(air, 0.05), count - 1 + max(air, 0.05)
        if self.name == "x":
            axes.set_xlim(low, high)
        else:
            axes.set_ylim(high, low)  # the first on top
            which.set_tick_params(length=0)
            axes.spines.left.set_visible(False)
            which.grid(False)

    def _named(self, category: Any, inches: float) -> str:
        label = str(category)
        if "labelExpr" in self.looks:
            label = str(evaluate(self.looks["labelExpr"], {"datum": {"label": label, "value": category}, "width": 0}))
        elif isinstance(category, float):
            label = written(category, self.looks.get("format") or ".3~g")
        wide = inches if self.name == "y" else inches / max(1, len(self.categories or ()))
        return "\n".join(textwrap.wrap(label, max(5, int(wide / LETTER)), break_long_words=False)) or label

    def _by_number(self, axes: Any, which: Any) -> None:
        from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

        set_scale, set_limits, limits = (
            (axes.set_xscale, axes.set_xlim, axes.get_xlim)
            if self.name == "x"
            else (axes.set_yscale, axes.set_ylim, axes.get_ylim)
        )
        if self.log:
            set_scale("log", base=self.scale.get("base", 10))
        if domain := self.scale.get("domain"):
            set_limits(*domain)
        elif not self.log and self.scale.get("zero", True):
            low, high = limits()
            set_limits(min(low, 0.0) if low < 0 else 0.0, max(high, 0.0))
        form = self.looks.get("format")
        if "values" in self.looks:
            which.set_major_locator(FixedLocator([float(tick) for tick in self.looks["values"]]))
            which.set_minor_locator(NullLocator())
        elif self.log:
            low, high = limits()
            digits = (1.0,) if high / low > MANY_DECADES else (1.0, 2.0, 5.0)
            which.set_major_locator(LogLocator(10, digits))
            which.set_minor_locator(NullLocator())
        else:
            whole = self.looks.get("tickMinStep") == 1
            which.set_major_locator(MaxNLocator(self.looks.get("tickCount", 5), integer=whole))
        if form or self.log:
            which.set_major_formatter(FuncFormatter(lambda value, _: written(value, form or "~g")))
        if self.looks.get("labels") is False:
            which.set_ticklabels([])
            which.set_tick_params(length=0)


def valued(channel: Channel, row: Row) -> Any:
    """What a channel with a condition, or with a value, says of a row."""
    condition = channel.get("condition")
    if condition and evaluate(condition["test"], {"datum": row}):
        return condition["value"]
    return channel.get("value")


def _merged(channels: Sequence[Channel], part: str) -> dict[str, Any]:
    """One part of all channels; the first that says something is heard."""
    found: dict[str, Any] = {}
    for channel in channels:
        found = {**(channel.get(part) or {}), **found}
    return found
