"""The problems: what is asked of pairs and triples of symbols, and which of them are trained.

As in the public code of Lippl, Stachenfeld 2025 (tasks/addition.py, context_dependence.py, transitive_equivalence.py
and its configurations); sizes of the classes of equivalence are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import UserError
from ...spaces import Product

#: symbols whose every combination is trained, by how many there are; their values sum to zero
ADDITION_KNOWN = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (1, 3, 5, 7)}
VALUES = np.arange(-4.0, 5.0)


@dataclass(frozen=True)
class Problem:
    """What is asked of every combination of symbols, and which combinations are trained."""

    space: Product
    target: np.ndarray  # (combinations,)
    trained: np.ndarray  # (combinations,) of booleans
    whether: bool  # it is asked whether (the target is 1 or -1), and not how much

    @cached_property
    def rows(self) -> np.ndarray:
        """(combinations, components): the symbol of each component."""
        return np.asarray(self.space.enumerate(), int)

    @property
    def held_out(self) -> np.ndarray:
        return ~self.trained


def addition(known: int) -> Problem:
    """Two symbols of nine have a value each; what is their sum? Trained: pairs with one of `known` symbols."""
    space = Product(first=len(VALUES), second=len(VALUES))
    rows = np.asarray(space.enumerate(), int)
    trained = np.asarray(np.isin(rows, ADDITION_KNOWN[known]).any(axis=1))
    return Problem(space, VALUES[rows].sum(1), trained, whether=False)


def context(left_out: int) -> Problem:
    """A context says which of two features counts; each has six symbols, of which three mean yes.

    Left out: `left_out` symbols of the first that mean no, with as many of the second that mean yes, in both contexts.
    Where it is all three ("CD-3"), the features disagree in one way only in training, and the context tells the answer
    wherever they do; in what was left out it tells the other.
    """
    space = Product(context=2, first=6, second=6)
    rows = np.asarray(space.enumerate(), int)
    counts = np.where(rows[:, 0] == 0, rows[:, 1], rows[:, 2])
    gone = (rows[:, 1] < left_out) & (rows[:, 2] >= 3) & (rows[:, 2] < 3 + left_out)
    return Problem(space, np.where(counts < 3, -1.0, 1.0), ~gone, whether=True)


def equivalence(shown: str) -> Problem:
    """Are two of eight symbols of the same class? Trained: pairs with the first symbol of either class.

    shown: the "symbols", or, in a control, the "classes" themselves, each pair of which was seen.
    """
    symbols, size = 8, 4
    rows = np.asarray(Product(first=symbols, second=symbols).enumerate(), int)
    same = rows[:, 0] // size == rows[:, 1] // size
    trained = (rows % size == 0).any(1)
    if shown == "symbols":
        return Problem(Product(first=symbols, second=symbols), np.where(same, 1.0, -1.0), trained, whether=True)
    # a symbol is told as its class and as which of the class it is; the latter is left out, and is noise
    space = Product(first=2, second=2, copy=size)
    classes = np.asarray(space.enumerate(), int)
    return Problem(space, np.where(classes[:, 0] == classes[:, 1], 1.0, -1.0), classes[:, 2] == 0, whether=True)


def problem_of(name: str, known: int, left_out: int, shown: str) -> Problem:
    """A problem by name."""
    if name == "addition":
        if known not in ADDITION_KNOWN:
            raise UserError(f"known={known} must be one of {', '.join(map(str, ADDITION_KNOWN))}")
        return addition(known)
    if name == "context":
        if left_out not in (1, 2, 3):
            raise UserError(f"left_out={left_out} must be 1, 2 or 3")
        return context(left_out)
    return equivalence(shown)
