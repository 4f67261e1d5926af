"""What is stored is looked at: `recombine status`, `report`, `gallery` and `compare`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Literal

from rich.console import Console
from tyro.conf import Positional

from .printing import print_comparison, print_json, print_result


def status(place: Positional[str], watch: bool = False, study: str | None = None, json: bool = False) -> None:
    """Says how far a run is: cells done, running, failed and left, how fast it goes, and how long it will take.

    Args:
        place: where `recombine run` puts its records
        watch: go on until nobody is at work there
        study: where a study of your own is, as it was run: package.module:study or ./file.py:study
        json: print JSON objects, one a line
    """
    from ..lab.claims import Watch
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
                print(found, flush=True)
            else:
                print(found.line(), flush=True)
        before = found
        if not watch or not found.drivers:
            return
        sys.stdout.flush()
        time.sleep(2.0)


def report(
    folder: Positional[str],
    format: Literal["html", "md", "pdf", "png"] | None = None,
    out: Path | None = None,
    study: str | None = None,
) -> None:
    """(Re)makes the report from what is stored, running nothing.

    Args:
        folder: where `recombine run` put its records
        format: html the page, md a text with images, pdf one long sheet, png its top (default: as --out ends, or html)
        out: file to write (default: report.FORMAT in the folder)
        study: where a study of your own is, as it was run: package.module:study or ./file.py:study
    """
    from ..lab.own import with_own
    from ..lab.run import reopen
    from ..report import write
    from ..report.formats import report_format
    from ..studies import registry

    chosen = report_format(format, out)
    result = reopen(folder, with_own(registry, study))
    page = write(result, chosen, out)
    print_result(result, Console(highlight=False))
    Console(highlight=False, soft_wrap=True).print(f"\nreport: {page}", markup=False)


def gallery(folders: Positional[tuple[Path, ...]] = (Path("runs"),), out: Path | None = None) -> None:
    """Makes one page of all studies that were run: verdicts, scale, time, and links to the reports.

    Args:
        folders: stores, or folders that hold them; reports that are missing or old are made, too
        out: file to write (default: gallery.html in the first folder)
    """
    from ..report import write_gallery

    print(f"gallery: {write_gallery(folders or (Path('runs'),), out)}")


def compare(first: Positional[str], second: Positional[str], out: Path | None = None, json: bool = False) -> None:
    """Puts two stores of a study side by side and marks differences that are larger than their interval.

    Args:
        first: a store, or a folder of stores
        second: another one; in folders, stores of the same name are compared
        out: file for the page (default: compare.html beside the second; of a URL, here)
        json: print one JSON object on stdout and nothing else there
    """
    from ..report import compare_folders, write_comparison

    found, alone = compare_folders(first, second)
    beside = Path() if "://" in second else Path(second).parent
    page = write_comparison(found, out or beside / "compare.html", alone)
    if json:
        print_json({"studies": [one.to_json() for one in found], "only_in_one": alone, "page": str(page)})
        return
    console = Console(highlight=False)
    for one in found:
        print_comparison(one, console)
    if alone:
        console.print(f"only in one of the two: {', '.join(alone)}", markup=False)
    Console(highlight=False, soft_wrap=True).print(f"\npage: {page}", markup=False)
