"""A chart of a report: a Vega-Lite specification and what to see in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A drawn chart: its title, what to see in it, and its specification."""

    title: str
    caption: str
    spec: dict[str, Any]

    @property
    def full_caption(self) -> str:
        """The caption, and how many undefined values the chart leaves out (`vega.sized` counts them)."""
        lost = self.spec.get("usermeta", {}).get("undefined", 0)
        words = f" {lost} undefined value{' is' if lost == 1 else 's are'} not drawn."
        return self.caption + (words if lost else "")
