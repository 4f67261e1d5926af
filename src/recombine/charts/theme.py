"""The look of pages and charts: colors by name, light and dark, and what charts make of them.

Series colors are those of Okabe and Ito, which stay apart under all common color-vision deficiencies. On a page a
chart names CSS variables, so the same drawing follows the reader's color scheme and turns light on paper; an image
gets the light colors written in. Heat is viridis (van der Walt, Smith), at nine of its places.
"""

from __future__ import annotations

from typing import Any

from ..errors import unknown

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f7f7f5",
    "ink": "#1b1d21",
    "muted": "#5f656e",
    "line": "#e4e4e1",
    "link": "#0072b2",
    "yes": "#00734f",
    "no": "#b04a00",
    "open": "#646a73",
    "series-1": "#0072b2",
    "series-2": "#d55e00",
    "series-3": "#009e73",
    "series-4": "#cc79a7",
    "series-5": "#e69f00",
    "series-6": "#56b4e9",
}
DARK = {
    "paper": "#15171b",
    "panel": "#1d2025",
    "ink": "#e7e8ea",
    "muted": "#9ba2ac",
    "line": "#30343b",
    "link": "#7cc4f0",
    "yes": "#3fc79a",
    "no": "#f0954f",
    "open": "#a5acb6",
    "series-1": "#56b4e9",
    "series-2": "#e69f00",
    "series-3": "#1fb98d",
    "series-4": "#cc79a7",
    "series-5": "#f0e442",
    "series-6": "#d55e00",
}
#: anchors of the colors of small pictures, evenly spaced from low to high; lightness is even between them (a test)
COLOR_MAPS = {
    "ink": ("#ffffff", "#010101"),
    "heat": ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"),
    "signed": (
        "#005077",
        "#0071a5",
        "#0894d5",
        "#6cb5ec",
        "#b5d5f4",
        "#f6f6f6",
        "#ffc5aa",
        "#f59666",
        "#dd6b2f",
        "#b84500",
        "#862f00",
    ),
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


LOOKS = ("page", "light", "dark", "paper")
PRINTED = 0.84  # letters of a figure for a paper by those of a page: 7 to 8 points in a column of 3.25 inches


def chart_config(colors: dict[str, str] | None = None) -> dict[str, Any]:
    """Vega-Lite configuration; without colors it names the CSS variables of the page."""
    color = colors or {name: f"var(--{name})" for name in LIGHT}
    return _frame(color, FONT if colors is None else "Liberation Sans, Arial, DejaVu Sans, sans-serif") | {
        "range": {"category": [color[f"series-{i}"] for i in range(1, 7)], "heatmap": list(COLOR_MAPS["heat"])},
        "style": _styles(color),
    }


def look(name: str) -> dict[str, Any]:
    """The configuration of a look: page (CSS variables), light, dark, or paper (light, letters for print)."""
    if name == "page":
        return chart_config()
    if name not in LOOKS:
        raise unknown("look of a chart", name, LOOKS)
    colors = DARK if name == "dark" else LIGHT
    config = chart_config(colors) | {"background": colors["paper"]}
    return _smaller(config, PRINTED) if name == "paper" else config


def _smaller(part: Any, by: float) -> Any:
    """A configuration with smaller letters."""
    if not isinstance(part, dict):
        return part
    return {
        name: round(value * by, 1) if name.endswith(("ontSize", "Limit")) else _smaller(value, by)
        for name, value in part.items()
    }


def _styles(color: dict[str, str]) -> dict[str, Any]:
    """How marks look that charts name."""
    muted, first = color["muted"], color["series-1"]
    return {
        "reference": {"color": muted, "strokeDash": [4, 3], "strokeWidth": 1},
        "reference-label": {"color": muted, "fontSize": 11},
        "span": {"color": muted, "opacity": 0.12, "cornerRadius": 2},
        "edge": {"color": first, "fontWeight": "bold"},
        "interval": {"color": first, "opacity": 0.45},
        "interval-of-bar": {"color": color["ink"], "opacity": 0.7},
        "frontier": {"color": color["paper"]},
        "words": {"color": muted, "fontSize": 11},
        "names": {"color": color["ink"], "fontSize": 12},
        "trained": {"color": muted, "opacity": 0.75},
        "held-out": {"color": color["series-2"]},
        "no-score": {"color": muted},
        "outlined": {"stroke": muted, "strokeWidth": 0.6},
        "untrained": {"stroke": muted, "strokeDash": [2, 2], "fill": color["paper"]},
        "never": {"color": color["series-2"]},
        "seen": {"color": first},
        "ground": {"color": color["line"], "opacity": 0.6},
        "edge-of-picture": {"color": color["line"], "filled": False},
        "outline": {"color": color["ink"], "filled": False, "strokeWidth": 1.5},
        "halo": {"color": color["paper"], "filled": False, "strokeWidth": 3.5, "opacity": 0.7},
    }


def _frame(color: dict[str, str], font: str) -> dict[str, Any]:
    """Axes, legends and titles."""
    muted, line, ink = color["muted"], color["line"], color["ink"]
    return {
        "background": "transparent",
        "font": font,
        "padding": {"left": 2, "right": 10, "top": 4, "bottom": 2},
        "view": {"stroke": None},
        "mark": {"color": color["series-1"]},
        "axis": {
            "domain": False,
            "ticks": False,
            "gridColor": line,
            "labelColor": muted,
            "titleColor": muted,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelPadding": 9,
            "titlePadding": 10,
            "titleLimit": 420,
        },
        "axisX": {"labelFlush": False, "tickCount": 6, "labelSeparation": 6, "labelLimit": 180},
        "axisY": {"labelFontSize": 12.5},
        "axisYBand": {"labelColor": ink},
        "legend": {
            "orient": "top",
            "title": None,
            "labelColor": ink,
            "labelFontSize": 12.5,
            "symbolSize": 75,
            "offset": 14,
            "columnPadding": 18,
            "rowPadding": 6,
            "labelLimit": 260,
            "symbolOpacity": 1,
            "titleColor": muted,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titleLimit": 320,
        },
        "title": {"color": ink, "fontSize": 16, "fontWeight": 600, "anchor": "start", "offset": 14},
    }
