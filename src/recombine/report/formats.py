"""A report in the format that is asked: a page, a text, or a sheet."""

from __future__ import annotations

from pathlib import Path

from ..errors import UserError, unknown
from ..files import write_or_refuse
from ..lab.run import Result
from .html import write_report
from .markdown import write_markdown
from .paper import drawn
from .sheet import sheet_svg

FORMATS = ("html", "md", "pdf", "png")


def write(result: Result, format: str = "html", path: Path | None = None) -> Path:
    """Writes the report, by default beside the records; returns where it is.

    html: the page. md: a text with images beside it. pdf: everything on one long sheet. png: the sheet with question,
    answer, claims and the one chart.
    """
    if format not in FORMATS:
        raise unknown("format of a report", format, FORMATS)
    if path is None:
        if result.store is None:
            raise UserError("this result was not stored, so its report has no place; say where with a path")
        path = result.store.path / f"report.{format}"
    path = Path(path)
    if format == "html":
        return write_report(result, path)
    if format == "md":
        return write_markdown(result, path)
    write_or_refuse(path, drawn(sheet_svg(result, whole=format == "pdf"), format))
    return path
