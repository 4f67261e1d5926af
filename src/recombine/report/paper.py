"""Figures for papers: charts, plates and splits at the width of a column, as matplotlib figures.

They show what the report shows, from the same specifications and data. Type and lines are sized for print: letters of 7
to 8 points in a column of 3.25 inches or a page of 6.75, fonts embedded as fonts. A figure is an ordinary
`matplotlib.figure.Figure`: change what you like before it is saved. The same result gives the same bytes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..audit.result import Audit
from ..charts.figure import Figure
from ..charts.image_grid import Plate
from ..errors import UserError, unknown
from ..files import write_or_refuse
from ..lab.run import Result, reopen
from ..supports import Support
from . import audit_charts
from .pictures import Picture, named, pictures

if TYPE_CHECKING:
    import matplotlib.figure

WIDTHS = {"column": 3.25, "text": 6.75}  # inches
FORMATS = ("pdf", "svg", "png")
UNDATED: dict[str, dict[str, Any]] = {  # no time of making: the same result gives the same bytes
    "pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None},
}  # fmt: skip


@dataclass(frozen=True)
class PaperFigure:
    """One figure: its name as a file, its title and caption as the report has them, and the drawing."""

    picture: Picture
    inches: float
    with_title: bool = False

    @property
    def name(self) -> str:
        return self.picture.name

    @property
    def title(self) -> str:
        return self.picture.title

    @property
    def caption(self) -> str:
        return self.picture.caption

    @cached_property
    def figure(self) -> matplotlib.figure.Figure:
        """The drawing, made when it is first asked for: an ordinary matplotlib figure."""
        from . import plots

        source = self.picture.source
        if isinstance(source, Figure):
            return plots.chart_figure(source, self.inches, self.with_title)
        if isinstance(source, Plate):
            return plots.plate_figure(source, self.inches, self.with_title)
        if isinstance(source, Support):
            return plots.graph_figure(source, self.inches, self.title if self.with_title else "")
        return plots.map_figure(source, self.inches, self.with_title)

    def save(self, path: Path | str) -> Path:
        """Writes it as .pdf, .svg or .png, by the end of the path's name; returns where it is."""
        path = Path(path)
        write_or_refuse(path, self.bytes(path.suffix.lower().removeprefix(".")))
        return path

    def bytes(self, format: str) -> bytes:
        """The drawing as the bytes of a file."""

        from .plots.style import paper_style

        if format not in FORMATS:
            raise unknown("format of a figure", format, FORMATS)
        written = io.BytesIO()
        with paper_style():
            self.figure.savefig(written, format=format, metadata=UNDATED[format])
        return written.getvalue()

    def _repr_png_(self) -> bytes:
        return self.bytes("png")

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}"


class PaperFigures(list[PaperFigure]):
    """Figures of a study, the one that shows the result first."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "no figures"

    def save(self, folder: Path | str, format: str = "pdf") -> list[Path]:
        """Writes all of them into a folder; returns where they are."""
        if format not in FORMATS:
            raise unknown("format of a figure", format, FORMATS)
        return [figure.save(Path(folder) / f"{figure.name}.{format}") for figure in self]


def figures(
    source: Result | Audit | Path | str, *, width: str | int | float = "column", title: bool = False
) -> PaperFigures:
    """Charts, plates and maps of a study that was run, or charts of an audit, as matplotlib figures for a paper.

    source: the folder or URL of a study, its result, or an audit.
    width: column (3.25 inches), text (6.75 inches), or a number of inches.
    title: above each figure; in a paper that is the caption's part.

    Each has a name, title, caption, figure (matplotlib's) and save(path); all have save(folder, format).
    Needs `pip install 'recombine[figures]'`.
    """
    inches = WIDTHS.get(width) if isinstance(width, str) else width
    if inches is None:
        raise unknown("width", width, WIDTHS)
    if not 1 <= inches <= 40:
        raise UserError(f"width={inches} must lie between 1 and 40 inches, such as 3.25")
    matplotlib_or_refuse()
    if isinstance(source, Audit):
        charts = audit_charts.figures(source.outcomes, source.apart, source.risk).values()
        found = named("audit", ((chart.title, chart.full_caption, chart) for chart in charts))
    else:
        found = pictures(source if isinstance(source, Result) else _opened(source))
    return PaperFigures(PaperFigure(one, float(inches), title) for one in found)


def matplotlib_or_refuse() -> None:
    """One sentence where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as problem:
        if problem.name != "matplotlib":  # it is there, and something that it needs is not: not ours to explain
            raise
        raise UserError("figures need matplotlib, which is not installed: pip install 'recombine[figures]'") from None


def _opened(place: Path | str) -> Result:
    from ..studies import registry

    return reopen(place, registry)
