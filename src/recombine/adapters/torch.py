"""Activations of any torch module, by forward hooks.

    import recombine as rc
    activations = rc.adapters.torch.capture(module, batches, layers="blocks.*.mlp")      # {layer: (rows, features)}
    rc.adapters.torch.layer_names(module)                                               # what there is to ask for

Only what is asked for is kept: each batch is pooled to one vector per row, copied to the CPU as float32 (a later layer
may work in place) and, with `out`, appended to a file on the disk.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from .batches import MASK, mask_of, moved, require_batches, sizes_of, tensors_in
from .eval_mode import device_of, dtype_of, evaluating, seeded, unwrapped
from .names import OUTPUT, chosen_layers, named_layers
from .optional_imports import torch_or_refuse
from .pooled_rows import Rows
from .pooling import CHANNELS, Pooling

CALLS = ("last", "first", "all")


def layer_names(module: Any) -> list[str]:
    """The layers of a module, in its own order; "(output)" is what the module itself gives.

    Args:
        module: a torch module.

    Example:
        >>> import torch
        >>> rc.adapters.torch.layer_names(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
        ['(output)', '0', '1']
    """
    return list(named_layers(_module(module)))


def capture(
    module: Any,
    batches: Iterable[Any],
    layers: str | Sequence[str],
    *,
    pooling: str = "mean",
    mask: str | int | Callable[[Any], Any] | None = MASK,
    calls: str = "last",
    channels: str = "auto",
    batch_axis: int = 0,
    forward: Callable[[Any, Any], Any] | None = None,
    select: Callable[[str, Any], Any] | None = None,
    out: str | os.PathLike | None = None,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """What layers give for every row of every batch: {layer: (rows, features)} of float32, rows in the order they came.

    The module runs in evaluation mode without gradients, where its weights are, and is left as it was found.

    Args:
        module: a torch module.
        batches: an iterable of tensors (or numpy arrays), of tuples (positional arguments) or of dicts (by name).
        layers: names, or patterns as of files in which `*` stands for dots too: "encoder.layer.*.output". A layer asked
            for by name must give one vector per row; one that only fits a pattern is left out, with a warning.
        pooling: of tokens (rows, tokens, features) or pixels (rows, channels, h, w): "mean" or "flatten"; of tokens
            also "last" and "token:N".
        mask: which positions are real (1 or True): a key of dicts, a place in tuples, or a function of the batch.
            Unless told otherwise an "attention_mask" is used where a batch has one; None counts every position.
        calls: of a layer that runs several times in a pass the "last" is kept, or the "first", or "all" as "layer#0",
            ...
        channels: where features are: "first" or "last" after the rows; "auto" is last of three axes, first of four or
            more.
        batch_axis: the axis of the rows in what the layers give (1 for modules that put time first).
        forward: how to run the module, if not as module(batch). For a loader of labeled pairs: `lambda module, batch:
            module(batch[0])`.
        select: (layer, what it gives) -> tensor. Without it the first tensor of a tuple, dict or dataclass is taken,
            one of fractions if there is any.
        out: a folder; each layer becomes a .npy file there and comes back mapped, not loaded.
        seed: for modules that draw random numbers, on the CPU or CUDA; the random state outside is not touched.

    Example:
        >>> import torch
        >>> module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        >>> rc.adapters.torch.capture(module, [torch.ones(4, 2), torch.ones(1, 2)], layers="1")["1"].shape
        (5, 3)
    """
    module = _module(module)
    require_batches(batches)
    for what, value, known in (("calls", calls, CALLS), ("channels", channels, CHANNELS)):
        if value not in known:
            raise unknown(what, value, known)
    batch_axis = require_int("batch_axis", batch_axis, at_least=0)
    seed = require_int("seed", seed, at_least=0)
    read = _Reader(Pooling.parse(pooling), channels, batch_axis, select)
    chosen = chosen_layers(module, layers)
    device, dtype = device_of(module), dtype_of(module)
    with Rows(out) as rows, evaluating(module):
        for number, given in enumerate(batches):
            batch = moved(given, device, dtype)
            facts = _Facts(mask_of(batch, mask), sizes_of(batch, batch_axis), rows.count)
            lenient = set() if number else {name for name, (_, by_name) in chosen.items() if not by_name}
            catcher = _Catcher(read, facts, calls, lenient)
            with _hooks(chosen, catcher.catch), seeded(seed + number, device):
                try:
                    _run(module, batch, forward)
                except UserError:
                    raise
                except Exception as problem:
                    problem.add_note(_note(number, batch, forward))
                    raise
            if number == 0:
                chosen = _called(chosen, catcher)
            rows.add(_named(chosen, catcher.caught))
        if not rows.count:
            raise UserError("batches is empty: there is nothing to run the module on")
        return rows.finish()


def _module(module: Any) -> Any:
    torch = torch_or_refuse()
    if not isinstance(module, torch.nn.Module):
        raise UserError(f"a torch.nn.Module is needed, got a {type(module).__name__}")
    return unwrapped(module)


# -- what a layer gives -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Facts:
    """About one batch: which positions are real, how many rows it may have, and how many came before."""

    mask: Any
    sizes: set[int]
    first_row: int


@dataclass(frozen=True)
class _Reader:
    """From what a layer gives to one vector per row."""

    pooling: Pooling
    channels: str
    batch_axis: int
    select: Callable[[str, Any], Any] | None

    def __call__(self, name: str, output: Any, facts: _Facts) -> np.ndarray | None:
        """(rows, features), or None where there is no tensor."""
        torch = torch_or_refuse()
        values = _tensor(output) if self.select is None else self.select(name, output)
        if values is None:
            return None
        if not isinstance(values, torch.Tensor):
            raise UserError(f"select gave a {type(values).__name__} for layer {name!r}; a tensor is needed")
        values = _rows_first(values, name, self.batch_axis, facts.sizes)
        pooled = self.pooling(values, facts.mask, name, self.channels, facts.first_row)
        return np.array(pooled.cpu().numpy(), copy=True)  # later layers may overwrite the tensor


class _Catcher:
    """What the layers gave in one pass. In the first one, layers that only fit a pattern may turn out unfit."""

    def __init__(self, read: _Reader, facts: _Facts, calls: str, lenient: set[str]):
        self.caught: dict[str, list[np.ndarray]] = {}
        self.unfit: dict[str, str] = {}
        self._read, self._facts, self._calls, self._lenient = read, facts, calls, lenient

    def catch(self, name: str, output: Any) -> None:
        if self._calls == "first" and name in self.caught:
            return
        try:
            array = self._read(name, output, self._facts)
        except UserError as problem:
            if name not in self._lenient:
                raise
            self.unfit[name] = str(problem)
            return
        if array is not None:
            before = self.caught.get(name, []) if self._calls == "all" else []
            self.caught[name] = [*before, array]


def _tensor(output: Any) -> Any:
    """The first tensor of fractions in what a layer gives, else the first of any kind; None if there is none."""
    found = list(tensors_in(output))
    found = [one for one in found if one.ndim] or found  # a loss is no activation
    return next((one for one in found if one.is_floating_point()), found[0] if found else None)


def _rows_first(values: Any, name: str, batch_axis: int, sizes: set[int]) -> Any:
    if values.is_nested:
        raise UserError(f"layer {name!r} gives a ragged tensor; turn it into a padded one with select=")
    shape = tuple(values.shape)
    if values.ndim <= batch_axis:
        raise UserError(f"layer {name!r} gives an array of shape {shape}, which has no axis {batch_axis} for the rows")
    values = values.movedim(batch_axis, 0)
    if sizes and len(values) not in sizes:
        raise UserError(
            f"layer {name!r} gives {len(values)} rows (an array of shape {shape}) for a batch of "
            f"{' or '.join(map(str, sorted(sizes)))}; "
            "say where the rows are with batch_axis=, or make one a row with select="
        )
    return values


# -- the pass ---------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def _hooks(chosen: Mapping[str, tuple[Any, bool]], catch: Callable[[str, Any], None]) -> Iterator[None]:
    """`catch(name, output)` is called while the block runs, and no longer."""
    with contextlib.ExitStack() as stack:
        for name, (layer, _) in chosen.items():

            def hook(_layer: Any, _arguments: Any, output: Any, name: str = name) -> None:
                catch(name, output)

            stack.callback(layer.register_forward_hook(hook).remove)
        yield


def _run(module: Any, batch: Any, forward: Callable[[Any, Any], Any] | None) -> None:
    if forward is not None:
        forward(module, batch)
    elif isinstance(batch, Mapping):
        module(**batch)
    elif isinstance(batch, (tuple, list)):
        module(*batch)
    else:
        module(batch)


def _note(number: int, batch: Any, forward: Any) -> str:
    note = f"the module raised this on batch {number} of capture"
    if forward is None and isinstance(batch, (tuple, list)) and len(batch) > 1:
        note += (
            f", where it was called with {len(batch)} arguments; if not all of them are inputs, say which are: "
            "capture(..., forward=lambda module, batch: module(batch[0]))"
        )
    return note


# -- what comes out ---------------------------------------------------------------------------------------------------
def _called(chosen: dict[str, tuple[Any, bool]], catcher: _Catcher) -> dict[str, tuple[Any, bool]]:
    """The layers that gave one vector per row: those asked for by name must, those that fit a pattern should."""
    kept = {name: chosen[name] for name in chosen if name in catcher.caught and name not in catcher.unfit}
    missing = [name for name in chosen if name not in kept]
    by_name = [name for name in missing if chosen[name][1]]
    if by_name or not kept:
        name = (by_name or missing)[0]
        raise UserError(
            catcher.unfit.get(name)
            or f"layer {name!r} gave no tensor: the forward pass did not call it, or its output holds none; "
            f"what the module gives as a whole is layer {OUTPUT!r}"
        )
    if missing:
        reasons = [catcher.unfit.get(name, f"layer {name!r} gave no tensor") for name in missing[:3]]
        more = [f"and {len(missing) - 3} more"] if len(missing) > 3 else []
        warnings.warn("layers that fit the pattern are left out: " + "; ".join([*reasons, *more]), stacklevel=3)
    return kept


def _named(chosen: Mapping[str, Any], caught: Mapping[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    """One array per layer, or one per call; in the module's order."""
    found = {}
    for name in chosen:
        arrays = caught.get(name, [])
        for call, array in enumerate(arrays):
            found[name if len(arrays) == 1 else f"{name}#{call}"] = array
    return found
