"""Charts as files: SVG, PDF or PNG at the width of a column, by vl-convert; no browser is needed."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..files import write_or_refuse
from ..labels import visible, visible_text
from .figure import plain_spec
from .theme import look
from .tidy_rows import plain

FORMATS = ("svg", "pdf", "png")
WIDTHS = {"column": 3.25, "text": 6.75}  # inches
PIXELS, POINTS = 96, 72  # of an inch of SVG, and of PDF
NARROW, LOWER = 5.0, 0.72  # inches below which a chart is made lower, too, and by how much
SHOWN = 640  # pixels of a chart in a notebook
DOTS = 300  # of an inch of a PNG


def save(chart: Any, path: Path | str, width: str | int | float = "column") -> Path:
    """Writes a chart as SVG, PDF or PNG, by the end of the path's name; returns where it is.

    The same chart gives the same SVG and PNG; in a PDF the parts may stand in another order. Fonts stay fonts.

    Args:
        chart: an Altair chart.
        path: the file.
        width: column (3.25 inches), text (6.75 inches), or a number of inches.

    Example:
        >>> from tempfile import mkdtemp
        >>> chart = rc.charts.bars([{"name": "seen", "value": 0.9}, {"name": "unseen", "value": 0.4}])
        >>> rc.charts.save(chart, f"{mkdtemp()}/shares.pdf", width="column").name
        'shares.pdf'
    """
    path = Path(path)
    write_or_refuse(path, drawn(chart, path.suffix.lower().removeprefix("."), width))
    return path


def drawn(chart: Any, format: str, width: str | int | float = "column", style: str = "paper") -> bytes:
    """A chart as the bytes of a file."""
    require_format(format)
    return converted(sized_svg(chart, inches_of(width), style), format)


def require_format(format: str) -> None:
    """Refuses a format that charts are not written in."""
    if format not in FORMATS:
        raise UserError(f"a chart is written as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not as {format!r}")


def inches_of(width: str | int | float) -> float:
    found = WIDTHS.get(width) if isinstance(width, str) else width
    if found is None:
        raise unknown("width", width, WIDTHS)
    if not 1 <= found <= 40:
        raise UserError(f"width={width} must lie between 1 and 40 inches, such as 3.25")
    return float(found)


def sized_svg(chart: Any, inches: float, style: str = "paper") -> str:
    """The chart as an SVG of that width: laid out for it where it fills a page, else made smaller if it is wider."""
    spec, wanted = plain_spec(chart), round(inches * PIXELS)
    own = spec.get("config") or {}
    spec["config"] = {}
    autosize = spec.get("autosize")
    if spec.get("width") != "container" and not (isinstance(autosize, dict) and autosize.get("type") == "fit-x"):
        svg = as_svg(spec, _merged(look(style), own))
        by = wanted / size_of(svg)[0]
        return resized(svg, by) if by < 1 else svg
    spec["width"] = wanted
    if inches < NARROW and isinstance(spec.get("height"), (int, float)) and spec["height"] > 150:
        spec["height"] = round(spec["height"] * LOWER)
    return as_svg(spec, _merged(look(style), own))


def as_svg(spec: dict[str, Any], config: dict[str, Any]) -> str:
    """A specification as SVG."""
    import vl_convert

    return vl_convert.vegalite_to_svg(_whole(spec), vl_version=version(), config=config)


def converted(svg: str, format: str, scale: float = DOTS / PIXELS) -> bytes:
    """An SVG as the bytes of a file of that format."""
    import vl_convert

    svg = visible_text(svg)  # the door of drawings: whatever label got here, nothing in it acts or hides
    if format == "svg":
        return svg.encode()
    if format == "pdf":
        return vl_convert.svg_to_pdf(resized(svg, POINTS / PIXELS))  # a unit of PDF is a point
    return vl_convert.svg_to_png(svg, scale=scale)


@functools.cache
def version() -> str:
    """The Vega-Lite of Altair's specifications, as vl-convert names it; its newest, where it does not have that one."""
    import altair
    import vl_convert

    wanted = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    return wanted if wanted in known else known[-1]


def dressed(chart: Any, style: str = "light") -> Any:
    """The chart with a look of its own and a width, for a notebook or to go on from."""
    changed = chart.copy(deep=False)
    if getattr(changed, "width", None) == "container":
        changed = changed.properties(width=SHOWN)
    changed.config = look(style)
    return changed


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of a drawing."""
    head = re.match(r"\s*<svg[^>]*>", svg)
    found = [re.search(rf'\s{name}="([\d.]+)"', head[0]) for name in ("width", "height")] if head else []
    if not found or not all(found):
        raise ValueError("a drawing must say how large it is")
    width, height = (float(one[1]) for one in found if one)
    return width, height


def resized(svg: str, by: float) -> str:
    """The drawing with another size on the outside and the same coordinates inside."""
    width, height = size_of(svg)
    head = re.match(r"\s*<svg[^>]*>", svg)
    assert head is not None
    tag = re.sub(r'\s(width|height|viewBox)="[^"]*"', "", head[0])
    found = re.search(r'viewBox="([^"]*)"', head[0])
    box = found[1] if found else f"0 0 {width:g} {height:g}"
    size = f'width="{width * by:g}" height="{height * by:g}" viewBox="{box}"'
    return tag.replace("<svg", f"<svg {size}", 1) + svg[head.end() :]


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A look with what the user has set of it."""
    found = dict(base)
    for name, value in own.items():
        both = isinstance(value, dict) and isinstance(found.get(name), dict)
        found[name] = _merged(found[name], value) if both else value
    return found


def _whole(part: Any) -> Any:
    """A specification that JSON and XML can hold: no number of numpy, no NaN, no character that cannot be seen."""
    if isinstance(part, dict):
        return {str(name): _whole(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_whole(value) for value in part]
    if isinstance(part, str):
        return visible(part)
    value = plain(part)
    return None if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value
