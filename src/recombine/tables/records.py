"""Records of a text file: where each row of a CSV or JSON-lines file begins and ends, byte by byte.

A row is copied as the bytes that it came as: quotes, spaces, the spelling of numbers and line ends stay what they were.
A line end inside quotes ends no record. In a CSV a quote opens a cell only where the cell begins; an odd one elsewhere
(`5" pipe`) is a letter. Files in which quotes stand only where CSV wants them are cut by arithmetic, megabytes at a
time; the others by a regular expression.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import UserError
from ..labels import visible

_CHUNK = 1 << 24
_QUOTE, _NEWLINE, _RETURN, _SPACE = b'"\n\r '


def records_of(path: Path, separator: str | None) -> Iterator[tuple[bytes, np.ndarray]]:
    """Parts of a file and where the records in each of them end, in order; a part begins where the last one ended.

    Args:
        path: the file; .gz is unpacked.
        separator: of the cells of a CSV; None for JSON lines, in which quotes never hide a line end.
    """
    try:
        if separator is None:
            yield from _lines(path, _NEWLINE)
            return
        end = _line_end(path)
        if _is_regular(path, separator, end):
            yield from _lines(path, end, quotes=True)
        else:
            yield from _matched(path, separator, end)
    except (OSError, EOFError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise UserError(f"{visible(path.name)} cannot be read: {visible(why, 120)}") from None


def blank(part: bytes, ends: np.ndarray, empty: bytes = b"\r\n") -> np.ndarray:
    """Which records hold nothing but these bytes: no rows, but in a CSV of one column."""
    letters = np.frombuffer(part, np.uint8)
    seen = np.concatenate([[0], np.cumsum(~np.isin(letters, np.frombuffer(empty, np.uint8)))])
    starts = np.concatenate([[0], ends[:-1]])
    return seen[ends] == seen[starts]


def _open(path: Path):
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else open(path, "rb")


def _line_end(path: Path) -> int:
    """The last byte of a line end: a line feed, or a carriage return in files that have no other."""
    with _open(path) as file:
        while block := file.read(_CHUNK):
            if b"\n" in block:
                return _NEWLINE
    return _RETURN


def _lines(path: Path, end: int, quotes: bool = False) -> Iterator[tuple[bytes, np.ndarray]]:
    rest = b""
    with _open(path) as file:
        while True:
            block = file.read(_CHUNK)
            part = rest + block
            if not part:
                return
            letters = np.frombuffer(part, np.uint8)
            ending = letters == end
            if quotes:  # after an odd number of quotes one is open; eight bits are enough to know
                ending &= np.cumsum(letters == _QUOTE, dtype=np.uint8) & 1 == 0
            ends = np.flatnonzero(ending) + 1
            if not block:  # the last line may lack its end
                yield part, ends if len(ends) and ends[-1] == len(part) else np.append(ends, len(part))
                return
            if len(ends):
                yield part[: ends[-1]], ends
                rest = part[ends[-1] :]
            else:
                rest = part


def _is_regular(path: Path, separator: str, end: int) -> bool:
    """Whether every quote opens a cell at its beginning, closes one at its end, or is doubled inside one."""
    outside = np.array([ord(separator), _NEWLINE, _RETURN, _SPACE, 9], np.uint8)
    inside, before = 0, end
    with _open(path) as file:
        block = file.read(_CHUNK)
        while block:
            after = file.read(_CHUNK)
            letters = np.frombuffer(bytes([before]) + block + (after[:1] or bytes([end])), np.uint8)
            at = np.flatnonzero(letters[1:-1] == _QUOTE) + 1
            opens = (inside + np.arange(len(at))) % 2 == 0
            neighbors = np.where(opens, letters[at - 1], letters[at + 1])
            doubled = neighbors == _QUOTE  # one closes and the next opens: a quote inside a cell
            first = (at == 1) & (letters[at - 1] == end)
            if not (np.isin(neighbors, outside) | doubled | first | _after_mark(letters, at)).all():
                return False
            inside, before, block = (inside + len(at)) % 2, block[-1], after
    return inside == 0


def _after_mark(letters: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A byte order mark may stand before the first quote of a file."""
    return (at == 4) & (bytes(letters[1:4]) == b"\xef\xbb\xbf")


def _matched(path: Path, separator: str, end: int) -> Iterator[tuple[bytes, np.ndarray]]:
    """Records by what a cell may be; the file is read as a whole."""
    with _open(path) as file:
        text = file.read()
    cut, line = re.escape(separator).encode(), re.escape(bytes([end]))
    cell = rb'(?:[ \t]*"(?:[^"]|"")*+"[^%s%s]*+|[^%s%s]*+)' % (cut, line, cut, line)
    record = re.compile(rb"%s(?:%s%s)*+(?:%s|\Z)" % (cell, cut, cell, line))
    ends, at = [], 0
    while at < len(text):
        found = record.match(text, at)
        if found is None or found.end() == at:
            raise UserError(f"{visible(path.name)} has a quote that is opened and not closed; write it as CSV asks")
        at = found.end()
        ends.append(at)
    yield text, np.array(ends, dtype=np.int64)
