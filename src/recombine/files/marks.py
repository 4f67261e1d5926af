"""A mark by which a file is known again as written by us and unchanged, so that nothing else is ever replaced.

The mark is a hash of the rest of the file, at a place where its format has room for a remark: a comment at the end of
HTML, SVG, Markdown and PDF, a text chunk of PNG, the last key of JSON, a note of Parquet. A CSV has no such place: it
counts as somebody else's, unless a file beside it vouches for it.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import struct
import zlib
from pathlib import Path

from ..errors import UserError
from ..labels import visible

NOTE = "recombine"  # the note of a Parquet file
_COMMENTS = {".html": b"<!-- recombine %s -->\n", ".pdf": b"%%recombine %s\n"}
_COMMENTS |= {".svg": _COMMENTS[".html"], ".md": _COMMENTS[".html"]}
_COMMENT = re.compile(rb"(?:<!-- recombine ([0-9a-f]{64}) -->|%recombine ([0-9a-f]{64}))\n\Z")
_KEY = re.compile(rb',\n "sum": "([0-9a-f]{64})"\n\}\n\Z')
_PNG, _END = b"\x89PNG\r\n\x1a\n", b"\x00\x00\x00\x00IEND\xaeB`\x82"
_CHUNK = len(b"Software\0recombine ") + 64
#: what pages of the first weeks end with, which bear no mark
_UNMARKED = b"<footer><p>Written by Recombine "
_MOST = 1 << 30  # bytes of a file that is looked at


def marked(data: bytes, ending: str) -> bytes:
    """The content of a file with its mark, where files that end so can bear one."""
    ending = ending.lower()
    if ending in _COMMENTS:
        data = data if data.endswith(b"\n") else data + b"\n"
        return data + _COMMENTS[ending] % _sum(data)
    if ending == ".json" and data.endswith(b"\n}\n"):
        return data[: -len(b"\n}\n")] + b',\n "sum": "%s"\n}\n' % _sum(data)
    if ending == ".png" and data.endswith(_END):
        return data[: -len(_END)] + _chunk(_sum(data)) + _END
    return data


def is_marked(data: bytes) -> bool:
    """Whether a file bears our mark and is as it was written."""
    if found := _COMMENT.search(data, max(0, len(data) - 200)):
        return (found[1] or found[2]) == _sum(data[: found.start()])
    if found := _KEY.search(data, max(0, len(data) - 200)):
        return found[1] == _sum(data[: found.start()] + b"\n}\n")
    if data.startswith(_PNG):
        start = len(data) - len(_END) - _CHUNK - 12
        rest = data[:start] + _END
        return start > 0 and data.endswith(_END) and data[start : -len(_END)] == _chunk(_sum(rest))
    return data.startswith(b"<!DOCTYPE html>") and _UNMARKED in data


def refuse_foreign(path: str | os.PathLike, force: bool = False, ours: bool = False) -> None:
    """Raises if there is a file at `path` that we did not write, or that was changed since.

    Args:
        path: where something is to be written.
        force: replace it, whatever it is.
        ours: something else vouches for what is there.
    """
    path = Path(path)
    where = visible(path, 200)
    if "\0" in str(path):
        raise UserError(f"'{where}' is not a path: it contains a NUL")
    try:
        if path.is_dir():
            raise UserError(f"{where} is a folder; name a file")
        if force or ours or not os.path.lexists(path):
            return
        known = path.is_file() and _is_ours(path)
    except OSError as problem:
        raise UserError(f"{where} cannot be read: {problem.strerror}") from None
    if not known:
        raise replaced_by_force(where)


class ForeignFile(UserError):
    """A file is there that we did not write, or that was changed since."""


def replaced_by_force(where: str) -> ForeignFile:
    """The error for a file that is there and is not known as ours."""
    return ForeignFile(
        f"{where} is there already, and it is not known as written by recombine and unchanged since; "
        "--force (in Python force=True) replaces it, or name another file"
    )


def _is_ours(path: Path) -> bool:
    if path.stat().st_size > _MOST:
        return False
    with open(path, "rb") as file:
        if file.read(4) == b"PAR1":
            return _noted(path)
        file.seek(0)
        return is_marked(file.read())


def _noted(path: Path) -> bool:
    """Whether a Parquet file has our note."""
    import duckdb

    try:
        with duckdb.connect(":memory:") as connection:
            asked = {"file": glob.escape(str(path))}  # brackets in a name are meant as they are
            found = connection.execute("SELECT key FROM parquet_kv_metadata($file)", asked).fetchall()
    except duckdb.Error:
        return False
    return any(bytes(key) == NOTE.encode() for (key,) in found)


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _chunk(total: bytes) -> bytes:
    body = b"tEXtSoftware\0recombine " + total
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
