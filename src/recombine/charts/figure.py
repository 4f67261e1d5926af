"""A chart of a report: an Altair chart, and what to see in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .lazy_altair import alt


@dataclass(frozen=True)
class Figure:
    """A drawn chart: its title, what to see in it, and the chart.

    Args:
        title: a few words above it.
        caption: what to see in it.
        source: an Altair chart, a Vega-Lite specification, or a function without arguments that makes one of them.

    Example:
        >>> chart = rc.charts.bars([{"name": "seen", "value": 0.9}, {"name": "unseen", "value": float("nan")}])
        >>> rc.charts.Figure("Right answers", "Shares of answers.", chart).full_caption
        'Shares of answers. 1 undefined value is not drawn.'
    """

    title: str
    caption: str
    source: Any

    @cached_property
    def chart(self) -> Any:
        """The Altair chart, made when it is first asked for."""
        made = self.source() if callable(self.source) else self.source
        return alt.Chart.from_dict(dict(made)) if isinstance(made, Mapping) else made

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite specification, its rows inside it."""
        return dict(self.source) if isinstance(self.source, Mapping) else plain_spec(self.chart)

    @property
    def full_caption(self) -> str:
        """The caption, and what the chart leaves out: undefined values, points beyond those drawn, categories."""
        noted = self.spec.get("usermeta", {})
        lost, drawn, there, categories = (noted.get(k, 0) for k in ("undefined", "drawn", "there", "categories"))
        words = [self.caption]
        if lost:
            words.append(f"{lost:,} undefined value{' is' if lost == 1 else 's are'} not drawn.")
        if there:
            words.append(f"Of {there:,} points {drawn:,} are drawn, chosen by chance; means are those of all.")
        if categories:
            words.append(f"The first of {categories:,} categories are drawn.")
        return " ".join(words)


def plain_spec(chart: Any) -> dict[str, Any]:
    """The specification of a chart, its rows where they are used, without a theme: whoever draws brings one."""
    tables: dict[str, Any] = {}
    spec = chart.to_dict(context={"top_level": False, "datasets": tables})
    return _inlined(spec, {**tables, **spec.pop("datasets", {})})


def _inlined(part: Any, tables: Mapping[str, Any]) -> Any:
    if isinstance(part, Mapping):
        found = {name: _inlined(value, tables) for name, value in part.items() if name != "data"}
        if "data" in part:
            data = part["data"]
            name = str(data.get("name")) if isinstance(data, Mapping) else ""
            found["data"] = {"values": tables[name]} if name in tables else data
        return found
    return [_inlined(one, tables) for one in part] if isinstance(part, (list, tuple)) else part
