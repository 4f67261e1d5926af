"""All charts of a result by name, to edit, to show and to save."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import unknown
from .figure import Figure
from .saving import dressed, require_format, save

WORDS = 6  # of a title, in a name


class Charts(Mapping[str, Any]):
    """Altair charts by name, the one that shows the result first. Each can be edited, shown in a notebook and saved.

    Args:
        figures: charts with their titles and captions.

    Example:
        >>> chart = rc.charts.bars([{"name": "seen", "value": 0.9}])
        >>> found = rc.charts.Charts([rc.charts.Figure("Right answers", "Shares of answers.", chart)])
        >>> found
        right-answers: Right answers
        >>> found["right-answers"].properties(title="Mine").to_dict()["title"]
        'Mine'
    """

    def __init__(self, figures: Iterable[Figure]):
        self.figures: dict[str, Figure] = {}
        for figure in figures:
            self.figures[_free(name_of(figure.title), self.figures)] = figure

    def __getitem__(self, name: str) -> Any:
        return dressed(self.figure(name).chart)

    def figure(self, name: str) -> Figure:
        """A chart with its title and caption, in no look of its own."""
        if name not in self.figures:
            raise unknown("chart", name, self.figures)
        return self.figures[name]

    def __contains__(self, name: object) -> bool:
        return name in self.figures

    def __iter__(self) -> Iterator[str]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {figure.title}" for name, figure in self.figures.items()) or "no charts"

    def save(self, folder: Path | str, format: str = "pdf", width: str | int | float = "column") -> list[Path]:
        """Writes every chart into a folder, as NAME.FORMAT; returns where they are.

        Args:
            folder: made if it is not there.
            format: svg, pdf or png.
            width: column (3.25 inches), text (6.75 inches), or a number of inches.
        """
        require_format(format)
        return [save(one.chart, Path(folder) / f"{name}.{format}", width) for name, one in self.figures.items()]


def name_of(title: str) -> str:
    """A short name that can be typed and is safe as that of a file."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower().replace("²", "2"))[:WORDS]) or "chart"


def _free(name: str, taken: Mapping[str, Any]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
