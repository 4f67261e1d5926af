"""How large what a net reads and writes is, for nets that take numbers or words in rows.

A task says so by the shapes of its batches. Codes are (T, C) numbers or (T, L) words; inputs (T, S, ..., I) rows of I
numbers, or none; targets (T, S, ..., O) numbers, or whole numbers, for each of which a net gives logits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..errors import UserError
from ..tasks import Batch, Task
from .base import Blueprint


class Sizes(NamedTuple):
    """What a net for a task reads and writes, in numbers.

    Args:
        code: numbers or words in a code.
        words: how many different words a code can have; None if it is numbers.
        inputs: numbers in a row; 0 if there are no inputs.
        outputs: numbers for a row, or logits.

    Example:
        >>> rc.nets.Sizes(code=4, words=None, inputs=16, outputs=16).inputs
        16
    """

    code: int  # numbers or words in a code
    words: int | None  # how many different words a code can have; None if it is numbers
    inputs: int  # numbers in a row; 0 if there are no inputs
    outputs: int  # numbers for a row, or logits


def sizes_of(blueprint: Blueprint, task: Task) -> Sizes:
    """The sizes of what a net for a task reads and writes.

    Refuses a task whose code, inputs or target are no such arrays.

    Args:
        blueprint: of the net, for the refusal.
        task: what it is for.

    Example:
        >>> rc.nets.sizes_of(rc.nets.MLP(), task)
        Sizes(code=4, words=None, inputs=16, outputs=16)
    """
    batch = task.shapes()
    for name in ("code", "target"):
        if not hasattr(getattr(batch, name), "shape"):
            raise UserError(f"net {blueprint.name!r} needs one array as {name}, and {task.id} has {_what(batch, name)}")
    if batch.inputs is not None and not hasattr(batch.inputs, "shape"):
        raise UserError(f"net {blueprint.name!r} reads rows of numbers, and {task.id} has {_what(batch, 'inputs')}")
    if batch.code.ndim != 2:
        raise UserError(
            f"net {blueprint.name!r} reads codes (T, C), and those of {task.id} have {batch.code.ndim} axes"
        )
    whole = {name: jnp.issubdtype(getattr(batch, name).dtype, jnp.integer) for name in ("code", "target")}
    for name, are_words in whole.items():
        if are_words and name not in task.words:
            raise UserError(f"the {name} of {task.id} is whole numbers, and words does not say how many there are")
    inputs = 0 if batch.inputs is None else batch.inputs.shape[-1]
    outputs = task.words["target"] if whole["target"] else batch.target.shape[-1]
    return Sizes(batch.code.shape[1], task.words["code"] if whole["code"] else None, inputs, outputs)


def _what(batch: Batch, name: str) -> str:
    found: Any = getattr(batch, name)
    return "none" if found is None else f"{len(jax.tree.leaves(found))} of them"


def require_inputs(blueprint: Blueprint, task: Task) -> None:
    """Refuses a task that shows nothing but a code."""
    if not sizes_of(blueprint, task).inputs:
        raise UserError(f"net {blueprint.name!r} reads inputs beside the code and {task.id} has none; 'mlp' needs none")
