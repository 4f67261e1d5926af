"""`recombine run --open`: the report of a study, rewritten every few seconds while it runs.

The page is an ordinary file beside the records. It is replaced whole, and a script in it loads it again (`follow.js`);
the last one, when the run is over, does not ask to be loaded again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from ..files import marked, write_whole

if TYPE_CHECKING:
    from ..lab.study import Study

EVERY = 4.0  # seconds between two pages
SHARE = 10.0  # a page that takes long is made seldom: at most a tenth of the time goes into it
UNCHANGED = 60.0  # seconds after which a page is written again although nothing is new: someone is still there
STALE = 300.0  # seconds without a new page after which a reader is told that nobody is there

#: what there is to see where no page can be made yet
WAITING = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Recombine</title><link rel="icon" href="data:,">'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">'
    '<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="4">'
    "<p>The study is being prepared; its page comes by itself.</p></html>"
)


class FollowingPage:
    """The page of the store at `place`, from `with` to the end of the block.

    Args:
        place: a store of this machine.
        studies: where its study is looked up.
        every: seconds between two pages.
    """

    def __init__(self, place: str, studies: Mapping[str, Study], every: float = EVERY):
        self.place, self.studies, self.every = place, studies, every
        self.path = Path(place).absolute() / "report.html"
        self._over = threading.Event()
        self._pause, self._line, self._written = every, "", -float("inf")
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> FollowingPage:
        try:
            self.write()
        except Exception:  # what is there so far cannot be drawn, perhaps later
            write_whole(self.path, marked(WAITING.encode(), ".html"), durable=False)
        self._pause = self.every  # the first one took longer: what draws was loaded
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Ends; the page of a run that was interrupted is written once more, so that nobody waits for the next one."""
        self._over.set()
        self._thread.join()
        if kind is not None:
            with contextlib.suppress(Exception):
                self._put(running=False)

    def write(self) -> bool:
        """Writes the page if there is something new to tell; says whether it did."""
        from ..lab.status import status_of

        line, now = status_of(self.place, self.studies).line(), time.monotonic()
        if line == self._line and now - self._written < UNCHANGED:
            return False
        self._put(running=True, words=line)
        self._line, self._written = line, time.monotonic()
        self._pause = max(self.every, SHARE * (self._written - now))
        return True

    def _put(self, running: bool, words: str = "") -> None:
        from ..lab.reopening import reopen
        from ..report.html import Running, render

        stale = max(STALE, 3 * self._pause)
        follows = Running(words, self.every, time.time(), stale) if running else None
        page = marked(render(reopen(self.place, self.studies), follows).encode(), ".html")
        write_whole(self.path, page, durable=not running)

    def _follow(self) -> None:
        while not self._over.wait(self._pause):
            # a store that cannot be read just now, a disk that is full, a chart that needs more cells than there are:
            # the run itself says what is wrong
            with contextlib.suppress(Exception):
                self.write()


def require_local(place: str) -> None:
    """Refuses a store that is not of this machine."""
    if "://" in place:
        raise UserError(
            f"--open needs a local store, and {place} is none: leave --open out; "
            f"`recombine report {place} --out page.html` makes the page whenever you like"
        )


def open_browser(address: str) -> bool:
    """Opens the address where there is a browser with a window; says whether it did."""
    windows = sys.platform in ("darwin", "win32") and "SSH_CONNECTION" not in os.environ
    if not windows and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
        if type(browser) is webbrowser.GenericBrowser:  # one for the terminal, which the study writes to
            return False
        return browser.open(address)
    except (webbrowser.Error, OSError):
        return False
