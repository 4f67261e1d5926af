"""The gallery: all studies on one page; what is supported, refuted, open, at which scale, in what time."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import ForeignFile, refuse_foreign, write_or_refuse
from ..lab.study_result import Result
from ..lab.verdicts import MIN_SEEDS, Verdict, counts, surviving
from ..labels import short_place
from .html import write_report
from .page import fill, interval_text

AHEAD = 60.0  # seconds by which clocks of a disk and of this machine may differ
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


def write_gallery(
    results: Sequence[Result], path: Path, unread: Sequence[tuple[Path, str]] = (), force: bool = False
) -> Path:
    """Writes the page of some stored results, the same as JSON, and reports that are missing or older than records.

    Args:
        results: what `lab.found_stores.open_all` found.
        path: the file to write.
        unread: stores that could not be read, with the reason.
        force: replace a file at `path` that we did not write.

    Example:
        >>> result = rc.run(study, "smoke", seeds=2, out="coin", quiet=True)
        >>> rc.report.write_gallery([result], "gallery.html").name
        'gallery.html'
    """
    path = Path(path)
    refuse_foreign(path, force)  # before it takes long
    refuse_foreign(path.with_suffix(".json"), force)
    data = json.dumps(gallery_json(results), allow_nan=False, indent=1) + "\n"
    write_or_refuse(path.with_suffix(".json"), data.encode(), force)
    pages = [_up_to_date(result) for result in results]
    links = [urllib.parse.quote(os.path.relpath(page, path.parent).replace(os.sep, "/")) for page in pages]
    write_or_refuse(path, render_gallery(results, links, unread).encode(), force)
    return path


def render_gallery(results: Sequence[Result], links: Sequence[str], unread: Sequence[tuple[Path, str]] = ()) -> str:
    """The gallery as text; a link for each result."""
    entries = [_entry(result, link) for result, link in zip(results, links, strict=True)]
    verdicts = [verdict for result in results for verdict in result.verdicts]
    seconds = [entry["seconds"] for entry in entries if entry["seconds"] is not None]
    return fill(
        "gallery.html.j2",
        [],
        {},
        styles=["gallery.css"],
        page_name="gallery",
        entries=entries,
        studies=len({result.study.id for result in results}),
        counts=counts([verdict.outcome for verdict in verdicts]),
        claims=[
            {
                "entry": entry,
                "verdict": verdict,
                "claim": verdict.claim,
                "interval": interval_text(verdict.interval),
                "survives": survives,
            }
            for (entry, verdict), survives in zip(
                [(e, v) for e, result in zip(entries, results, strict=True) for v in result.verdicts],
                marked(results),
                strict=True,
            )
        ],
        seconds=sum(seconds) if seconds else None,
        unread=[(path.name, reason.replace(str(path), short_place(str(path)))) for path, reason in unread],
    )


def marked(results: Sequence[Result]) -> list[bool]:
    """Of each claim of all studies together, whether it survives e-BH at 5 %."""
    verdicts = [verdict for result in results for verdict in result.verdicts]
    kept = set(surviving(verdicts))
    return [number in kept for number in range(len(verdicts))]


def gallery_json(results: Sequence[Result]) -> dict[str, Any]:
    """All verdicts as data, each with its evidence, and whether it survives e-BH over all claims of all studies."""
    marks = iter(marked(results))
    return {
        "studies": [
            {
                "study": result.study.id,
                "scale": result.scale,
                "headline": result.headline,
                "verdicts": [verdict.to_json() | {"survives": next(marks)} for verdict in result.verdicts],
            }
            for result in results
        ]
    }


def _entry(result: Result, link: str) -> dict[str, Any]:
    """One study, as the page shows it."""
    return {
        "study": result.study,
        "folder": short_place(result.store.place) if result.store else "",
        "scale": result.scale,
        "link": link,
        "answer": result.headline,
        "counts": result.counts,
        "bars": sparkline(result.verdicts),
        "extent": result.extent,
        "seconds": result.seconds,
    }


def sparkline(verdicts: Sequence[Verdict]) -> list[Bar]:
    """One bar per claim: up where its mean is on the claim's side; its length is in half-widths of the interval.

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
    interval, claim = verdict.interval, verdict.claim
    if interval.seeds < MIN_SEEDS or not math.isfinite(interval.high - interval.low):
        return 0.0
    if claim.how_often is not None:
        distance = interval.mean - claim.how_often
    else:
        distance = claim.bound.sign * (interval.mean - claim.threshold)
    toward = interval.low if (distance > 0) == (claim.bound.sign > 0 or claim.how_often is not None) else interval.high
    half = abs(interval.mean - toward)  # the side of the interval that faces the threshold
    far = (math.copysign(FAR, distance) if distance else 0.0) if half == 0.0 else distance / half
    # what is open for another reason than its interval (too few seeds, a precondition) does not look decided
    return min(1.0, max(-1.0, far)) if verdict.outcome not in ("supported", "refuted") else far


def _up_to_date(result: Result) -> Path:
    """The report beside the records; made if it is missing or older than one of them."""
    if result.store is None:
        raise ValueError("a result without a store has no report to link to")
    page = result.store.path / "report.html"
    newest = max((path.stat().st_mtime for path in (result.store.path / "records").glob("*.json")), default=0.0)
    dated = page.stat().st_mtime if page.exists() else -math.inf
    if not newest <= dated <= time.time() + AHEAD:  # a page dated far ahead was written by a clock that jumped
        with contextlib.suppress(ForeignFile):  # a page of somebody else's is linked as it is
            write_report(result)
    return page
