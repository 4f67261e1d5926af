"""Checkpoints: the state of a member in one safetensors file. Loading one runs no code."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import warnings
from pathlib import Path
from typing import Any, TypeVar

import jax

from ..files import write_whole
from ..files.arrays import pack, set_aside, unpack
from ..files.foreign_json import parsed_json
from ..nets.parts import from_plain, to_plain

T = TypeVar("T")


def fingerprint(*parts: Any) -> str:
    """Hash of anything made of arrays and JSON."""
    digest = hashlib.sha256()
    for part in parts:
        leaves, structure = jax.tree.flatten(part)
        # with what is static in it, but not where in memory a function of it lies today
        digest.update(re.sub(r" at 0x[0-9a-f]+", "", str(structure)).encode())
        for leaf in leaves:
            digest.update(to_plain(leaf).tobytes() if hasattr(leaf, "dtype") else json.dumps(leaf).encode())
    return digest.hexdigest()


class Checkpoint:
    """One file. What does not belong to the run (`mark`) or is damaged is not loaded, and said."""

    def __init__(self, path: Path, mark: str):
        self.path, self.mark = path, mark

    def save(self, state: Any, history: list, seconds: float) -> None:
        arrays = {jax.tree_util.keystr(path): to_plain(leaf) for path, leaf in jax.tree.leaves_with_path(state)}
        notes = {"mark": self.mark, "history": json.dumps(history), "seconds": str(seconds)}
        try:
            write_whole(self.path, pack(arrays, notes))
        except OSError as problem:  # the run is worth more than its checkpoint
            warnings.warn(f"checkpoint {self.path} was not written: {problem.strerror}", stacklevel=2)

    def load(self, like: T) -> tuple[T, list, float] | None:
        """The saved state in the shape of `like`, its history and the time it took; None if there is none."""
        if not self.path.exists():
            return None
        try:
            arrays, notes = unpack(self.path)
            if notes.get("mark") != self.mark:
                raise ValueError("it belongs to another run")
            leaves, structure = jax.tree.flatten(like)
            names = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(like)]
            if sorted(names) != sorted(arrays):  # e.g. of a version whose optimizers had other states
                raise ValueError("its arrays have other names")
            restored = [from_plain(leaf, arrays[name]) for name, leaf in zip(names, leaves, strict=True)]
            if [leaf.shape for leaf in leaves] != [leaf.shape for leaf in restored]:
                raise ValueError("its arrays have other shapes")
            return jax.tree.unflatten(structure, restored), _history(notes["history"]), float(notes["seconds"])
        except (ValueError, KeyError, TypeError) as problem:
            set_aside(self.path, "checkpoint", problem)
            return None

    def remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        with contextlib.suppress(OSError):  # only if nothing else is in it
            self.path.parent.rmdir()


def _history(text: str) -> list:
    found = parsed_json(text, nan=True)
    if not isinstance(found, list) or not all(isinstance(row, (list, dict)) for row in found):
        raise ValueError("its history is no list of rows")
    return found


def clear(folder: Path) -> None:
    """Removes the checkpoints of all stages, and the folder if nothing else is in it."""
    for path in folder.glob("stage-*/seed-*.safetensors"):
        Checkpoint(path, "").remove()
    with contextlib.suppress(OSError):
        folder.rmdir()
