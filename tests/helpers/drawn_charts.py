"""Charts as specifications and as drawings, for tests."""

from __future__ import annotations

import json
from typing import Any

from recombine.charts.figure import plain_spec
from recombine.charts.saving import sized_svg


def spec_of(chart: Any) -> dict[str, Any]:
    return plain_spec(chart)


def compiled(chart: Any, inches: float = 3.75, style: str = "light") -> str:
    """The chart drawn, as SVG; Vega runs every expression in it."""
    json.dumps(plain_spec(chart), allow_nan=False)
    return sized_svg(chart, inches, style)


def data_of(part: dict[str, Any]) -> list[dict[str, Any]]:
    return part["data"]["values"]


def axis_of(spec: dict[str, Any], channel: str, layer: int = -1) -> dict[str, Any]:
    return spec["layer"][layer]["encoding"][channel]
