"""Rows of layers as they come, batch by batch: in memory, or in .npy files that grow on the disk."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import numpy as np

from ..errors import UserError
from ..files import TEMPORARY


class Rows:
    """Collects {layer: (rows, features)} of float32; with `out`, a folder, each layer goes to `out/<layer>.npy`.

    Use it as a context: files appear under their names only when all went well.
    """

    def __init__(self, out: str | os.PathLike | None = None):
        self.count = 0
        self._folder = None if out is None else Path(out)
        self._width: dict[str, int] = {}
        self._parts: dict[str, list[np.ndarray]] = {}
        self._files: dict[str, tuple[Path, BinaryIO]] = {}
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise UserError(f"cannot write to the folder {self._folder}: {problem.strerror}") from None

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        for temporary, file in self._files.values():
            file.close()
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()

    def add(self, batch: Mapping[str, np.ndarray]) -> None:
        """The next rows, of every layer."""
        if self._width and set(batch) != set(self._width):
            missing, new = sorted(set(self._width) - set(batch)), sorted(set(batch) - set(self._width))
            now, before = ("nothing", "one vector per row") if missing else ("one vector per row", "nothing")
            raise UserError(
                f"layer {(missing or new)[0]!r} gives {now} from row {self.count} on and {before} before; "
                "leave it out, or run those rows by themselves"
            )
        if len({len(values) for values in batch.values()}) > 1:
            counts = ", ".join(f"{layer!r} {len(values)}" for layer, values in batch.items())
            raise UserError(f"layers give different numbers of rows for one batch ({counts}); capture them one by one")
        for layer, values in batch.items():
            width = self._width.setdefault(layer, values.shape[1])
            if values.shape[1] != width:
                raise UserError(
                    f"layer {layer!r} gives {values.shape[1]} features from row {self.count} on and "
                    f"{width} before; pooling='mean' makes rows of one length"
                )
            if self._folder is None:
                self._parts.setdefault(layer, []).append(values)
            else:
                self._write(self._folder, layer, values)
        self.count += len(next(iter(batch.values())))

    def finish(self) -> dict[str, np.ndarray]:
        """Every layer as one array; those on the disk are mapped, for reading."""
        if self._folder is None:
            # one layer at a time, and its parts are let go
            return {layer: np.concatenate(self._parts.pop(layer)) for layer in list(self._parts)}
        found = {}
        for layer in list(self._files):
            temporary, file = self._files[layer]
            file.seek(0)
            _header(file, self.count, self._width[layer])  # as long as the first one: numpy leaves room for the count
            file.flush()
            os.fsync(file.fileno())
            file.close()
            path = file_of(self._folder, layer)
            os.replace(temporary, path)
            found[layer] = np.lib.format.open_memmap(path, mode="r")
        return found

    def _write(self, folder: Path, layer: str, values: np.ndarray) -> None:
        try:
            if layer not in self._files:
                temporary = folder / f"{TEMPORARY}{uuid.uuid4().hex}"
                file = open(temporary, "xb")  # noqa: SIM115 (closed by __exit__)
                self._files[layer] = temporary, file
                _header(file, 0, values.shape[1])
            self._files[layer][1].write(np.ascontiguousarray(values, "<f4").data)
        except OSError as problem:
            raise UserError(f"cannot write layer {layer!r} to {folder}: {problem.strerror or problem}") from None


def file_of(folder: Path, layer: str) -> Path:
    """Where a layer is written: by its name, with what a file's name cannot hold written as %XX."""
    return folder / f"{quote(layer, safe='()#[] ')}.npy"


def _header(file: BinaryIO, rows: int, width: int) -> None:
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, width)})
