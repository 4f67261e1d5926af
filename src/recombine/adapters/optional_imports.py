"""What an adapter needs and recombine does not: imported when it is used, missed in one sentence."""

from __future__ import annotations

from typing import Any

from ..errors import UserError


def torch_or_refuse() -> Any:
    """The package torch."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as problem:
        raise _missing("torch", problem) from None
    return torch


def transformers_or_refuse() -> Any:
    """The package transformers."""
    try:
        import transformers  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as problem:
        raise _missing("transformers", problem) from None
    return transformers


def _missing(package: str, problem: ModuleNotFoundError) -> Exception:
    if problem.name != package:  # it is there, and something that it needs is not: not ours to explain
        return problem
    return UserError(f"this needs {package}, which is not installed: pip install 'recombine[{package}]'")
