"""`run --open`: the page is an ordinary file, rewritten while cells run, and rests when the run is over."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import pytest
from browser import Browser, browser, why_not  # noqa: F401
from fruit_study import Fruit, fruit_record, fruit_store

from recombine.cli import following_page as module
from recombine.cli import main
from recombine.cli.following_page import FollowingPage, open_browser

STUDIES = {"fruit": Fruit()}
RUNNING, FOLLOWS = "This study is running:", "data-follow="


@pytest.fixture
def store(tmp_path: Path):
    made = fruit_store(tmp_path / "fruit-laptop")
    made.put(fruit_record(0, "apple"))
    return made


def until(true, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not get there"
        time.sleep(0.02)


def test_the_page_is_there_at_once_and_rewritten_when_there_is_more(store):
    with FollowingPage(store.place, STUDIES, every=0.05) as page:
        first = page.path.read_text()
        assert RUNNING in first and "1 of 6 done" in first and 'data-follow="0.05"' in first
        inode = page.path.stat().st_ino
        store.put(fruit_record(0, "pear"))
        until(lambda: "2 of 6 done" in page.path.read_text())
        assert page.path.stat().st_ino != inode  # replaced, never changed in place
    assert {path.name for path in store.path.iterdir()} == {"store.json", "records", "report.html"}


def test_nothing_is_written_where_nothing_is_new_until_a_while_has_passed(store, monkeypatch):
    page = FollowingPage(store.place, STUDIES)
    assert page.write() and not page.write()
    monkeypatch.setattr(module, "UNCHANGED", 0.0)
    assert page.write()


def test_a_page_that_takes_long_is_made_seldom(store, monkeypatch):
    page = FollowingPage(store.place, STUDIES, every=0.01)
    put = page._put
    monkeypatch.setattr(page, "_put", lambda **how: (time.sleep(0.2), put(**how)))
    page.write()
    assert page._pause >= 2.0


def test_an_interrupted_run_leaves_a_page_that_rests(store):
    with pytest.raises(KeyboardInterrupt), FollowingPage(store.place, STUDIES) as page:
        raise KeyboardInterrupt
    text = page.path.read_text()
    assert RUNNING not in text and FOLLOWS not in text and "This study is incomplete: 1 of 6 cells" in text


def test_what_cannot_be_drawn_yet_does_not_hinder_the_run(store):
    def broken(table):
        raise KeyError("needs all cells")

    with FollowingPage(store.place, {"fruit": Fruit(charts=[broken])}) as page:
        text = page.path.read_text()
        assert "its page comes by itself" in text and 'http-equiv="refresh"' in text


def test_a_store_elsewhere_is_refused_in_one_sentence(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "supports", "--out", "s3://bucket/prefix", "--open"])
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and "--open needs a local store" in line and "s3://bucket/prefix" in line


def test_no_browser_is_opened_where_there_is_none(monkeypatch):
    opened = []

    class Window(webbrowser.BackgroundBrowser):
        def open(self, url, new=0, autoraise=True):
            opened.append(url)
            return True

    monkeypatch.setattr(webbrowser, "get", lambda: Window("window"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not open_browser("file:///page.html") and not opened
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_browser("file:///page.html") and opened == ["file:///page.html"]
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))  # one for the terminal
    assert not open_browser("file:///page.html")

    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert not open_browser("file:///page.html")


def test_run_open_shows_the_study_that_runs(tmp_path):
    """A real run in a process of its own: the page is there while cells run, and rests at the end."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    small = ("support=random", "steps=30", "modules=6", "at_most=2", "width=16")
    words = "run supports --scale smoke --seeds 1 --open --json --engine inprocess --set"
    command = [sys.executable, "-m", "recombine", *words.split(), *small]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("page: ")
        page = Path(said.removeprefix("page: ").rstrip("\n"))
        assert page.is_relative_to(tmp_path / "runs") and FOLLOWS in page.read_text()
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0 and '"study": "supports"' in out
        text = page.read_text()
        assert FOLLOWS not in text and "1 of 1 cells" in text
    finally:
        process.kill()
        process.wait()


# -- in a browser -----------------------------------------------------------------------------------------------------
needs_browser = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a browser")
TOP = "return document.querySelector('#made').getBoundingClientRect().top"
GO_DOWN = "document.querySelector('#made').scrollIntoView({behavior: 'instant'}); scrollBy(0, 40);"
LOADED = "return performance.timeOrigin"


@needs_browser
@pytest.mark.filterwarnings("default")  # of the driver's, which are not ours
def test_the_page_is_loaded_again_at_the_place_one_reads_at_and_rests_at_the_end(browser: Browser, store):  # noqa: F811
    browser.resize(900, 500)
    with FollowingPage(store.place, STUDIES, every=1.0) as page:
        browser.requests(), browser.complaints()
        browser.open(page.path, charts=1)
        first = browser.run(LOADED)
        browser.run("document.querySelector('details.cells').open = true")
        browser.click("[data-theme-switch]")
        browser.click("[data-theme-switch]")
        # in one step: the page may be loaded again between two
        at, scrolled = browser.run(f"{GO_DOWN} {TOP.replace('return', 'return [')}, scrollY]")
        assert scrolled > 300
        store.put(fruit_record(0, "pear"))  # two rows more above the place, and one in the open table
        browser.wait(lambda: browser.run(LOADED) != first)
        browser.wait(lambda: "2 of 6 done" in browser.run("return document.body.textContent"))
        # each of the two claims has a reading now, and a chart of its own
        browser.wait(lambda: len(browser.all(".chart svg")) == 3)
        browser.wait(lambda: abs(browser.run(TOP) - at) < 3)
        assert browser.run("return document.querySelector('details.cells').open")
        assert browser.run("return document.documentElement.dataset.theme") == "dark"
        assert set(browser.requests()) == {page.path.as_uri()} and browser.complaints() == []
        page._over.set()
    page._put(running=False)
    last = browser.wait(lambda: not browser.run("return document.body.dataset.follow") and browser.run(LOADED))
    browser.wait(lambda: abs(browser.run(TOP) - at) < 3)  # the notice above is another one
    time.sleep(2.5)
    assert browser.run(LOADED) == last, "the finished page was loaded again"


@needs_browser
@pytest.mark.filterwarnings("default")
def test_a_page_whose_run_was_killed_says_so_and_rests(browser: Browser, store, monkeypatch):  # noqa: F811
    page = FollowingPage(store.place, STUDIES, every=0.3)
    monkeypatch.setattr(module.time, "time", lambda: 1e9)
    page.write()
    browser.open(page.path, charts=1)
    first = browser.run(LOADED)
    assert "the run has stopped, or was killed" in browser.texts("[data-running]")[0]
    time.sleep(1.2)
    assert browser.run(LOADED) == first
