"""How figures for papers look: letters of 8 points, thin lines, fonts that journals accept, colors of the report."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ..theme import LIGHT

POINT = 0.75  # of a pixel in which charts are specified
PRINT, LOW = 0.86, 0.72  # letters and heights on paper, as a share of those on a screen
SERIES = [LIGHT[f"series-{i}"] for i in range(1, 7)]
MARKERS = {
    "circle": "o", "diamond": "D", "square": "s", "triangle-up": "^", "triangle-down": "v", "cross": "P", "stroke": "_",
}  # fmt: skip
FONTS = ("Arial", "Helvetica", "Liberation Sans")
SETTINGS: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": LIGHT["muted"],
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0,
    "lines.linewidth": 1.3,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # letters stay letters: what journals ask for, and text can be searched
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "recombine",  # the same drawing gives the same bytes
    "axes.unicode_minus": True,
    "text.parse_math": False,  # a label with dollar signs is a label
    "image.interpolation": "nearest",
}


def paper_style() -> AbstractContextManager[None]:
    """While it lasts, matplotlib draws for paper; what the user has set comes back after it."""
    from matplotlib import font_manager, rc_context

    here = set(font_manager.get_font_names())
    font = next((font for font in FONTS if font in here), None)
    every_sign = "DejaVu Sans"  # comes with matplotlib
    settings: Any = {**SETTINGS, "font.family": [*([font] if font else []), every_sign]}
    return rc_context(settings)


def finished(figure: Any) -> Any:
    """The figure, in which a formula that is set later is a formula, while labels with dollar signs stay labels."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math("$" not in text.get_text())
    return figure


def points(pixels: int | float) -> float:
    """A length on the screen as points on paper."""
    return pixels * POINT * PRINT


def area(pixels: int | float) -> float:
    """The area of a symbol on the screen as matplotlib counts it on paper."""
    return pixels * (POINT * PRINT) ** 2 * 1.27
