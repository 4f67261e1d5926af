"""Labels are data of strangers: shown so that nothing in them acts, hides or turns the line around."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: categories of characters that are not seen: controls (ANSI codes begin with one), formats (bidi marks), surrogates
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(label: Any, most: int | None = None) -> str:
    """A label with every character that cannot be seen spelled out, and cut to `most` characters."""
    text = "".join(_spelled(c) if unicodedata.category(c) in _UNSEEN else c for c in str(label))
    if most is not None and len(text) > most:
        text = text[: max(most - 1, 0)] + "…"
    return text


def quoted(label: Any, most: int = 60) -> str:
    """A label in a sentence."""
    return f"'{visible(label, most)}'"


def inert(value: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula: text that looks like one gets an apostrophe."""
    return f"'{value}" if value.startswith(_FORMULA) else value


def told_apart(names: Iterable[str]) -> list[str]:
    """Names of columns of which no two are the same, nor differ in case only: a later one gets underscores."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        found.append(name)
    return found


def listed(items: list[str], most: int = 5, joint: str = "and") -> str:
    """Items as a sentence lists them, the rest as a number."""
    if len(items) > most:
        return f"{', '.join(items[:most])} {joint} {len(items) - most:,} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {joint} {items[-1]}" if items else ""


def thousands(value: int) -> str:
    """A count with separators; a very large one as a power of ten."""
    return f"{value:,}" if value < 10**15 else f"about 10^{len(str(value)) - 1}"


def _spelled(character: str) -> str:
    code = ord(character)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return known.get(character) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
