"""Data files as their authors released them: rows of text, known by a digest, so that a damaged one is not believed."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import UserError
from ..labels import quoted

MOST_BYTES = 1 << 28  # unpacked; the released files have less than a tenth of it


def released_rows(path: str | os.PathLike, known: Mapping[str, str], what: str) -> list[str]:
    """The rows of a released file, plain or packed by gzip; refused unless it is one of those that are known.

    Args:
        path: of the file.
        known: its name -> the digest of its rows, for every file that was released.
        what: of which data set, for the refusal.
    """
    rows = _read(Path(path)).splitlines()
    digest = digest_of(rows)
    if digest not in known.values():
        raise UserError(
            f"{quoted(path, 300)} is no file of {what} as released: the SHA-256 of its {len(rows):,} rows is "
            f"{digest[:12]}..., which is none of the {len(known)} known; it is damaged or was altered: fetch it again"
        )
    return rows


def digest_of(rows: Iterable[str]) -> str:
    """SHA-256 of the rows in order of the alphabet: the same however a copy of the file orders them."""
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            found = file.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise UserError(f"{quoted(path, 300)} has more than {MOST_BYTES >> 20} MB, more than any released file")
        return found.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else "it is damaged"
        raise UserError(f"{quoted(path, 300)} cannot be read ({why}); give the path of a released file") from None
