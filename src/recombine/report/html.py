"""The report of a study: one HTML file that opens from disk, asks for nothing, and says what was found."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import write_or_refuse
from ..intervals import Interval
from ..lab.run import Result
from ..lab.study import Figure
from . import origin
from .episodes import episode_svg, episode_text
from .plates import page_data
from .strip import ends, strip
from .theme import DARK, FONT, LIGHT, chart_config

OUTCOMES = ("supported", "refuted", "undecided")
LISTED = 400  # rows of a chart's data shown as a table; the chart holds all of them


def write_report(result: Result, path: Path | None = None) -> Path:
    """Writes the report, by default beside the records, whole or not at all; returns where it is."""
    if path is None:
        if result.store is None:
            raise UserError("this result was not stored, so its report has no place; say where with a path")
        path = result.store.path / "report.html"
    path = Path(path)
    write_or_refuse(path, render(result).encode())
    return path


def render(result: Result) -> str:
    """The report as text. The same result gives the same text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("recombine", "report"),
        autoescape=True,  # every label is data, whatever it looks like
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "spell": origin.spell, "duration": duration}
    figures = result.study.figures(result.table, result.records) if len(result.table) else []
    plates = [page_data(plate) for plate in result.study.plates(result.records)] if result.records else []
    scripts = [_vega(), _asset("page.js")] if figures else []
    scripts += [_asset("plates.js")] if any(plate["slider"] is not None for plate in plates) else []
    scripts = [_inert(script) for script in scripts]
    return environment.get_template("page.html.j2").render(
        **_findings(result),
        **_origin(result),
        figures=[_figure(figure) for figure in figures],
        plates=plates,
        episodes=[
            {"name": name, "source": _data_uri(episode_svg(episode)), "text": episode_text(episode, 60)}
            for name, episode in result.study.episodes(result.records).items()
        ],
        exhibits=exhibit_groups(result.study.exhibits(result.records)),
        islands={"chart-config": _json(chart_config())} if figures else {},
        scripts=scripts,
        policy=_policy(scripts),
        css=_asset("page.css") + (_asset("plates.css") if plates else ""),
        light=LIGHT,
        dark=DARK,
        font=FONT,
    )


# -- what the page is filled with -------------------------------------------------------------------------------------
def _findings(result: Result) -> dict[str, Any]:
    """What was asked and what came out."""
    outcomes = {verdict.claim.id: verdict.outcome for verdict in result.verdicts}
    sources = {verdict.claim.source for verdict in result.verdicts}
    claims = [
        {"verdict": v, "claim": v.claim, "interval": interval_text(v.interval),
         "strip": strip(v.values, v.interval, v.claim.threshold, v.claim.side)}
        for v in result.verdicts
    ]  # fmt: skip
    reach: dict[str, list[float]] = {}
    for question, interval, values in result.answers:  # the same reading, the same axis: strips can be compared
        reach.setdefault(question.reads, []).extend(ends(values, interval))
    questions = [
        {"question": q, "mean": interval.mean, "interval": interval_text(interval),
         "strip": strip(values, interval, 0.0, reach=reach[q.reads])}
        for q, interval, values in result.answers
    ]  # fmt: skip
    return {
        "study": result.study,
        "scale": result.scale,
        "answer": result.study.answer(result.table, outcomes) if len(result.table) and outcomes else "",
        "counts": [(name, list(outcomes.values()).count(name)) for name in OUTCOMES],
        "claims": claims,
        "one_source": sources.pop() if len(sources) == 1 else None,
        "questions": questions,
        "failures": [(result.study.label(failure.cell.spec), failure) for failure in result.failures],
    }


def _origin(result: Result) -> dict[str, Any]:
    """How it was made."""
    from .. import __version__

    made_by = origin.setups(result.records)
    names = sorted({name for setup in made_by for name in setup.facts}, key=lambda name: (name != "recombine", name))
    changed = origin.changed(result)
    helps = {knob.name: knob.help for knob in result.study.knobs}
    seconds = [record.facts["seconds"] for record in result.records if _is_number(record.facts.get("seconds"))]
    return {
        "extent": origin.extent(result),
        "settings": [
            (name, result.settings[name], helps.get(name, ""), name in changed)
            for name in sorted(result.settings, key=[*helps, *result.settings].index)  # as the study lists them
        ],
        "setups": made_by,
        "setup_facts": [(name, [setup.facts.get(name, "") for setup in made_by]) for name in names],
        "command": origin.command(result),
        "cells": [
            {"label": result.study.label(record.cell.spec), "summary": result.study.summary(record),
             "seconds": record.facts.get("seconds"), "id": record.cell.id,
             "content": str(record.facts.get("content") or "")}
            for record in result.records
        ],
        "seconds": sum(seconds) if seconds else None,
        "version": __version__,
    }  # fmt: skip


def _figure(figure: Figure) -> dict[str, Any]:
    """A chart as data for the drawing script and, for readers without one, as a table."""
    data = figure.spec.get("data")
    rows = data.get("values", []) if isinstance(data, dict) else []
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "title": figure.title,
        "caption": figure.caption,
        "spec": _json(figure.spec),
        "columns": columns,
        "rows": [[row.get(name, "") for name in columns] for row in rows[:LISTED]],
        "left_out": max(0, len(rows) - LISTED),
    }


def exhibit_groups(exhibits: Mapping[str, str]) -> list[dict[str, Any]]:
    """Exhibits called "NAME, seed N" under one NAME: the first seed to be seen, the others behind it."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, text in exhibits.items():
        match = re.fullmatch(r"(.+), (seed \d+)", name, re.DOTALL)
        head, tail = match.groups() if match else (name, "")
        groups.setdefault(head, []).append((tail, text))
    return [{"name": name, "first": items[0], "others": items[1:]} for name, items in groups.items()]


# -- how numbers are written ------------------------------------------------------------------------------------------
def number(value: Any, digits: int = 3) -> str:
    """A number with a real minus; a dash where there is none; anything else as it is."""
    if not _is_number(value):
        return str(value)
    if not math.isfinite(value):
        return "–"
    text = str(value) if isinstance(value, int) else f"{value:.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def interval_text(interval: Interval) -> str:
    """The ends of an interval over seeds, or nothing where there is none."""
    if interval.seeds < 2 or not math.isfinite(interval.low):
        return ""
    return f"{number(interval.low)} to {number(interval.high)}"


def duration(seconds: Any) -> str:
    """A time in the largest unit that fits."""
    if not _is_number(seconds) or not math.isfinite(seconds):
        return "–"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# -- scripts and data inside the page ---------------------------------------------------------------------------------
def _json(data: Any) -> str:
    """JSON that cannot end the script element that holds it, whatever its strings say."""
    text = json.dumps(_plain(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(data: Any) -> Any:
    """Plain data: what JSON lacks (NaN, numbers of numpy, keys that are not text) in its nearest spelling."""
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if data is None or isinstance(data, (str, bool, int)):
        return data
    if hasattr(data, "item"):
        return _plain(data.item())
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return str(data)


def _data_uri(svg: str) -> str:
    """A picture inside the page: as an image it can neither run a script nor ask for anything."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@functools.cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script. Bundling takes seconds, so once a process."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


@functools.cache
def _asset(name: str) -> str:
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
