"""Batches as they come: put where the module is, with their masks and their number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from .optional_imports import torch_or_refuse

MASK = "attention_mask"  # what batches of text call theirs


def require_batches(batches: Any) -> None:
    """Refuses what iterates, but not over batches, and not in an order that can be known."""
    torch = torch_or_refuse()
    if isinstance(batches, (torch.Tensor, np.ndarray)):
        raise UserError(
            f"batches is one array of shape {tuple(batches.shape)}; give a list of them: [x], or torch.split(x, 64)"
        )
    if isinstance(batches, (Mapping, str)) or not isinstance(batches, Iterable):
        raise UserError(f"batches is a {type(batches).__name__}; an iterable of batches is needed, such as [batch]")
    data = torch.utils.data
    shuffling = (data.RandomSampler, data.SubsetRandomSampler, data.WeightedRandomSampler)
    if isinstance(batches, data.DataLoader) and isinstance(getattr(batches, "sampler", None), shuffling):
        raise UserError(
            "batches is a loader that shuffles, so rows could not be told apart; make it with shuffle=False"
        )


def moved(batch: Any, device: Any, dtype: Any) -> Any:
    """The batch where the module is; numpy arrays become tensors, of the module's own type if they hold fractions."""
    torch = torch_or_refuse()
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, np.ndarray):
        if batch.dtype.kind not in "fiub":
            raise UserError(f"a batch holds an array of type {batch.dtype}; numbers are needed")
        tensor = torch.as_tensor(np.ascontiguousarray(batch), device=device)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor
    if isinstance(batch, Mapping):
        return {key: moved(value, device, dtype) for key, value in batch.items()}
    if isinstance(batch, (tuple, list)):
        items = [moved(value, device, dtype) for value in batch]
        if isinstance(batch, list):
            return items
        return type(batch)(*items) if hasattr(batch, "_fields") else tuple(items)
    return batch.to(device) if callable(getattr(batch, "to", None)) else batch


def mask_of(batch: Any, mask: str | int | Callable[[Any], Any] | None) -> Any:
    """Which positions are real, as bools; None if nothing says so."""
    torch = torch_or_refuse()
    if mask is None:
        return None
    if isinstance(mask, str):
        if not isinstance(batch, Mapping) or mask not in batch:
            if mask == MASK:
                return None
            if isinstance(batch, Mapping):
                raise unknown("mask", mask, map(str, batch))
            kind = type(batch).__name__
            raise UserError(
                f"mask={mask!r} is a key, and the batch is a {kind}; give a place or a function of the batch"
            )
        found = batch[mask]
    elif callable(mask):
        found = mask(batch)
    else:
        place = require_int("mask", mask)
        if not isinstance(batch, (tuple, list)) or not -len(batch) <= place < len(batch):
            raise UserError(f"mask={place} is a place in a tuple, and the batch has none there")
        found = batch[place]
    if found is None:
        return None
    found = torch.as_tensor(found)
    if not bool(((found == 0) | (found == 1)).all()):
        raise UserError("the mask holds other values than 0 and 1; 1 (or True) says that a position is real")
    return found.bool()


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in a tuple, list, mapping or dataclass, in their order."""
    torch = torch_or_refuse()
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors_in(one)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors_in(getattr(value, field.name, None))


def sizes_of(batch: Any, batch_axis: int) -> set[int]:
    """How many rows the batch may have: the lengths of its tensors. Empty if it cannot be told."""
    return {one.shape[axis] for one in tensors_in(batch) for axis in {0, batch_axis} if axis < one.ndim}
