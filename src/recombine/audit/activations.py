"""Activations: files, arrays or a callable model -> one array per layer, aligned with the rows of the table.

Files are read by `files/foreign_arrays.py`, which runs no code from them.
A model of the user's is a stranger too: what it raises, returns, changes or exits with is caught and said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, describe
from ..files.foreign_arrays import read_arrays
from ..labels import quoted, visible
from ..tables import Source

ID_KEYS = ("id", "ids")
BATCH = 256  # rows a callable model gets at once


class Layer:
    """A layer's array and, where it came with them, the ids of its rows."""

    def __init__(self, name: str, values: Any, ids: np.ndarray | None = None):
        self.name, self.ids = visible(name), ids
        self.values = _checked(self.name, values)


# -- files ------------------------------------------------------------------------------------------------------------
def load_layers(paths: Sequence[str | os.PathLike]) -> list[Layer]:
    """The layers in files: a .npy is one called as the file, .npz and .safetensors hold several by name."""
    layers: list[Layer] = []
    for path in map(Path, paths):
        if "\0" in str(path) or not path.is_file():
            raise UserError(f"there is no file {quoted(path, 300)} with activations")
        found = read_arrays(path)
        ids = next((found.pop(key) for key in ID_KEYS if key in found), None)
        if ids is not None and ids.ndim != 1:
            raise UserError(f"the ids in {visible(path.name)} have shape {ids.shape}; one per row is needed")
        if not found:
            raise UserError(f"{visible(path.name)} holds no activations")
        layers += [Layer(name, values, ids) for name, values in found.items()]
    names = [layer.name for layer in layers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two files hold a layer called {quoted(twice)}; rename one")
    return layers


# -- arrays and models ------------------------------------------------------------------------------------------------
def given_layers(activations: Any, source: Source, rows: int) -> list[Layer]:
    """Layers from what a user gives in Python: a mapping of arrays or callables, a callable, or paths."""
    if isinstance(activations, (str, os.PathLike)):
        return load_layers([activations])
    if callable(activations):
        return _from_model("model", activations, source, rows)
    if isinstance(activations, Mapping):
        layers: list[Layer] = []
        for name, value in activations.items():
            layers += _from_model(str(name), value, source, rows) if callable(value) else [Layer(str(name), value)]
        return layers
    if isinstance(activations, Sequence) and all(isinstance(one, (str, os.PathLike)) for one in activations):
        return load_layers(activations)
    raise UserError(
        f"activations must map layers to arrays (or be files, or a callable model), got {type(activations).__name__}"
    )


def _from_model(name: str, model: Callable[[Any], Any], source: Source, rows: int) -> list[Layer]:
    """Runs a model over all rows in batches, after trying whether it can be trusted with one."""
    parts: dict[str, list[np.ndarray]] = {}
    for number, (start, make) in enumerate(_batches(source, rows)):
        answer = _call(name, model, make, start)
        if number == 0:
            _distrust(name, model, make, answer)
        for layer, values in answer.items():
            parts.setdefault(layer, []).append(values)
        first = next(iter(parts.values()))
        if any(len(found) != len(first) or found[-1].shape[1:] != found[0].shape[1:] for found in parts.values()):
            raise UserError(
                f"the model {quoted(name)} gives other layers or shapes for rows {start:,} and on than before"
            )
    return [Layer(layer, np.concatenate(found)) for layer, found in parts.items()]


def _batches(source: Source, rows: int) -> Iterator[tuple[int, Callable[[], Any]]]:
    """(first row, a function that makes the batch anew): what a model does to its batch stays in it."""
    data = source.origin.frame
    if data is not None and hasattr(data, "iloc"):
        table = data
    elif data is not None and hasattr(data, "slice"):  # polars, arrow: immutable
        for start in range(0, rows, BATCH):
            yield start, lambda start=start: data.slice(start, BATCH)
        return
    else:
        names = list(source.columns)
        relation, parameters = source.relation(names, plain=True)
        table = source.run(f"SELECT * FROM {relation}", parameters).df()
        table.columns = names
    for start in range(0, rows, BATCH):
        yield start, lambda start=start: table.iloc[start : start + BATCH].copy(deep=True)


def _call(name: str, model: Callable[[Any], Any], make: Callable[[], Any], start: int) -> dict[str, np.ndarray]:
    batch = make()
    size = len(batch)
    where = f"rows {start:,} to {start + size - 1:,}"
    try:
        answer = model(batch)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # sys.exit() in a model must not end the audit without a word
        raise UserError(f"the model {quoted(name)} raised {visible(describe(problem), 200)} on {where}") from problem
    answers = answer if isinstance(answer, Mapping) else {name: answer}
    found = {}
    for layer, values in answers.items():
        try:
            array = np.asarray(values)
        except Exception as problem:
            raise UserError(
                f"the model {quoted(name)} returned something that is no array: {visible(describe(problem), 100)}"
            ) from None
        if not array.ndim or len(array) != size:
            raise UserError(
                f"the model {quoted(name)} returned an array of shape {array.shape} for {size} rows ({where})"
            )
        found[str(layer)] = array
    if not found:
        raise UserError(f"the model {quoted(name)} returned no layer")
    return found


def _distrust(name: str, model: Callable[[Any], Any], make: Callable[[], Any], answer: dict[str, np.ndarray]) -> None:
    """The same batch must get the same answer, and a batch turned around the answer turned around."""

    def turned() -> Any:
        batch = make()
        return batch.iloc[::-1] if hasattr(batch, "iloc") else batch

    again, backward = _call(name, model, make, 0), _call(name, model, turned, 0)
    for layer, values in answer.items():
        if layer not in again or again[layer].shape != values.shape or not _close(again[layer], values):
            raise UserError(
                f"the model {quoted(name)} answers the same batch in two ways; is it random, or does it keep a state?"
            )
        if hasattr(make(), "iloc") and (
            backward[layer].shape != values.shape or not _close(backward[layer][::-1], values)
        ):
            raise UserError(f"the answers of the model {quoted(name)} depend on the order of the rows in a batch")


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return bool(np.allclose(a.astype(float), b.astype(float), rtol=1e-3, atol=1e-4, equal_nan=True))
    except (TypeError, ValueError):
        return True  # not numbers: refused later, by what they are


# -- checks and alignment ---------------------------------------------------------------------------------------------
def _checked(name: str, values: Any) -> np.ndarray:
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except Exception as problem:
        raise UserError(f"the activations of {quoted(name)} are no array: {visible(describe(problem), 100)}") from None
    plain = array.dtype.kind in "fiub" or array.dtype.name == "bfloat16"
    if not plain:
        raise UserError(f"the activations of {quoted(name)} are of type {array.dtype}; real numbers are needed")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.shape[1]:
        raise UserError(
            f"the activations of {quoted(name)} have shape {array.shape}; one vector per row is needed: "
            "average or flatten them"
        )
    return array


def align(layer: Layer, rows: int, ids: np.ndarray | None, id_column: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the table that have activations, and which rows of the layer's array are theirs."""
    n = len(layer.values)
    if layer.ids is not None and ids is None:
        raise UserError(
            f"the activations of {quoted(layer.name)} come with ids; name the column that holds them with --id"
        )
    if ids is None:
        if n != rows:
            raise UserError(f"the activations of {quoted(layer.name)} have {n:,} rows and the table has {rows:,}")
        return np.arange(rows), np.arange(rows)
    if layer.ids is None:
        raise UserError(
            f"the activations of {quoted(layer.name)} come without ids, which --id {visible(id_column)} asks for; "
            "store them as 'ids' beside the layers"
        )
    if len(layer.ids) != n:
        raise UserError(f"the activations of {quoted(layer.name)} have {n:,} rows and {len(layer.ids):,} ids")
    where = {_id(value): i for i, value in enumerate(layer.ids.tolist())}
    if len(where) < n:
        raise UserError(f"the activations of {quoted(layer.name)} name an id twice")
    known = [None if value is None else where.get(str(value)) for value in ids.tolist()]
    at = np.flatnonzero([place is not None for place in known])
    if not len(at):
        raise UserError(f"no id in {quoted(id_column)} is among those of the activations of {quoted(layer.name)}")
    named = [value for value in ids.tolist() if value is not None]
    if len(set(named)) < len(named):
        raise UserError(f"the id column {quoted(id_column)} names a row twice")
    return at, np.array([known[i] for i in at])


def _id(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def finite(layer: Layer, chosen: np.ndarray, units: slice = slice(None)) -> np.ndarray:
    """The chosen rows (and units) as float, or an error that names the first that is no number."""
    values = np.asarray(layer.values[:, units][chosen]).astype(np.float64)
    bad = np.asarray(~np.isfinite(values).all(axis=1))
    if bad.any():
        first = int(chosen[np.argmax(bad)]) + 1
        raise UserError(
            f"the activations of {quoted(layer.name)} are not finite in {int(bad.sum()):,} of {len(bad):,} rows "
            f"(first: row {first:,})"
        )
    return values
