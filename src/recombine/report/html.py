"""The report of a study: one HTML file that opens from disk, asks for nothing, and says what was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import LocalFiles, cannot_write, write_or_refuse
from ..lab.run import Result
from ..lab.settings import RESERVED, words_for
from ..lab.verdicts import counts
from . import origin
from .episodes import episode_svg, episode_text, episodes_of
from .maps import page_data as map_data
from .page import data_uri, fill, interval_text
from .plates import page_data
from .strip import ends, strip
from .theme import COLOR_MAPS

LISTED_CELLS = 2_000  # rows of the table of cells: the page of a large study stays small


def write_report(result: Result, path: Path | None = None) -> Path | str:
    """Writes the report, by default beside the records, whole or not at all; returns where it is."""
    if path is None:
        if result.store is None:
            raise UserError("this result was not stored, so its report has no place; say where with a path")
        files = result.store.files
        try:
            files.write("report.html", render(result).encode())
        except OSError as problem:
            raise cannot_write(f"{files.place}/report.html", problem) from problem
        return files.root / "report.html" if isinstance(files, LocalFiles) else f"{files.place}/report.html"
    path = Path(path)
    write_or_refuse(path, render(result).encode())
    return path


def render(result: Result, running: str = "") -> str:
    """The report as text. The same result gives the same text.

    running: how far the study is, where it goes on while the page is looked at.
    """
    figures = result.study.figures(result.table)
    plates = [page_data(plate) for plate in result.study.plates(result.records)] if result.records else []
    maps, told = map_data(result.study.support_maps(result.records))
    scripts = ["plates.js"] if any(plate["slider"] is not None for plate in plates) else []
    return fill(
        "page.html.j2",
        figures,
        {"spell": origin.spell},
        scripts=[*scripts, *(["maps.js"] if maps else [])],
        styles=[*(["plates.css"] if plates else []), *(["maps.css"] if maps else [])],
        islands={"maps-data": told} if told else {},
        page_name=f"{result.study.id}-{result.scale}",
        running=running,
        **_findings(result),
        **_origin(result),
        plates=plates,
        maps=maps,
        heat=COLOR_MAPS["heat"],
        episodes=[
            {"name": name, "source": data_uri(episode_svg(episode)), "text": episode_text(episode, 60)}
            for name, episode in episodes_of(result).items()
        ],
        exhibits=exhibit_groups(texts_of(result)),
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
    for question, interval, values in result.measurements:  # the same reading, the same axis: strips can be compared
        reach.setdefault(question.description, []).extend(ends(values, interval))
    questions = [
        {"question": q, "mean": interval.mean, "interval": interval_text(interval),
         "strip": strip(values, interval, 0.0, reach=reach[q.description])}
        for q, interval, values in result.measurements
    ]  # fmt: skip
    return {
        "study": result.study,
        "scale": result.scale,
        "answer": result.headline,
        "counts": counts(list(outcomes.values())),
        "claims": claims,
        "one_source": sources.pop() if len(sources) == 1 else None,
        "questions": questions,
        "failures": [(result.study.label(f.cell.spec), f.error, origin.traceback_of(f)) for f in result.failures],
    }


def _origin(result: Result) -> dict[str, Any]:
    """How it was made."""
    made_by = origin.setups(result.records)
    names = sorted({name for setup in made_by for name in setup.facts}, key=lambda name: (name != "recombine", name))
    changed = origin.changed(result)
    return {
        "extent": origin.extent(result),
        "settings": [
            (name, value, words_for(name), name in changed)
            for name, value in result.settings.items()
            if name not in RESERVED
        ],
        "setups": made_by,
        "setup_facts": [(name, [setup.facts.get(name, "") for setup in made_by]) for name in names],
        "command": origin.command(result),
        "cells": [
            {"label": result.study.label(record.cell.spec), "summary": result.study.summary(record),
             "seconds": record.facts.get("seconds"), "id": record.cell.id,
             "content": str(record.facts.get("content") or "")}
            for record in result.records[:LISTED_CELLS]
        ],
        "records": len(result.records),
        "seconds": origin.seconds(result),
        "seeds": sorted({r.cell.spec["seed"] for r in result.records if isinstance(r.cell.spec.get("seed"), int)}),
        "content": origin.content(result.records),
    }  # fmt: skip


def texts_of(result: Result) -> dict[str, str]:
    """Texts that are shown as they are, by name."""
    texts = result.study.texts
    return texts.texts(result.records) if texts is not None else {}


def exhibit_groups(exhibits: Mapping[str, str]) -> list[dict[str, Any]]:
    """Exhibits called "NAME, seed N" under one NAME: the first seed to be seen, the others behind it."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, text in exhibits.items():
        match = re.fullmatch(r"(.+), (seed \d+)", name, re.DOTALL)
        head, tail = match.groups() if match else (name, "")
        groups.setdefault(head, []).append((tail, text))
    return [{"name": name, "first": items[0], "others": items[1:]} for name, items in groups.items()]
