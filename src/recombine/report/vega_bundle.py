"""Vega, Vega-Lite and Vega-Embed as one script, made once and kept in the user's cache.

To bundle them takes seconds and 100 MB (a JavaScript engine). The file begins with the hash of what follows,
so that one that was cut short or changed is made again. The script of a page is named by its own hash in any case.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from importlib.metadata import version as installed
from pathlib import Path

from ..charts.saving import version
from ..files import user_cache, write_whole


@functools.cache
def vega_bundle() -> str:
    """The script that draws charts on a page."""
    path = _place()
    if path is not None and (text := _kept(path)) is not None:
        return text
    import vl_convert

    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version())
    if path is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written is none
            write_whole(path, f"{_sum(text)}\n{text}".encode(), durable=False)
    return text


def _place() -> Path | None:
    base = user_cache()
    return None if base is None else base / "vega" / f"{installed('vl-convert-python')}-{version()}.js"


def _kept(path: Path) -> str | None:
    """What a file holds, if it is whole."""
    try:
        named, _, text = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if named == _sum(text) else None


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
