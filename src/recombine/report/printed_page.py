"""A page as a PDF: its own print style, printed by Chromium where it is installed. Nothing is asked of the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..errors import UserError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
CHOSEN = "RECOMBINE_CHROMIUM"  # where a browser is, if it is none of these
SECONDS = 120.0
DRAWN = 20_000  # milliseconds of the page's own clock that its charts have to be drawn in
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--no-pdf-header-footer",
    f"--virtual-time-budget={DRAWN}",
)
INSTEAD = "--format html opens in any browser, which prints it too, and --chart NAME writes one chart without a browser"


def browser() -> str:
    """Where Chromium is; one sentence where it is not."""
    if chosen := os.environ.get(CHOSEN):
        if found := shutil.which(chosen):
            return found
        raise UserError(f"${CHOSEN} is {chosen!r}, and there is no such program; {INSTEAD}")
    for name in (*NAMES, *APPLICATIONS):
        if found := shutil.which(name):
            return found
    raise UserError(f"a PDF of the page is printed by Chromium, which is not installed (Debian: chromium); {INSTEAD}")


def printed(page: str, seconds: float = SECONDS) -> bytes:
    """A page as PDF.

    Args:
        page: one HTML file, as text.
        seconds: after which the browser is given up.
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="recombine-print-", ignore_cleanup_errors=True) as folder:
        source, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page, encoding="utf-8")
        flags = [*FLAGS, *(["--no-sandbox"] if _is_root() else []), f"--user-data-dir={folder}/profile"]
        command = [program, *flags, f"--print-to-pdf={made}", source.as_uri()]
        try:
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise UserError(f"{program} did not print the page within {seconds:g} seconds; {INSTEAD}") from None
        except OSError as problem:
            raise UserError(f"{program} does not start ({problem}); {INSTEAD}") from None
        found = made.read_bytes() if made.exists() else b""
    if not found.startswith(b"%PDF"):
        last = run.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UserError(f"{program} did not print the page ({(last or ['no reason given'])[0][:200]}); {INSTEAD}")
    return found


def _is_root() -> bool:
    """Whether a browser would refuse its sandbox: it does so for root only."""
    return getattr(os, "geteuid", lambda: 1)() == 0
