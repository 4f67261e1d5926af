"""Layers of a torch module by name or by pattern."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import UserError, unknown
from .optional_imports import torch_or_refuse

OUTPUT = "(output)"  # what the module as a whole gives: its own name is empty
_FEW = 30  # more names than these are not listed in an error


def named_layers(module: Any) -> dict[str, Any]:
    """Every part that a forward pass can call, by name; lists and dicts of modules only hold others."""
    torch = torch_or_refuse()
    nn = torch.nn
    holders = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
    # a part that two names lead to is there under both
    parts = module.named_modules(remove_duplicate=False)
    return {name or OUTPUT: part for name, part in parts if not isinstance(part, holders)}


def chosen_layers(module: Any, layers: str | Sequence[str]) -> dict[str, tuple[Any, bool]]:
    """{name: (part, asked for by name)} of names and patterns, in the module's order."""
    asked = [layers] if isinstance(layers, str) or not isinstance(layers, Iterable) else list(layers)
    if not asked:
        raise UserError("layers names no layer; '*' is all of them")
    known = named_layers(module)
    found: dict[str, bool] = {}
    for pattern in asked:
        if not isinstance(pattern, str):
            raise UserError(f"layers holds {pattern!r}; names and patterns are strings such as 'encoder.*'")
        exact = pattern in known  # first: a name may hold what means something in patterns
        names = [pattern] if exact else [name for name in known if fnmatch.fnmatchcase(name, pattern)]
        if not names:
            raise no_layer(module, pattern, known)
        for name in names:
            found[name] = found.get(name, False) or exact
    return {name: (part, found[name]) for name, part in known.items() if name in found}


def no_layer(module: Any, pattern: str, known: Iterable[str]) -> UserError:
    """The error for a name that no layer has."""
    names = list(known)
    members = [name for name in names if name.startswith(f"{pattern}.")]
    if members:  # it is there, and only holds others
        return UserError(
            f"{pattern!r} is a list of layers and is never called itself; name one, such as {members[0]!r}"
        )
    if len(names) > _FEW and not difflib.get_close_matches(pattern, names, n=1, cutoff=0.5):
        return unknown("layer", pattern, {f"{name.split('.')[0]}*" for name in names if name != OUTPUT})
    return unknown("layer", pattern, names)
