"""Figures for papers: charts, plates and maps of a study at the width of a column, as PDF, SVG or PNG.

They are drawn by what draws the report (Vega-Lite, through vl-convert), so that a figure in a paper shows what the page
shows, and no plotting library has to be installed. Type and lines are sized for print: letters of about 8 points in a
column of 3.25 inches or a page of 6.75.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError, unknown
from ..files import write_or_refuse
from ..lab.run import Result, reopen
from .images import chart_svg, map_image, plate_svg

WIDTHS = {"column": 3.25, "text": 6.75}  # inches
FORMATS = ("pdf", "svg", "png")
PIXELS = 96  # an inch of SVG
POINTS = 72  # an inch of PDF
DOTS = 300  # an inch of PNG


@dataclass(frozen=True)
class PaperFigure:
    """One figure: its name as a file, its title and caption as the report has them, and the drawing."""

    name: str
    title: str
    caption: str
    svg: str

    def save(self, path: Path | str) -> Path:
        """Writes it as .pdf, .svg or .png, by the end of the path's name; returns where it is."""
        path = Path(path)
        write_or_refuse(path, drawn(self.svg, path.suffix.lower().removeprefix("."), DOTS / PIXELS))
        return path

    def _repr_svg_(self) -> str:
        return self.svg


class PaperFigures(list[PaperFigure]):
    """Figures of a study, the one that shows the result first."""

    def save(self, folder: Path | str, format: str = "pdf") -> list[Path]:
        """Writes all of them into a folder; returns where they are."""
        if format not in FORMATS:
            raise unknown("format of a figure", format, FORMATS)
        return [figure.save(Path(folder) / f"{figure.name}.{format}") for figure in self]


def figures(source: Result | Path | str, *, width: str | int | float = "column", title: bool = False) -> PaperFigures:
    """Charts, plates and maps of a study that was run, ready for a paper.

    source: the folder or URL of a study, or its result.
    width: column (3.25 inches), text (6.75 inches), or a number of inches; of charts. Plates and maps keep the size
    that their cells ask for.
    title: above each chart; in a paper that is the caption's part.
    """
    inches = WIDTHS.get(width) if isinstance(width, str) else width
    if inches is None:
        raise unknown("width", width, WIDTHS)
    if not 1 <= inches <= 40:
        raise UserError(f"width={inches} must lie between 1 and 40 inches, such as 3.25")
    result = source if isinstance(source, Result) else _opened(source)
    names = _distinct(result.study.id)
    found = PaperFigures()
    for chart in result.study.figures(result.table, result.records) if len(result.table) else []:
        svg = chart_svg(chart, round(PIXELS * inches), title=title, print_size=True)
        found.append(PaperFigure(names(chart.title), chart.title, chart.caption, svg))
    for plate in result.study.plates(result.records) if result.records else []:
        found.append(PaperFigure(names(plate.title), plate.title, plate.caption, plate_svg(plate)))
    for one in result.study.maps(result.records):
        if image := map_image(one):
            found.append(PaperFigure(names(f"map {one.name}"), one.name, "trained and held-out combinations", image))
    return found


def drawn(svg: str, format: str, scale: float = 2.0) -> bytes:
    """An SVG as the bytes of a file."""
    import vl_convert

    if format == "svg":
        return svg.encode()
    if format == "pdf":
        return vl_convert.svg_to_pdf(_resized(svg, POINTS / PIXELS))  # a unit of PDF is a point
    if format == "png":
        return vl_convert.svg_to_png(svg, scale=scale)
    raise unknown("format of a figure", format, FORMATS)


def _resized(svg: str, by: float) -> str:
    """The drawing with another size on the outside and the same coordinates inside."""
    head = re.match(r"\s*<svg[^>]*>", svg)
    sizes = [re.search(rf'\s{name}="([\d.]+)"', head[0]) for name in ("width", "height")] if head else [None]
    if not head or not all(sizes):
        raise ValueError("a drawing must say how large it is")
    width, height = (float(found[1]) for found in sizes if found)
    tag = re.sub(r'\s(width|height|viewBox)="[^"]*"', "", head[0])
    found = re.search(r'viewBox="([^"]*)"', head[0])
    box = found[1] if found else f"0 0 {width:g} {height:g}"
    size = f'width="{width * by:g}" height="{height * by:g}" viewBox="{box}"'
    return tag.replace("<svg", f"<svg {size}", 1) + svg[head.end() :]


def _opened(place: Path | str) -> Result:
    from ..studies import registry

    return reopen(place, registry)


def _distinct(study: str) -> Callable[[str], str]:
    """Names for files: the study, a number in order, and the first words of the title."""
    numbers = itertools.count(1)

    def name(title: str) -> str:
        return "-".join([study, f"{next(numbers):02d}", *re.findall(r"[a-z0-9]+", title.lower())[:5]])

    return name
