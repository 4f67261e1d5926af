"""What is stored is looked at: `recombine status`, `report`, `gallery` and `compare`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from tyro.conf import Positional

from ..errors import UserError
from ..labels import quoted
from .printing import print_comparison, print_json, print_result, print_text


def status(place: Positional[str], watch: bool = False, study: str | None = None, json: bool = False) -> None:
    """Says how far a run is: cells done, running, failed and left, how fast it goes, and how long it will take.

    Args:
        place: where `recombine run` puts its records
        watch: go on until nobody is at work there
        study: where a study of your own is, as it was run: package.module:study or ./file.py:study
        json: print JSON objects, one a line
    """
    from ..lab.driver.locks import Watch
    from ..lab.own import with_own
    from ..lab.status import status_of
    from ..lab.store import Store
    from ..studies import registry

    remembered = Watch(Store.open(place).files)
    before, known = None, with_own(registry, study)
    while True:
        found = status_of(place, known, remembered)
        if found != before:
            if json:
                print_json(found.to_json())
            elif before is None or not found.drivers:
                print_text(found)
            else:
                print_text(found.line())
        before = found
        if not watch or not found.drivers:
            return
        sys.stdout.flush()
        time.sleep(2.0)


def report(
    folder: Positional[str],
    format: str | None = None,
    out: Path | None = None,
    chart: str | None = None,
    width: str = "column",
    study: str | None = None,
    force: bool = False,
) -> None:
    """(Re)makes the report from what is stored, running nothing.

    Args:
        folder: where `recombine run` put its records
        format: html the page, md a text with images, pdf the page as it prints, by Chromium (default: as --out ends, or
            html); of one chart svg (the default), pdf or png, which need no browser
        out: file to write (default: report.FORMAT in the folder, or CHART.FORMAT)
        chart: write this chart alone; `--chart list` says what they are called
        width: of that chart: column (3.25 inches), text (6.75 inches), or a number of inches
        study: where a study of your own is, as it was run: package.module:study or ./file.py:study
        force: replace a file there that recombine did not write, or that was changed since
    """
    from ..lab.own import with_own
    from ..lab.reopening import reopen
    from ..report import write
    from ..report.formats import report_format, width_of
    from ..studies import registry

    if width != "column" and chart in (None, "list"):
        raise UserError(f"--width {quoted(width)} is for one chart; name it with --chart")
    if chart == "list":
        print(reopen(folder, with_own(registry, study)).charts)
        return
    chosen = report_format(format, out, chart)
    result = reopen(folder, with_own(registry, study))
    page = write(result, chosen, out, chart=chart, width=width_of(width), force=force)
    if chart is not None:
        Console(highlight=False, soft_wrap=True).print(f"chart: {page}", markup=False)
        return
    print_result(result, Console(highlight=False))
    Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)


def gallery(
    folders: Positional[tuple[Path, ...]] = (Path("runs"),), out: Path | None = None, force: bool = False
) -> None:
    """Makes one page of all studies that were run: verdicts, scale, time, and links to the reports.

    Args:
        folders: stores, or folders that hold them; reports that are missing or old are made, too
        out: file to write (default: gallery.html in the first folder)
        force: replace a file there that recombine did not write, or that was changed since
    """
    from ..lab.found_stores import open_all
    from ..report import write_gallery
    from ..studies import registry

    folders = folders or (Path("runs"),)
    results, unread = open_all(folders, registry)
    print_text(f"gallery: {write_gallery(results, out or gallery_place(folders), unread, force)}")


def gallery_place(folders: Sequence[Path]) -> Path:
    """Where a gallery goes: into the first folder, or beside it if that is a store."""
    from ..lab.found_stores import find_stores

    first = Path(folders[0])
    return (first.parent if find_stores(first) == [first] else first) / "gallery.html"


def compare(
    first: Positional[str], second: Positional[str], out: Path | None = None, force: bool = False, json: bool = False
) -> None:
    """Puts two stores of a study side by side and marks differences that are larger than their interval.

    Args:
        first: a store, or a folder of stores
        second: another one; in folders, stores of the same name are compared
        out: file for the page (default: compare.html beside the second; of a URL, here)
        force: replace a file there that recombine did not write, or that was changed since
        json: print one JSON object on stdout and nothing else there
    """
    from ..lab.comparing import compare_folders
    from ..report import write_comparison
    from ..studies import registry

    found, alone = compare_folders(first, second, registry)
    beside = Path() if "://" in second else Path(second).parent
    page = write_comparison(found, out or beside / "compare.html", alone, force)
    if json:
        print_json({"studies": [one.to_json() for one in found], "only_in_one": alone, "page": str(page)})
        return
    console = Console(highlight=False)
    for one in found:
        print_comparison(one, console)
    if alone:
        console.print(f"only in one of the two: {', '.join(alone)}", markup=False)
    Console(highlight=False, soft_wrap=True).print(f"\npage: {page}", markup=False)
