"""A page of a report as a parser reads it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, text, and the content of scripts."""

    def __init__(self, source: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._raw = ""
        self.feed(source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif not self._raw:
            self.words.append(data)

    @property
    def islands(self) -> dict[str | None, Any]:
        return {a.get("id"): json.loads(text) for a, text in self.scripts if a.get("type") == "application/json"}


def squeezed(text: str) -> str:
    return " ".join(text.split())
