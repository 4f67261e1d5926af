"""Files that are whole or absent: written aside, fsynced, renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from pathlib import Path

from .errors import UserError

TEMPORARY = ".recombine-tmp-"  # our own marker, by which what a crash left behind can be told from other files


def write_whole(path: Path, data: bytes) -> None:
    """Puts `data` at `path` so that no reader, and no crash, ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"{TEMPORARY}{uuid.uuid4().hex}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    with contextlib.suppress(OSError):  # the rename itself is made durable where directories can be synced
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_or_refuse(path: Path, data: bytes) -> None:
    """`write_whole` for what a user asked to have written: one sentence on what is in the way."""
    try:
        write_whole(path, data)
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full" if full else (problem.strerror or str(problem))
        raise UserError(f"cannot write {path}: {why}; what was stored before is whole") from problem
