"""Altair, loaded when a chart is first made: `recombine status` and every worker would wait a second for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class _Altair:
    def __getattr__(self, name: str) -> Any:
        import altair

        return getattr(altair, name)


if TYPE_CHECKING:
    import altair as alt
else:
    alt = _Altair()

__all__ = ["alt"]
