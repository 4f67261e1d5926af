"""Arrays of strangers: .npy, .npz and .safetensors. The one place where they are read.

Nothing here can run code from a file: objects are refused by the header, before anything is unpacked, and safetensors
has none. How much a file unpacks to is known from its headers, too. Whatever the libraries below make of a damaged
file, and they raise a dozen classes of exceptions, is one sentence that names the file.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import quoted, visible

MOST_BYTES = 8 << 30  # of the arrays of an archive after they are unpacked
MOST_ARRAYS = 10_000  # in one file


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name; a .npy holds one, called as the file.

    Args:
        path: of a file that ends in .npy, .npz or .safetensors.
    """
    name = visible(path.name, 100)
    read = {".npy": _npy, ".npz": _npz, ".safetensors": _safetensors}.get(path.suffix.lower())
    if read is None:
        raise UserError(f"'{name}' cannot be read as activations: .npy, .npz and .safetensors can (no pickles)")
    return _read(path, read)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz by name, whatever the file is called."""
    return _read(path, _npz)


def _read(path: Path, read: Callable[[Path], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    name = visible(path.name, 100)
    try:
        return read(path)
    except UserError:
        raise
    except Exception as problem:  # zlib, lzma, tokenize, struct, ast, zipfile, numpy, safetensors: each has its own
        why = visible(str(problem).split("\n")[0] or type(problem).__name__, 120)
        raise UserError(f"{name} cannot be read: {why}") from None


def _npy(path: Path) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        _claimed(file, path.name)
    return {path.stem: np.lib.format.open_memmap(path, mode="r")}  # never unpickles, and reads what is asked for


def _npz(path: Path) -> dict[str, np.ndarray]:
    found, unpacked = {}, 0
    with zipfile.ZipFile(path) as archive:
        _refuse_many(len(archive.infolist()), path.name)
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name == info.filename:
                raise UserError(f"{visible(path.name, 100)} holds {quoted(name)}, which is no array")
            if name in found:
                raise UserError(f"{visible(path.name, 100)} holds two arrays called {quoted(name)}")
            with archive.open(info) as file:
                claimed = _claimed(file, path.name)
            unpacked += claimed
            _refuse_large(unpacked, path.name)
            if claimed > info.file_size:  # before memory is taken for what is not there
                raise UserError(f"{visible(path.name, 100)} cannot be read: {quoted(name)} is cut off")
            with archive.open(info) as file:
                found[name] = np.lib.format.read_array(file, allow_pickle=False)
    return found


def _claimed(file: Any, name: str) -> int:
    """Bytes of an array, by its header, before anything is unpacked; objects are refused."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise UserError(f"{visible(name, 100)} is of a version of .npy that is not read ({version[0]}.{version[1]})")
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise UserError(f"{visible(name, 100)} holds pickled objects, which are never loaded; save plain numbers")
    if any(length < 0 for length in shape):
        raise UserError(f"{visible(name, 100)} cannot be read: an array has a negative length")
    return math.prod(shape) * dtype.itemsize


def _refuse_large(unpacked: int, name: str) -> None:
    if unpacked > MOST_BYTES:
        size = f"{unpacked >> 30:,} GB" if unpacked < 1 << 60 else "more than a billion GB"
        raise UserError(f"{visible(name, 100)} unpacks to {size}, more than {MOST_BYTES >> 30} GB")


def _refuse_many(arrays: int, name: str) -> None:
    if arrays > MOST_ARRAYS:
        raise UserError(f"{visible(name, 100)} holds {arrays:,} arrays, more than {MOST_ARRAYS:,}")


def _safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        names = list(file.keys())
        _refuse_many(len(names), path.name)
        return {name: _tensor(path, file, name) for name in names}


def _tensor(path: Path, file: Any, name: str) -> np.ndarray:
    """As it is stored; kinds that numpy does not have, such as bfloat16, are read by jax, which has them."""
    try:
        return file.get_tensor(name)
    except (TypeError, AttributeError, KeyError, ValueError):
        from safetensors import safe_open

        with safe_open(path, framework="flax") as again:
            return np.asarray(again.get_tensor(name))
