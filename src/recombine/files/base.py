"""Files of one place, a folder or a URL, each whole or absent."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..errors import UserError


@runtime_checkable
class Files(Protocol):
    """What a store needs of a place. Names are relative, with / between folders; problems are OSErrors."""

    place: str  # as a user would write it

    def read(self, name: str) -> bytes:
        """Raises FileNotFoundError if it is not there."""
        ...

    def write(self, name: str, data: bytes, durable: bool = True) -> None:
        """Puts `data` there, in place of what was, so that nobody ever reads a part of it."""
        ...

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """`write` for many at once, each whole or absent; returns when all are durable."""
        ...

    def create(self, name: str, data: bytes) -> bool:
        """Puts `data` there if nothing is; False if something was. Of two at once only one succeeds. Not durable."""
        ...

    def names(self, folder: str = "") -> list[str]:
        """Names in a folder, without what is being written; none if it is not there."""
        ...

    def exists(self, name: str) -> bool: ...

    def move(self, name: str, to: str) -> None: ...

    def remove(self, name: str) -> None:
        """Fine if it is gone."""
        ...

    def sweep(self) -> None:
        """Removes what writers that died left half-written: ours, and no longer of use to anyone."""
        ...


def open_files(place: str | os.PathLike | Files) -> Files:
    """The files of a folder, or of a URL such as s3://bucket/prefix."""
    if isinstance(place, Files):
        return place
    text = os.fspath(place)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) and not text.startswith("file://"):
        from .remote import RemoteFiles

        return RemoteFiles(text)
    if re.match(r"(s3a?|gs|gcs|abfs|az|https?|memory):/[^/]", text):  # what Path makes of a URL
        raise UserError(f"{text} is a URL that lost a slash on its way; give it as text and not as a Path")
    from .local import LocalFiles

    return LocalFiles(Path(text.removeprefix("file://")))


def beside(files: Files, name: str) -> Files:
    """The place called `name` in the folder that `files` is in."""
    if "://" in files.place:
        return open_files(f"{files.place.rstrip('/').rpartition('/')[0]}/{name}")
    return open_files(Path(files.place).parent / name)


def why_not(problem: OSError) -> str:
    """What is in the way, in a few words."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return problem.strerror or str(problem)


def cannot_write(what: object, problem: OSError) -> UserError:
    """The error for something that a user asked to have written."""
    return UserError(f"cannot write {what}: {why_not(problem)}; what was stored before is whole")


def user_cache() -> Path | None:
    """Where things are kept that can be made again: $RECOMBINE_CACHE ("off" for nowhere), else the user's folder."""
    chosen = os.environ.get("RECOMBINE_CACHE")
    if chosen == "off":
        return None
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "recombine"
