"""Checkpoints: the state of a member in one safetensors file. Loading one runs no code."""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy

from ..files import write_whole

T = TypeVar("T")


def fingerprint(*parts: Any) -> str:
    """Hash of anything made of arrays and JSON."""
    digest = hashlib.sha256()
    for part in parts:
        leaves, structure = jax.tree.flatten(part)
        digest.update(str(structure).encode())
        for leaf in leaves:
            digest.update(_plain(leaf).tobytes() if isinstance(leaf, jax.Array) else json.dumps(leaf).encode())
    return digest.hexdigest()


class Checkpoint:
    """One file. What does not belong to the run (`mark`) or is damaged is not loaded, and said."""

    def __init__(self, path: Path, mark: str):
        self.path, self.mark = path, mark

    def save(self, state: Any, history: list, seconds: float) -> None:
        arrays = {str(i): _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(state))}
        notes = {"mark": self.mark, "history": json.dumps(history), "seconds": str(seconds), "sum": _sum(arrays)}
        try:
            write_whole(self.path, safetensors.numpy.save(arrays, metadata=notes))
        except OSError as problem:  # the run is worth more than its checkpoint
            warnings.warn(f"checkpoint {self.path} was not written: {problem.strerror}", stacklevel=2)

    def load(self, like: T) -> tuple[T, list, float] | None:
        """The saved state in the shape of `like`, its history and the time it took; None if there is none."""
        if not self.path.exists():
            return None
        try:
            with safetensors.safe_open(self.path, framework="numpy") as file:
                notes = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
            if notes.get("mark") != self.mark:
                raise ValueError("it belongs to another run")
            if notes.get("sum") != _sum(arrays):
                raise ValueError("its content does not match its checksum")
            leaves, structure = jax.tree.flatten(like)
            restored = [_like(leaf, arrays[str(i)]) for i, leaf in enumerate(leaves)]
            return jax.tree.unflatten(structure, restored), json.loads(notes["history"]), float(notes["seconds"])
        except (OSError, ValueError, KeyError, safetensors.SafetensorError) as problem:
            aside = self.path.with_suffix(".damaged")
            warnings.warn(f"checkpoint {self.path} was set aside as {aside.name}: {problem}", stacklevel=2)
            with contextlib.suppress(OSError):
                self.path.replace(aside)
            return None

    def remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        with contextlib.suppress(OSError):  # only if nothing else is in it
            self.path.parent.rmdir()


def _plain(leaf: Any) -> np.ndarray:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def _like(leaf: Any, plain: np.ndarray) -> jax.Array:
    """What `_plain` made of a leaf, as it was: a memory may hold random keys."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(plain), impl=jax.random.key_impl(leaf))
    return jnp.asarray(plain, leaf.dtype)


def _sum(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def clear(folder: Path) -> None:
    """Removes the checkpoints of all stages, and the folder if nothing else is in it."""
    for path in folder.glob("stage-*/seed-*.safetensors"):
        Checkpoint(path, "").remove()
    with contextlib.suppress(OSError):
        folder.rmdir()
