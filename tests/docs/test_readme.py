"""What the README shows works as written."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
sys.path.insert(0, str(ROOT / "docs"))
import what_there_is  # noqa: E402


def test_it_is_short():
    assert len(README.splitlines()) <= 130


def test_the_table_of_what_there_is_is_made_from_the_registries():
    assert what_there_is.filled(README) == README


def test_commands_exist():
    from recombine.cli import COMMANDS

    commands = set(re.findall(r"(?:^    |`)recombine ([\w-]+)", README, re.MULTILINE))
    assert commands and commands <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^    |`)make ([a-z-]+)", README, re.MULTILINE)) <= targets


def test_links_lead_somewhere():
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if not target.startswith("https://"):  # what lies on other machines is not asked for
                assert (document.parent / target).exists(), f"{document.name} links to {target}"
