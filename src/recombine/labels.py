"""Make user-supplied labels safe to print: control and bidi characters, HTML, spreadsheet formulas."""

from __future__ import annotations

import math
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


def visible_text(text: str) -> str:
    """A text of several lines with every other character that cannot be seen spelled out: the door of pages."""
    if text.isprintable():
        return text
    return "".join(_spelled(c) if c not in "\n\t" and unicodedata.category(c) in _UNSEEN else c for c in text)


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


def folder_name(path: Any) -> str:
    """What of the name of a file can safely be that of a folder."""
    stem = str(path).replace("\\", "/").rstrip("/").rpartition("/")[2].split(".")[0]
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-")
    return name[:80] or "data"


def thousands(value: int) -> str:
    """A count with separators; a very large one as a power of ten."""
    return f"{value:,}" if value < 10**15 else f"about 10^{len(str(value)) - 1}"


def duration(seconds: Any) -> str:
    """A time in the largest unit that fits; a dash for what is no time."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not math.isfinite(seconds):
        return "–"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def _spelled(character: str) -> str:
    code = ord(character)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return known.get(character) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def spelled(value: Any) -> str:
    """A setting as it is written on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(spelled(item) for item in value)
    return str(value)


def short_place(place: str) -> str:
    """The last two parts of where a store is: enough to tell stores apart, and no more of the machine than that."""
    return "/".join(place.rstrip("/").split("/")[-2:])
