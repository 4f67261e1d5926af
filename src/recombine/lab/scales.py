"""Scales: the size at which a study is run, and values that differ between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import unknown

#: smoke: tests; laptop: minutes, what pages show; night: the full criteria in hours; paper: the published setting
SCALES = ("smoke", "laptop", "night", "paper")


@dataclass(frozen=True)
class Scale:
    """A value at each scale.

    Args:
        smoke: in tests.
        laptop: in minutes; what pages show.
        night: the full criteria, in hours.
        paper: the published setting.

    Example:
        >>> steps = rc.Scale(smoke=100, laptop=2000, night=20_000, paper=100_000)
        >>> steps.laptop
        2000
    """

    smoke: Any
    laptop: Any
    night: Any
    paper: Any


def at_scale(value: Any, scale: str) -> Any:
    """A nested value with every `Scale` in it replaced by what it is at one scale; mappings and lists are copied."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    if isinstance(value, Scale):
        return at_scale(getattr(value, scale), scale)
    if isinstance(value, Mapping):
        return {name: at_scale(item, scale) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [at_scale(item, scale) for item in value]
    return value
