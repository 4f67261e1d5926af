"""Roles of columns: which rows a split calls training rows, and what an outcome says was right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UserError
from ..labels import listed, quoted, visible
from .base import Source

if TYPE_CHECKING:
    from .coded import Coded

TRAIN_WORDS = ("train", "training", "trained")
RIGHT = ("true", "t", "yes", "y", "right", "correct", "pass", "passed", "success", "ok")
WRONG = ("false", "f", "no", "n", "wrong", "incorrect", "fail", "failed", "failure", "error")


def training_groups(
    split: str | None, coded: Coded, whole: np.ndarray
) -> tuple[np.ndarray, dict[str, dict[str, Any]] | None]:
    """Which of the whole groups are training rows, and what each value of the split is taken for."""
    if not split:
        return np.ones(int(whole.sum()), dtype=bool), None
    words = TRAIN_WORDS + (("true", "1", "yes") if "train" in split.casefold() else ())
    trains = np.array([value.strip().casefold() in words for value in coded.split_values])
    shown = listed([quoted(value) for value in coded.split_values], 6)
    if not trains.any():
        raise UserError(f"the split {quoted(split)} has the values {shown}; training rows must say 'train'")
    found = trains[coded.split[whole]]
    if not found.any():
        raise UserError(f"no training row of the split {quoted(split)} has all its factors; nothing counts as seen")
    if found.all():
        coded.notes.append(
            f"the split {quoted(split)} has training rows only, so no outcome of an unseen combination is known"
        )
    about = {
        value: {"rows": int(coded.rows[whole][coded.split[whole] == i].sum()), "trained": bool(trains[i])}
        for i, value in enumerate(coded.split_values)
    }
    return found, about


def outcome_sql(column: str) -> str:
    """Words for right and wrong, or a finite number; NULL for anything else."""
    right = ", ".join(f"'{word}'" for word in RIGHT)
    wrong = ", ".join(f"'{word}'" for word in WRONG)
    number = f"try_cast({column} AS DOUBLE)"
    return (
        f"CASE WHEN lower(trim({column})) IN ({right}) THEN 1.0 WHEN lower(trim({column})) IN ({wrong}) THEN 0.0 "
        f"WHEN isfinite({number}) AND abs({number}) < 1e15 THEN {number} END"
    )


def check_outcome(source: Source, name: str, low: float | None, high: float | None) -> None:
    """Raises unless the outcomes of a table, from low to high, lie between 0 and 1."""
    wanted = "give 1 for right and 0 for wrong (or true and false), a score between 0 and 1, or an expression such as "
    wanted += f"{quoted(f'{visible(name, 40)} < 2' if name.isidentifier() else 'abs_error < 2')}"
    if low is None or high is None:
        raise UserError(f"the outcome {quoted(name)} is empty in every row; {wanted}")
    if low < 0 or high > 1:
        raise UserError(f"the outcome {quoted(name)} goes from {low:g} to {high:g}; {wanted}")
    if visible(name).casefold().startswith(("fail", "err", "wrong", "loss", "incorrect")) and name in source.columns:
        source.notes.append(
            f"the outcome {quoted(name)} is read as 1 = right; if it marks failures, turn it around: "
            f"{quoted(f'{name} = 0')}"
        )


def refuse_cell(outcome: str, column: str, cell: str, plain: bool) -> UserError:
    """The error of a cell that an outcome cannot read."""
    if plain:
        wanted = "give 1 for right and 0 for wrong (or true and false), or a score between 0 and 1"
        return UserError(f"the outcome {quoted(outcome)} has the value {quoted(cell)}; {wanted}")
    return UserError(
        f"the outcome {quoted(outcome)} reads {quoted(column)} as a number or as right and wrong, and it has the value "
        f"{quoted(cell)}; empty such cells: they count as no answer"
    )
