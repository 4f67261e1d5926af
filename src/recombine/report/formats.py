"""A report in the format that is asked: a page, a text, or a sheet."""

from __future__ import annotations

from pathlib import Path

from ..errors import UserError, unknown
from ..files import LocalFiles, cannot_write, write_or_refuse
from ..lab.run import Result
from .html import write_report
from .images import drawn
from .markdown import markdown_files
from .sheet import sheet_svg

FORMATS = ("html", "md", "pdf", "png")


def report_format(asked: str | None, path: Path | None) -> str:
    """The format that is asked, or that the end of a file's name asks for; refused where the two differ."""
    ending = path.suffix.lower().removeprefix(".") if path is not None else ""
    if asked is None:
        return ending if ending in FORMATS else "html"
    if ending in FORMATS and ending != asked:
        raise UserError(
            f"--out {path} ends with .{ending} and --format asks for {asked}; let them agree, or leave one out"
        )
    return asked


def write(result: Result, format: str = "html", path: Path | str | None = None) -> Path | str:
    """Writes the report, by default beside the records; returns where it is.

    html: the page. md: a text with images beside it. pdf: everything on one long sheet. png: the sheet with question,
    answer, claims and the one chart.
    """
    if format not in FORMATS:
        raise unknown("format of a report", format, FORMATS)
    path = None if path is None else Path(path)
    if format == "html":
        return write_report(result, path)
    if path is None and result.store is None:
        raise UserError("this result was not stored, so its report has no place; say where with a path")
    name = f"report.{format}" if path is None else path.name
    if format == "md":
        contents = markdown_files(result, name)
    else:
        contents = {name: drawn(sheet_svg(result, whole=format == "pdf"), format)}
    if path is not None:
        for part, data in contents.items():
            write_or_refuse(path if part == name else path.parent / part, data)
        return path
    assert result.store is not None
    files = result.store.files
    try:
        files.write_all(contents)
    except OSError as problem:
        raise cannot_write(f"{files.place}/{name}", problem) from problem
    return files.root / name if isinstance(files, LocalFiles) else f"{files.place}/{name}"
