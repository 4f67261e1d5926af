"""A report in the format that is asked: a page, its print, a text; or one chart of it."""

from __future__ import annotations

from pathlib import Path

from ..charts.saving import FORMATS as CHART_FORMATS
from ..charts.saving import WIDTHS, drawn
from ..errors import UserError, unknown
from ..files import refuse_foreign, write_or_refuse
from ..lab.study_result import Result
from .html import render, write_beside, write_report
from .markdown import markdown_files
from .printed_page import printed

FORMATS = ("html", "md", "pdf")
ALL = tuple(dict.fromkeys((*FORMATS, *CHART_FORMATS)))


def report_format(asked: str | None, path: Path | None, chart: str | None = None) -> str:
    """The format that is asked, or that the end of a file's name asks for; refused where the two differ.

    Args:
        asked: one of the formats, or nothing.
        path: the file to write, if it is named.
        chart: the chart that is written alone, if one is.
    """
    known = FORMATS if chart is None else CHART_FORMATS
    ending = path.suffix.lower().removeprefix(".") if path is not None else ""
    if asked is None and not ending:
        return known[0]
    if asked is not None and ending and asked != ending:
        raise UserError(
            f"--out {path} ends with .{ending} and --format asks for {asked}; let them agree, or leave one out"
        )
    found = asked or ending
    if found in known:
        return found
    if found in ALL and chart is None:
        raise UserError(f"{found} is for one chart: name it with --chart (a name that is not there lists all of them)")
    what = "a report" if chart is None else "a chart"
    named = f"--out {path} ends with .{ending}" if asked is None else f"--format is {asked}"
    raise UserError(f"{named}, and {what} is written as {', '.join(known[:-1])} or {known[-1]}")


def width_of(text: str) -> str | float:
    """The width of a chart as it is typed."""
    if text in WIDTHS:
        return text
    try:
        return float(text)
    except ValueError:
        raise unknown("--width", text, (*WIDTHS, "a number of inches such as 3.5")) from None


def write(
    result: Result,
    format: str = "html",
    path: Path | str | None = None,
    *,
    chart: str | None = None,
    width: str | int | float = "column",
    force: bool = False,
) -> Path | str:
    """Writes the report, by default beside the records; returns where it is.

    Args:
        result: what is shown.
        format: html is the page; md a text with images beside it; pdf the page as it prints (needs Chromium).
        path: the file (default: report.FORMAT, or CHART.FORMAT, beside the records).
        chart: one chart alone, by name, as svg, pdf or png: no browser is needed.
        width: of that chart: column (3.25 inches), text (6.75 inches), or a number of inches.
        force: replace files that we did not write.

    Example:
        >>> result = rc.run(study, "smoke", seeds=2, quiet=True)
        >>> rc.report.write(result, "md", "coin.md").name
        'coin.md'
    """
    known = FORMATS if chart is None else CHART_FORMATS
    if format not in known:
        raise unknown("format of a report" if chart is None else "format of a chart", format, known)
    path = None if path is None else Path(path)
    if format == "html":
        return write_report(result, path, force)
    if path is None and result.store is None:
        raise UserError("this result was not stored, so its report has no place; say where with a path")
    if chart is not None:
        figure = result.charts.figure(chart)
        name = f"{chart}.{format}" if path is None else path.name
        contents = {name: drawn(figure.chart, format, width)}
    else:
        name = f"report.{format}" if path is None else path.name
        contents = markdown_files(result, name) if format == "md" else {name: printed(render(result))}
    return _put(result, contents, name, path, force)


def _put(result: Result, contents: dict[str, bytes], name: str, path: Path | None, force: bool) -> Path | str:
    """Files beside each other, the one called `name` at `path` or beside the records."""
    if path is not None:
        places = {part: path if part == name else path.parent / part for part in contents}
        for place in places.values():
            refuse_foreign(place, force)  # all or none
        for part, data in contents.items():
            write_or_refuse(places[part], data, force)
        return path
    assert result.store is not None
    return write_beside(result.store.files, contents, name, force)
