"""Labels are data of strangers: shown so that nothing in them acts, hides or turns the line around."""

from __future__ import annotations

import unicodedata
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: categories of characters that are not seen: controls (ANSI codes begin with one), formats (bidi marks), surrogates
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(label: Any, most: int = 60) -> str:
    """A label with every character that cannot be seen spelled out, and cut to `most` characters."""
    text = "".join(
        c.encode("unicode_escape", "backslashreplace").decode() if unicodedata.category(c) in _UNSEEN else c
        for c in str(label)
    )
    return text if len(text) <= most else text[: most - 1] + "…"


def inert(label: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula: text that looks like one gets an apostrophe."""
    return f"'{label}" if label.startswith(_FORMULA) else label
