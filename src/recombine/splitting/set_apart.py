"""Rows of trained combinations that are set apart for validation and test; each combination keeps a row to train on."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ..errors import UserError
from ..keys import generator, key_for
from ..labels import quoted
from .together import Groups

NAMES = ("validation", "test")


def set_apart(combinations: np.ndarray, shares: tuple[float, float], groups: Groups | None, seed: int) -> np.ndarray:
    """(rows,): 0 for training, 1 for validation, 2 for test.

    Args:
        combinations: (rows,) the combination of each row; all of them are trained.
        shares: of the rows, for validation and for test.
        groups: of these rows, which are not cut.
        seed: of the draw.
    """
    rng = generator(key_for("split-rows", seed))
    numbers = [0 if not share else max(1, round(share * len(combinations))) for share in shares]
    if groups is None:
        return _by_row(combinations, numbers, shares, rng)
    return _by_group(combinations, numbers, shares, groups, rng)


def _by_row(combinations: np.ndarray, numbers: list[int], shares: tuple[float, float], rng: np.random.Generator):
    order = rng.permutation(len(combinations))
    _, first = np.unique(combinations[order], return_index=True)  # the first row of each combination is trained on
    free = np.delete(order, first)
    if sum(numbers) > len(free):
        largest = len(free) / len(combinations)
        raise UserError(
            f"validation={shares[0]:g} and test={shares[1]:g} of {len(combinations):,} rows are {sum(numbers):,} rows, "
            f"and {len(free):,} can be set apart, as each combination keeps one row to train on; the two may add up to "
            f"{np.floor(largest * 1000) / 1000:g} at most"
        )
    sets = np.zeros(len(combinations), np.int8)
    sets[free[: numbers[0]]] = 1
    sets[free[numbers[0] : sum(numbers)]] = 2
    return sets


def _by_group(
    combinations: np.ndarray, numbers: list[int], shares: tuple[float, float], groups: Groups, rng: np.random.Generator
) -> np.ndarray:
    """Whole groups in a drawn order, each that brings the number of rows nearer and takes no combination's last row."""
    present, of_row = np.unique(groups.of_row, return_inverse=True)
    table = scipy.sparse.coo_array((np.ones(len(of_row), np.int64), (of_row, combinations))).tocsr()  # rows of each
    sizes, left = np.bincount(of_row), np.bincount(combinations)
    chosen = np.zeros(len(present), np.int8)
    for number, wanted in enumerate(numbers, 1):
        found = 0
        for group in rng.permutation(np.flatnonzero(chosen == 0)).tolist() if wanted else ():
            if found >= wanted:
                break
            if abs(found + int(sizes[group]) - wanted) >= wanted - found:
                continue
            own = slice(table.indptr[group], table.indptr[group + 1])
            at, counts = table.indices[own], table.data[own]
            if (left[at] > counts).all():
                left[at] -= counts
                chosen[group], found = number, found + int(sizes[group])
        if wanted and not found:
            raise UserError(
                f"no group of {quoted(groups.column)} can be set apart for {NAMES[number - 1]}="
                f"{shares[number - 1]:g}: each has the last row of a combination, or too many rows; set it to 0"
            )
    return chosen[of_row]
