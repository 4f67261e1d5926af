"""The gallery: all studies on one page; what is supported, refuted, undecided, at which scale, in what time."""

from __future__ import annotations

import math
import os
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import write_or_refuse
from ..lab.run import Result
from ..lab.verdicts import Verdict, counts
from . import origin
from .html import write_report
from .page import fill, interval_text
from .stores import find_stores, open_all, short_place

PAGE_NAME = "gallery.html"
FAR = 4.0  # half-widths of the interval at which a bar ends
STEP, HEIGHT = 9, 44  # pixels: from one bar to the next; of the sparkline


@dataclass(frozen=True)
class Bar:
    """A claim in the sparkline: its verdict, and how far its mean lies on the claim's side of the threshold."""

    x: int
    y: float
    height: float
    outcome: str
    words: str


def write_gallery(folders: Sequence[Path], path: Path | None = None) -> Path:
    """Writes the page of all stores in the folders, and the reports that are missing or older than their records."""
    folders = [Path(folder) for folder in folders]
    results, unread = open_all(folders)
    if path is None:
        first = folders[0]
        path = (first.parent if find_stores(first) == [first] else first) / PAGE_NAME
    path = Path(path)
    pages = [_up_to_date(result) for result in results]
    links = [urllib.parse.quote(os.path.relpath(page, path.parent).replace(os.sep, "/")) for page in pages]
    write_or_refuse(path, render_gallery(results, links, unread).encode())
    return path


def render_gallery(
    results: Sequence[Result], links: Sequence[str], unread: Sequence[tuple[Path, str]] = ()
) -> str:  # fmt: skip
    """The gallery as text; a link for each result."""
    entries = [_entry(result, link) for result, link in zip(results, links, strict=True)]
    verdicts = [verdict for result in results for verdict in result.verdicts]
    seconds = [entry["seconds"] for entry in entries if entry["seconds"] is not None]
    return fill(
        "gallery.html.j2", [], {}, styles=["gallery.css"], page_name="gallery",
        entries=entries,
        studies=len({result.study.id for result in results}),
        counts=counts([verdict.outcome for verdict in verdicts]),
        claims=[
            {"entry": entry, "verdict": verdict, "claim": verdict.claim, "interval": interval_text(verdict.interval)}
            for entry, result in zip(entries, results, strict=True) for verdict in result.verdicts
        ],
        seconds=sum(seconds) if seconds else None,
        unread=[(path.name, reason.replace(str(path), short_place(str(path)))) for path, reason in unread],
    )  # fmt: skip


def _entry(result: Result, link: str) -> dict[str, Any]:
    """One study, as the page shows it."""
    outcomes = [verdict.outcome for verdict in result.verdicts]
    return {
        "study": result.study,
        "folder": short_place(result.store.place) if result.store else "",
        "scale": result.scale,
        "link": link,
        "answer": result.headline,
        "counts": counts(outcomes),
        "bars": sparkline(result.verdicts),
        "extent": origin.extent(result),
        "seconds": origin.seconds(result),
    }


def sparkline(verdicts: Sequence[Verdict]) -> list[Bar]:
    """A bar a claim: up where its mean is on the claim's side, as long as it is far, in half-widths of the interval.

    Beyond one half-width the whole interval is on that side, so what is longer is decided.
    """
    middle, unit = HEIGHT / 2, (HEIGHT / 2 - 2) / FAR
    bars = []
    for number, verdict in enumerate(verdicts):
        reach = min(FAR, max(-FAR, _margin(verdict))) * unit
        words = f"{verdict.claim.text}: {verdict.outcome}"
        top = middle - max(reach, 0.0)
        bars.append(Bar(2 + STEP * number, round(top, 1), round(max(abs(reach), 1.5), 1), verdict.outcome, words))
    return bars


def _margin(verdict: Verdict) -> float:
    """Distance from the threshold toward the claim's side in half-widths of the interval; 0 where there is none."""
    interval = verdict.interval
    if interval.seeds < 2 or not math.isfinite(interval.low):
        return 0.0
    distance = interval.mean - verdict.claim.threshold
    distance = distance if verdict.claim.side == "at least" else -distance
    half = (interval.high - interval.low) / 2
    far = (math.copysign(FAR, distance) if distance else 0.0) if half == 0.0 else distance / half
    # what is undecided for another reason than its interval (too few seeds, a precondition) does not look decided
    return min(1.0, max(-1.0, far)) if verdict.outcome == "undecided" else far


def _up_to_date(result: Result) -> Path:
    """The report beside the records; made if it is missing or older than one of them."""
    if result.store is None:
        raise ValueError("a result without a store has no report to link to")
    page = result.store.path / "report.html"
    newest = max((path.stat().st_mtime for path in (result.store.path / "records").glob("*.json")), default=0.0)
    if not page.exists() or page.stat().st_mtime < newest:
        write_report(result)
    return page
