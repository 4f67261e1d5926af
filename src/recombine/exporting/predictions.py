"""Predictions of others: a file or a mapping of arrays, each checked against the set that it is of.

A set `held_out` is predicted by two arrays, `held_out` and `held_out_item`. The second says which item each row is: a
loader that shuffles, drops the last batch or reads another export is found out instead of being scored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, describe, unknown
from ..files.foreign_arrays import read_npz
from ..labels import quoted, visible
from .export_card import SHORT, Export
from .export_sets import export_of

ITEM = "_item"


def read_predictions(predictions: Any) -> dict[str, np.ndarray]:
    """Arrays by name, from a .npz or a mapping."""
    if isinstance(predictions, Mapping):
        return {str(name): _array(name, values) for name, values in predictions.items()}
    if not isinstance(predictions, (str, os.PathLike)):
        raise UserError(f"predictions must be a .npz or a mapping of arrays, got {type(predictions).__name__}")
    path = Path(predictions)
    if path.suffix.lower() != ".npz":
        raise UserError(f"{quoted(path.name)} is no .npz; numpy.savez('predictions.npz', held_out=...) writes one")
    if not path.is_file():
        raise UserError(f"there is no file {quoted(path, 300)} with predictions")
    return read_npz(path)


def predicted_sets(export: Export, arrays: Mapping[str, np.ndarray]) -> list[str]:
    """The sets that are predicted, in their order; other names are refused."""
    known = [*export.sizes, *(f"{name}{ITEM}" for name in export.sizes)]
    for name in arrays:
        if name not in known:
            raise unknown("array of predictions", visible(name, 60), known)
    found = [name for name in export.sizes if name in arrays]
    if not found:
        raise UserError(f"the predictions are empty; give an array of answers for {' or '.join(export.sizes)}")
    for name in found:
        if f"{name}{ITEM}" not in arrays:
            raise UserError(
                f"predictions of {name} lack '{name}{ITEM}', which says which item each row is; "
                f"save the array 'item' of {export.card['sets'][name]['file']} beside them"
            )
    return found


def checked(export: Export, name: str, arrays: Mapping[str, np.ndarray], target: np.ndarray, item: np.ndarray):
    """(items, ...) predictions of a set, in its order and like its target, or logits; a UserError names what is off.

    Args:
        export: whose set it is.
        name: of the set.
        arrays: what was given.
        target: (items, ...) of the set.
        item: (items,) of the set.
    """
    given, which = arrays[name], arrays[f"{name}{ITEM}"]
    order = _order(export, name, which, item)
    if given.dtype.kind not in "fiub":
        raise UserError(f"predictions of {name} are {given.dtype}, not numbers")
    if len(given) != len(target):
        raise UserError(f"predictions of {name} have {len(given):,} rows for {len(target):,} items")
    whole = target.dtype.kind in "iu"
    words = export.card["task"]["words"].get("target")
    like = {target.shape} | ({(*target.shape, words)} if whole and words is not None else set())
    if given.shape not in like:
        wanted = " or ".join(str(shape) for shape in sorted(like, key=len))
        raise UserError(f"predictions of {name} have the shape {given.shape}; {wanted} is needed")
    if whole and given.shape == target.shape and given.dtype.kind == "f":
        raise UserError(
            f"predictions of {name} are {given.dtype} where whole numbers are needed; round them, or give logits"
        )
    if given.dtype.kind == "f":
        bad = ~np.isfinite(given.reshape(len(given), -1)).all(1)
        if bad.any():
            raise UserError(
                f"predictions of {name} are not finite in {int(bad.sum()):,} rows, the first of them "
                f"{int(np.flatnonzero(bad)[0])}; a model that diverged has no score, and a missing answer needs a guess"
            )
    return given[order]


def _order(export: Export, name: str, which: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Where each item of the set is among the predictions; rows that were shuffled are put back."""
    label = f"{name}{ITEM}"
    if which.ndim != 1 or which.dtype.kind not in "iu":
        raise UserError(f"{label} is {which.dtype} of shape {which.shape}; it is the array 'item' of {name}, unchanged")
    foreign = which[~np.isin(which, item)]
    if foreign.size:
        first, here = int(foreign[0]), export.hash[:6]
        other = export_of(first) if 0 <= first < 1 << 53 else here
        if other not in (here, "000000"):
            raise UserError(
                f"{label} is of another export (hash {other}...) than {visible(export.folder, 200)} "
                f"(hash {export.hash[:SHORT]}); predict the items of this one"
            )
        raise UserError(f"{label} has {first}, which is no item of {name}; copy the array 'item' of that set")
    numbers, counts = np.unique(which, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"{label} has the item {int(numbers[counts > 1][0])} twice; predict each item once")
    if len(which) != len(item):
        lacking = int(item[~np.isin(item, which)][0])
        raise UserError(
            f"predictions of {name} have {len(which):,} of its {len(item):,} items, and lack {lacking}; "
            "predict all of them (a loader may drop the last batch)"
        )
    position = np.argsort(which)
    return position[np.searchsorted(which[position], item)]


def _array(name: Any, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except Exception as problem:  # a tensor on another device, say
        raise UserError(f"predictions of {visible(name, 60)} are no array: {describe(problem)[:200]}") from None
