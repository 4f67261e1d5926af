"""The report of a study: one HTML file that opens from disk, asks for nothing, and says what was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..charts.theme import COLOR_MAPS
from ..errors import UserError
from ..files import (
    Files,
    LocalFiles,
    cannot_write,
    is_marked,
    marked,
    replaced_by_force,
    why_not,
    write_or_refuse,
)
from ..lab.record import Failure
from ..lab.study_result import Result
from ..labels import spelled
from .claim_plot import claim_plot, ends, plot_of
from .episodes import episode_svg, episode_text, episodes_of
from .image_grid_page import page_data
from .maps import page_data as map_data
from .page import data_uri, fill, interval_text

PAGE = "report.html"  # beside the records
LISTED_CELLS = 2_000  # rows of the table of cells: the page of a large study stays small


@dataclass(frozen=True)
class Running:
    """That a study goes on while its page is looked at.

    Args:
        words: how far it is.
        every: seconds until the page is looked for again.
        written: when this page was made, in seconds since 1970.
        stale: seconds after which a page that was not made again is one whose run has stopped.
    """

    words: str
    every: float
    written: float
    stale: float


def write_report(result: Result, path: Path | None = None, force: bool = False) -> Path | str:
    """Writes the report, by default beside the records, whole or not at all; returns where it is.

    Args:
        result: what is shown.
        path: of the file; beside the records if left out.
        force: replace a file there that we did not write.

    Example:
        >>> result = rc.run(study, "smoke", seeds=2, quiet=True)
        >>> rc.report.write_report(result, "coin.html").name
        'coin.html'
    """
    if path is None:
        if result.store is None:
            raise UserError("this result was not stored, so its report has no place; say where with a path")
        return write_beside(result.store.files, {PAGE: render(result).encode()}, PAGE, force)
    path = Path(path)
    write_or_refuse(path, render(result).encode(), force)
    return path


def write_beside(files: Files, contents: Mapping[str, bytes], name: str, force: bool = False) -> Path | str:
    """Writes reports beside the records of a store; returns where the one called `name` is."""
    for one in contents:
        refuse_foreign_page(files, one, force)
    try:
        files.write_all({one: marked(data, PurePosixPath(one).suffix) for one, data in contents.items()})
    except OSError as problem:
        raise cannot_write(f"{files.place}/{name}", problem) from problem
    return files.root / name if isinstance(files, LocalFiles) else f"{files.place}/{name}"


def refuse_foreign_page(files: Files, name: str = PAGE, force: bool = False) -> None:
    """Raises if a file of a store that would be replaced by a page is not one of ours, or was changed since."""
    try:
        if force or not files.exists(name) or is_marked(files.read(name)):
            return
    except OSError as problem:
        raise UserError(f"{files.place}/{name} cannot be read: {why_not(problem)}") from None
    raise replaced_by_force(f"{files.place}/{name}")


def render(result: Result, running: Running | None = None) -> str:
    """The report as text. The same result gives the same text.

    Args:
        result: what is shown.
        running: how far the study is, where it goes on while the page is looked at; the page then follows it.

    Example:
        >>> result = rc.run(study, "smoke", seeds=2, quiet=True)
        >>> "Is the coin biased?" in rc.report.render(result)
        True
    """
    image_grids = [page_data(grid) for grid in result.image_grids]
    maps, map_island = map_data(result.support_maps)
    scripts = ["image_grids.js"] if any(grid["slider"] is not None for grid in image_grids) else []
    return fill(
        "page.html.j2",
        [*result.figures, *result.claim_figures.values()],
        {"spell": spelled},
        scripts=[*scripts, *(["maps.js"] if maps else [])],
        last_scripts=["follow.js"],
        styles=[*(["image_grids.css"] if image_grids else []), *(["maps.css"] if maps else [])],
        islands={"maps-data": map_island} if map_island else {},
        page_name=f"{result.study.id}-{result.scale}",
        running=running,
        **_findings(result),
        **_origin(result),
        image_grids=image_grids,
        maps=maps,
        heat=COLOR_MAPS["heat"],
        episodes=[
            {"name": name, "source": data_uri(episode_svg(episode)), "text": episode_text(episode, 60)}
            for name, episode in episodes_of(result).items()
        ],
        texts=text_groups(result.texts),
    )


# -- what the page is filled with -------------------------------------------------------------------------------------
def _findings(result: Result) -> dict[str, Any]:
    """What was asked and what came out."""
    sources = {verdict.claim.source for verdict in result.verdicts}
    claims = [
        {
            "verdict": v,
            "claim": v.claim,
            "interval": interval_text(v.interval),
            "plot": claim_plot(v),
            "survives": v.claim.id in result.survivors,
            # what is so by construction is not judged cell by cell
            "cells": [(cell, cell.decision()[0]) for cell in v.cells if cell.cell and v.outcome != "by construction"],
        }
        for v in result.verdicts
    ]
    reach: dict[str, list[float]] = {}
    for question, interval, values in result.measurements:  # the same reading, the same axis: plots can be compared
        reach.setdefault(question.description, []).extend(ends(values, interval))
    questions = [
        {
            "question": q,
            "mean": interval.mean,
            "interval": interval_text(interval),
            "plot": plot_of(values, interval, 0.0, reach=reach[q.description]),
        }
        for q, interval, values in result.measurements
    ]
    return {
        "study": result.study,
        "scale": result.scale,
        "answer": result.headline,
        "counts": result.counts,
        "claims": claims,
        "changed_claims": [str(one) for one in result.changed_claims],
        "drawn": len(result.figures),
        "one_source": sources.pop() if len(sources) == 1 else None,
        "questions": questions,
        "failures": [(result.study.label(f.cell.spec), f.error, traceback_of(f)) for f in result.failures],
    }


def _origin(result: Result) -> dict[str, Any]:
    """How it was made."""
    names = sorted(
        {name for setup in result.setups for name in setup.facts}, key=lambda name: (name != "recombine", name)
    )
    return {
        "extent": result.extent,
        "settings": result.shown_settings(),
        "setups": result.setups,
        "setup_facts": [(name, [setup.facts.get(name, "") for setup in result.setups]) for name in names],
        "command": result.command,
        "cells": result.cells(LISTED_CELLS),
        "records": len(result.records),
        "seconds": result.seconds,
        "seeds": result.seeds,
        "content": result.content,
    }


def traceback_of(failure: Failure) -> str:
    """Where a cell failed, without the folders of the machine: these are nobody's business who reads the page."""
    return re.sub(
        r'(?<=File ")[^"]+(?=")', lambda found: "/".join(re.split(r"[\\/]", found[0])[-3:]), failure.traceback
    )


def text_groups(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Texts called "NAME, seed N" under one NAME: the first seed to be seen, the others behind it."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, text in texts.items():
        match = re.fullmatch(r"(.+), (seed \d+)", name, re.DOTALL)
        head, tail = match.groups() if match else (name, "")
        groups.setdefault(head, []).append((tail, text))
    return [{"name": name, "first": items[0], "others": items[1:]} for name, items in groups.items()]
