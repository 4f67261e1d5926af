"""A folder that one command wrote: whole or absent, and never over files of somebody else.

One file of the folder, the manifest, is JSON that names the kind of the folder and the hash of every other file. By it
a folder is known as ours, and each file in it as unchanged. What is not both is never replaced, not even by force.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..labels import listed, quoted, visible
from .base import cannot_write
from .foreign_json import parsed_json, require_fields
from .local import temporary

_BLOCK = 1 << 20


def refuse_occupied(folder: str | os.PathLike, manifest: str, kind: str, force: bool) -> None:
    """Raises if a folder holds what must not be replaced.

    Args:
        folder: where something is to be written.
        manifest: the name of the file that says what was written there.
        kind: what that file calls the folder, such as "recombine-split".
        force: replace what the same kind of command wrote, if it is as it was written.
    """
    path = Path(folder)
    where = visible(path, 200)
    if "\0" in str(path):
        raise UserError(f"{quoted(path)} is not a path: it contains a NUL")
    try:
        if not path.exists():
            return
        if not path.is_dir():
            raise UserError(f"{where} is a file; name a folder that is not there yet")
        names = sorted(os.listdir(path))
    except OSError as problem:
        raise UserError(f"{where} cannot be read: {problem.strerror}") from None
    if not names:
        return
    written = _written(path, manifest, kind)
    others = [name for name in names if name != manifest and name not in written]
    if not written or others:
        held = listed([visible(name, 60) for name in others or names], 3)
        raise UserError(f"{where} holds other files ({held}); name a folder that is empty or not there yet")
    changed = [name for name in names if name != manifest and hash_of(path / name) != written[name]]
    if changed:
        raise UserError(
            f"{visible(changed[0], 60)} in {where} is not as it was written; move it away, or name another folder"
        )
    if not force:
        raise UserError(f"{where} was written by an earlier command; --force replaces it, or name another folder")


def _written(path: Path, manifest: str, kind: str) -> dict[str, str]:
    """Names and hashes of the files that a manifest vouches for; none if it is not there, or not of this kind."""
    try:
        found = require_fields(parsed_json((path / manifest).read_bytes()), {"kind": str, "files": dict})
    except (OSError, ValueError):
        return {}
    if found["kind"] != kind:
        return {}
    return {str(name): str(value) for name, value in found["files"].items()}


@contextlib.contextmanager
def written_folder(folder: str | os.PathLike, manifest: str, kind: str, force: bool = False) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `folder` when all went well; nothing is left otherwise."""
    refuse_occupied(folder, manifest, kind, force)
    target = Path(os.path.realpath(folder))
    aside = temporary(target.parent)
    try:
        aside.mkdir(parents=True)
        yield aside
        for path in aside.iterdir():
            _make_durable(path)
        refuse_occupied(target, manifest, kind, force)  # as it is now: writing may have taken a while
        _put_in_place(aside, target)
    except OSError as problem:
        raise cannot_write(visible(folder, 200), problem) from problem
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, target: Path) -> None:
    if not target.exists():
        os.rename(aside, target)
        return
    if not any(target.iterdir()):
        target.rmdir()
        os.rename(aside, target)
        return
    old = temporary(target.parent)
    os.rename(target, old)
    os.rename(aside, target)
    shutil.rmtree(old, ignore_errors=True)  # only what its manifest vouched for


def _make_durable(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def write_manifest(folder: Path, manifest: str, content: dict[str, Any]) -> None:
    """Writes the manifest of a folder, with the hashes of all other files in it as "files"."""
    files = {path.name: hash_of(path) for path in sorted(folder.iterdir()) if path.name != manifest}
    text = json.dumps(content | {"files": files}, allow_nan=False, indent=1)
    (folder / manifest).write_text(text + "\n", encoding="utf-8")
