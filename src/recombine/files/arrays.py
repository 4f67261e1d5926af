"""Arrays by name in one safetensors file with a checksum. Reading one runs no code."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Damaged(ValueError):
    """A file that does not hold what was written; the text says why."""


def pack(arrays: Arrays, notes: Mapping[str, str]) -> bytes:
    """A file of arrays and of texts by name."""
    import safetensors.numpy

    return safetensors.numpy.save(dict(arrays), metadata={**notes, "sum": _sum(arrays)})


def unpack(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and texts of a file, or `Damaged`."""
    import safetensors

    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            notes = dict(file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
    except Exception as problem:  # of others; kinds of numbers that numpy does not have are a missing name or key
        raise Damaged(str(problem)) from problem
    if notes.pop("sum", None) != _sum(arrays):
        raise Damaged("its content does not match its checksum")
    return arrays, notes


def read_notes(path: Path) -> dict[str, str]:
    """The texts of a file alone, unchecked, or `Damaged`: says whose file it is without reading its arrays."""
    import safetensors

    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            return dict(file.metadata() or {})
    except Exception as problem:  # of others; kinds of numbers that numpy does not have are a missing name or key
        raise Damaged(str(problem)) from problem


def set_aside(path: Path, what: str, why: object) -> None:
    """Moves a file that cannot be used out of the way, and says so."""
    aside = path.with_suffix(".damaged")
    warnings.warn(f"{what} {path} was set aside as {aside.name}: {why}", stacklevel=3)
    with contextlib.suppress(OSError):
        path.replace(aside)


def _sum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
