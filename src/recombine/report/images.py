"""Images of charts, for a README or a paper."""

from __future__ import annotations

import copy
from pathlib import Path

from ..files import write_whole
from ..lab.study import Figure
from .theme import LIGHT, chart_config

WIDTH = 720


def figure_png(figure: Figure, path: Path | str, scale: float = 2.0) -> Path:
    """Writes the chart of a figure as a PNG on a light background, and returns its path."""
    import vl_convert

    spec = copy.deepcopy(figure.spec)
    if spec.get("width") == "container":  # there is no page to fill
        spec["width"] = WIDTH
    spec["title"] = spec.get("title") or figure.title
    config = chart_config(LIGHT) | {"background": LIGHT["paper"], "padding": 18}
    path = Path(path)
    write_whole(path, vl_convert.vegalite_to_png(spec, scale=scale, config=config))
    return path
