"""Running a model without leaving a trace in it: modes, switches and random numbers are afterwards as before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .optional_imports import torch_or_refuse


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Evaluation mode without gradients; each submodule gets back the mode it had, on errors too."""
    torch = torch_or_refuse()
    training = [(part, part.training) for part in module.modules()]
    # the fused encoder of torch calls no submodules and hands on ragged tensors: hooks would not see them
    fused = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        module.eval()
        # not inference_mode: what a model caches on the way must still be good for training
        with torch.no_grad(), _eagerly(module):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
        for part, mode in training:
            part.training = mode


def _eagerly(module: Any) -> Any:
    """Compiled parts run as they were written: a compiled program may leave hooks out."""
    torch = torch_or_refuse()
    compiled = any(getattr(part, "_compiled_call_impl", None) is not None for part in module.modules()) or any(
        hasattr(part, "_orig_mod") for part in module.modules()
    )
    if compiled and hasattr(torch.compiler, "set_stance"):
        return torch.compiler.set_stance("force_eager")
    return contextlib.nullcontext()


@contextlib.contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """Random numbers of a model that draws some are the same each time, and the user's own stream goes on as if not."""
    torch = torch_or_refuse()
    on_cuda = device.type == "cuda"
    with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if on_cuda else []):
        torch.default_generator.manual_seed(seed)  # not torch.manual_seed, which reaches devices that are not restored
        if on_cuda:
            torch.cuda.manual_seed_all(seed)
        yield


def unwrapped(module: Any) -> Any:
    """The module inside the wrappers that copy, spread or compile it: its layers have their own names."""
    torch = torch_or_refuse()
    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while True:
        if isinstance(module, parallel):
            module = module.module
        elif isinstance(getattr(module, "_orig_mod", None), torch.nn.Module):
            module = module._orig_mod
        else:
            return module


def device_of(module: Any) -> Any:
    """Where the module's weights are, and so where its inputs go; the CPU if it has none."""
    torch = torch_or_refuse()
    for weights in (module.parameters(), module.buffers()):
        for one in weights:
            if one.device.type != "meta":
                return one.device
    return torch.device("cpu")


def dtype_of(module: Any) -> Any:
    """The type of the module's numbers; float32 if it has none."""
    torch = torch_or_refuse()
    for one in module.parameters():
        if one.is_floating_point():
            return one.dtype
    return torch.float32
