"""The docs site as it is built: no warning, nothing that leads nowhere, no other host, a whole reference."""

from __future__ import annotations

import html.parser
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import Browser, browser  # noqa: F401

from recombine import encodings, nets, probes, studies, supports, tasks
from recombine.cli.entry import COMMANDS, command

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = ("supports", "tasks", "encodings", "nets", "probes", "audit", "planning", "report", "testing", "theory")
REGISTRIES = {
    "supports": supports.registry,
    "tasks": tasks.registry,
    "tasks ": encodings.encodings,
    "nets": nets.registry,
    "probes": probes.registry,
    "studies": studies.registry,
}


class Page(html.parser.HTMLParser):
    """Links, names and loaded files of a page, and its text."""

    LOADS = {
        "script": "src",
        "img": "src",
        "iframe": "src",
        "source": "src",
        "embed": "src",
        "object": "data",
        "link": "href",
        "use": "href",
        "form": "action",
    }

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loaded: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.loaded += [given[name] for name in (self.LOADS.get(tag, ""), "srcset", "poster") if given.get(name)]

    def handle_data(self, data):
        self.words.append(data)


def test_the_site(tmp_path, request):
    """One test, since the site takes long to build and tests are spread over processes."""
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed, reason=f"{needed} is not installed; it is part of the extra dev")
    site = (tmp_path / "site").resolve()
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(site)]
    result = subprocess.run([*build, "-d", str(tmp_path / "trees")], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]

    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    written = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md") if "_build" not in path.parts}
    assert written <= {path.relative_to(site).with_suffix("") for path in pages}
    assert list(nowhere(pages)) == []
    for path in site.rglob("*.css"):
        asked = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text())
        assert not asked, f"{path.name} loads {asked}"
    reference_is_whole({path.stem: page for path, page in pages.items() if path.parent.name == "api"})
    looks(site, request.getfixturevalue("browser"))  # skipped with its reason where there is none


def nowhere(pages: dict[Path, Page]) -> Iterator[str]:
    """What leads nowhere, or is loaded from elsewhere."""
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            if re.match(r"(https?:)?//", link):
                if link in page.loaded:
                    yield f"{path.name} loads {link}"
            elif not re.match(r"(mailto|data):", link):
                target, _, anchor = unquote(link).partition("#")
                to = (path.parent / target.split("?")[0]).resolve() if target else path
                if not to.is_file() or anchor and to in pages and anchor not in pages[to].names:
                    yield f"{path.name} leads to {link}"


def reference_is_whole(api: dict[str, Page]) -> None:
    """Every name that is public, every registered thing, every command."""
    sys.path.insert(0, str(DOCS))
    try:
        public_names = importlib.import_module("reference").public_names
    finally:
        sys.path.remove(str(DOCS))
    described = {name for page in api.values() for name in page.names}
    for title, page in api.items():
        entries = sum(name.startswith("recombine.") for name in page.names)
        assert entries >= 5 or title in ("index", "commands"), f"{title} has {entries} entries"
    elsewhere = {name for package in PACKAGES for name in public_names(f"recombine.{package}")}
    assert {"train", "Recipe", "Subsets", "Product", "plan", "load"} <= set(public_names("recombine"))
    for name in public_names("recombine"):
        assert f"recombine.{name}" in described or name in elsewhere, f"the reference lacks rc.{name}"
    wanted = [f"{package}.{name}" for package in PACKAGES for name in public_names(f"recombine.{package}")]
    wanted += ["audit.run", "adapters.torch.capture", "adapters.transformers.capture", "Study", "lab.axes.Arms"]
    assert len(wanted) > 120
    assert [name for name in wanted if f"recombine.{name}" not in described] == []
    for page, registry in REGISTRIES.items():
        assert set(registry) <= set(api[page.strip()].words), f"names of {page}"
    commands = "".join(api["commands"].words)
    for name in COMMANDS:
        assert f"recombine {name}" in commands
        for parameter in inspect.signature(command(name)).parameters.values():
            word = parameter.name.upper() if "Positional" in str(parameter.annotation) else f"--{parameter.name}"
            assert word.replace("_", "-") in commands.replace("_", "-"), f"recombine {name} {word}"


def looks(site: Path, browser: Browser) -> None:  # noqa: F811
    """Opened from disk: nothing is asked of a host, nothing is complained of, nothing is cut on a phone."""
    browser.requests(), browser.complaints()  # those before
    browser.resize(390)
    for name in ("index", "studies/index", "studies/supports", "pitfalls", "api/audit", "cluster"):
        browser.open(site / f"{name}.html")
        assert browser.run("return document.documentElement.scrollWidth") <= 390, f"{name} is wider than a phone"
        cut = "(e) => e.scrollWidth > e.clientWidth + 1"
        tables = browser.run(f"return [...document.querySelectorAll('.table-wrapper')].filter({cut}).length")
        assert tables == 0, f"{name} has a table that is cut at 390 pixels"
        assert browser.run("return [...document.images].every((i) => i.complete && i.naturalWidth > 0)"), name
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    assert browser.complaints() == []
