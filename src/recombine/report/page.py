"""What every page shares: the template engine, charts as data, scripts by their hash, how numbers are written."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..charts.figure import Figure
from ..charts.theme import DARK, FONT, LIGHT, chart_config
from ..charts.words import is_number as is_number
from ..charts.words import number as number
from ..labels import duration, visible_text
from ..statistics.intervals import Interval
from .vega_bundle import vega_bundle

LISTED = 400  # rows of a chart's data shown as a table; the chart holds all of them


def fill(
    template: str,
    figures: Sequence[Figure],
    filters: Mapping[str, Callable[..., Any]],
    scripts: Sequence[str] = (),
    last_scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    islands: Mapping[str, Any] | None = None,
    page_name: str = "recombine",
    **more: Any,
) -> str:
    """A page from its template, with charts and files of our own. Every label is data, whatever it looks like.

    last_scripts: those that come after the charts.
    islands: data for scripts, by the id under which they look for it.
    page_name: how files that are saved from the page begin.
    """
    islands = dict(islands or {}) | ({"chart-config": chart_config()} if figures else {})
    from .. import __version__

    named = ["theme.js", "tables.js", *scripts, *(["charts.js"] if figures else []), *last_scripts]
    texts = [_inert(text) for text in (*([vega_bundle()] if figures else []), *(asset(name) for name in named))]
    page = _environment(tuple(filters.items())).get_template(template)
    return page.render(
        figures=[figure_parts(figure) for figure in figures],
        islands={name: to_island(data) for name, data in islands.items()},
        scripts=texts,
        policy=_policy(texts),
        css="".join(asset(name) for name in ("page.css", *styles)),
        light=LIGHT,
        dark=DARK,
        font=FONT,
        page_name=page_name,
        version=__version__,
        **more,
    )


@functools.cache
def _environment(filters: tuple[tuple[str, Callable[..., Any]], ...]) -> Any:
    """The template engine; a live page or a gallery fills a template many times and compiles it once."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("recombine", "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "duration": duration, "code_names": code_names, **dict(filters)}
    return environment


def _shown(value: Any) -> Any:
    """What a template puts into a page. Our own markup is marked as such; everything else may be a stranger's label."""
    return visible_text(value) if type(value) is str else value


def code_names(text: str) -> Any:
    """A text in which names between backticks stand as code; everything in it is escaped."""
    from markupsafe import Markup, escape

    parts = [escape(visible_text(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a lone one is a character like any other
        return Markup("`").join(parts)
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def figure_parts(figure: Figure) -> dict[str, Any]:
    """A chart as data for the drawing script and, for readers without one, as a table."""
    data = figure.spec.get("data")
    rows = data.get("values", []) if isinstance(data, dict) else []
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "title": figure.title,
        "caption": figure.full_caption,
        "spec": to_island({"description": f"{figure.title}. {figure.full_caption}"} | figure.spec),
        "columns": columns,
        "rows": [[row.get(name, "") for name in columns] for row in rows[:LISTED]],
        "left_out": max(0, len(rows) - LISTED),
    }


# -- how numbers are written ------------------------------------------------------------------------------------------


def interval_text(interval: Interval) -> str:
    """The ends of an interval over seeds, or nothing where there is none."""
    if interval.seeds < 2 or not math.isfinite(interval.low):
        return ""
    return f"{number(interval.low)} to {number(interval.high)}"


# -- scripts and data inside the page ---------------------------------------------------------------------------------
def to_island(data: Any) -> str:
    """JSON that cannot end the script element that holds it, whatever its strings say."""
    text = json.dumps(plain_data(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def plain_data(data: Any) -> Any:
    """A copy as plain data: what JSON lacks (NaN, numbers of numpy, keys that are not text) in its nearest spelling."""
    if isinstance(data, Mapping):
        return {str(key): plain_data(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain_data(value) for value in data]
    if isinstance(data, str):
        return visible_text(data)
    if data is None or isinstance(data, (bool, int)):
        return data
    if hasattr(data, "item"):
        return plain_data(data.item())
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return str(data)


def data_uri(svg: str) -> str:
    """A picture inside the page: as an image it can neither run a script nor ask for anything."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@functools.cache
def asset(name: str) -> str:
    return importlib.resources.files("recombine.report").joinpath(name).read_text(encoding="utf-8")


def _inert(script: str) -> str:
    """A script whose text can neither end its element nor open a comment in it."""
    script = script.replace("\r\n", "\n").replace("\r", "\n")  # as a browser reads it, so that its hash is the same
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", script, flags=re.IGNORECASE)


def _policy(scripts: Sequence[str]) -> str:
    """Content security policy: no request at all, and no script but ours, each named by its hash."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    closed = "base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; {closed}"
