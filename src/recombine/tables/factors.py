"""Factors: which columns can be combined. Proposed where the user names none, with a reason for each that is not."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import listed, quoted, visible
from .answers import is_split, looks_by_name, looks_like_right, predictions_by_content
from .base import Source
from .coded import Coded

PROPOSED_LEVELS = 50  # a column with more is not proposed
PROPOSED_FACTORS = 10
MOST_FACTORS = 200
_MOST_PROFILED = 500  # columns
_PRESENT = 0.8  # share of the rows in which a proposed factor has a value
_ROWS_A_LEVEL = 5  # fewer rows than this for each level show no dependence of one column on another


@dataclass(frozen=True)
class Choice:
    """The factors, and why other columns were left out."""

    factors: tuple[str, ...]
    proposed: bool
    left_out: dict[str, str]

    def sentence(self) -> str:
        """What was chosen, in words."""
        if not self.proposed:
            return f"factors as asked: {listed([quoted(n) for n in self.factors], 12)}"
        why = listed([f"{quoted(name)} ({reason})" for name, reason in self.left_out.items()], 12)
        return f"proposed factors: {listed([quoted(n) for n in self.factors], 12)}" + (
            f"; left out: {why}" if why else ""
        )


def named(source: Source, factors: Any, taken: Collection[str | None]) -> list[str]:
    """The factors the user named, checked."""
    if isinstance(factors, str):
        factors = [name for name in factors.split(",")]
    if not isinstance(factors, Iterable):
        raise UserError(f"factors={factors!r} names no columns; give a list of names, or 'a,b,c'")
    chosen: list[str] = []
    for name in factors:
        name = str(name)
        if name not in source.columns and name.strip() in source.columns:
            name = name.strip()
        source.column(name, "a factor")
        if name in chosen:
            raise UserError(f"the factor {quoted(name)} is named twice")
        if name in taken:
            raise UserError(
                f"{quoted(name)} cannot be a factor and the split, the outcome, the weight or the id at once"
            )
        if source.reads(name).kind == "nested":
            inside = [quoted(other) for other in source.columns if other.startswith(f"{name}.")]
            held = f"; there are {listed(inside)} in it" if inside else ""
            raise UserError(f"{quoted(name)} holds lists or records; a factor has one plain value per row{held}")
        chosen.append(name)
    if not chosen:
        raise UserError("no factor is named; leave --factors out to have some proposed")
    if len(chosen) > MOST_FACTORS:
        raise UserError(f"{len(chosen):,} factors are more than {MOST_FACTORS}; name those that matter")
    return chosen


def candidates(
    source: Source, taken: Collection[str | None], used: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Columns that could be factors by themselves, and why the others could not.

    Args:
        source: the table.
        taken: columns with another role.
        used: further columns that are not proposed, and why.
    """
    left_out: dict[str, str] = dict(used or {})
    free = [name for name in source.columns if name not in taken and name not in left_out]
    if len(free) > _MOST_PROFILED:
        raise UserError(f"{source.name} has {len(free):,} columns; name the factors among them with --factors")
    plain = []
    for name in free:
        if source.reads(name).kind == "nested":
            left_out[name] = "lists or records"
        elif why := None if name in source.derived else looks_by_name(name, source.columns[name].kind):
            left_out[name] = why
        else:
            plain.append(name)
    if not plain:
        why = listed([f"{visible(name, 40)}: {reason}" for name, reason in left_out.items()], 4)
        raise UserError(f"{source.name} has no column that could be a factor ({why}); name some with --factors")
    relation, parameters = source.relation(plain)
    counts = ", ".join(f"approx_count_distinct(v{i}), count(v{i})" for i in range(len(plain)))
    rows, *found = source.run(f"SELECT count(*), {counts} FROM {relation}", parameters).fetchone()
    if not rows:
        raise UserError(f"{source.name} has a header and no rows")
    chosen = []
    for name, levels, present in zip(plain, found[::2], found[1::2], strict=True):
        kind = source.reads(name).kind
        if not present:
            left_out[name] = "empty"
        elif present < _PRESENT * rows:
            left_out[name] = f"empty in {1 - present / rows:.0%} of the rows; --missing level keeps them"
        elif levels < 2:
            left_out[name] = "one level only"
        elif kind == "time" and levels > 12:
            left_out[name] = "dates or times; --date month"
        elif kind == "decimal" and levels > 20:
            left_out[name] = "a measurement; --bin"
        elif levels > rows / 2 and rows > 20:
            left_out[name] = "another value in nearly every row"
        elif levels > PROPOSED_LEVELS:
            left_out[name] = f"about {levels:,} levels"
        else:
            chosen.append(name)
    for name in chosen[PROPOSED_FACTORS:]:
        left_out[name] = f"not among the first {PROPOSED_FACTORS}"
    return chosen[:PROPOSED_FACTORS], left_out


def propose(coded: Coded, left_out: dict[str, str], outcome: str | None) -> Choice:
    """Candidates that are no function of another one and do not give the outcome away."""
    left_out = dict(left_out)
    kept = []
    for i, name in enumerate(coded.names):
        levels = len(coded.levels[i])
        if levels < 2:
            left_out[name] = "one level only"
        elif is_split(coded.levels[i]):
            left_out[name] = "a split; name it with --split"
        elif looks_like_right(name, coded.levels[i]):
            left_out[name] = "an outcome; name it with --outcome"
        elif outcome and _tells_the_outcome(coded, i):
            left_out[name] = f"tells the outcome {quoted(outcome)} apart"
        else:
            kept.append(i)
    predicted = predictions_by_content(coded, kept)
    left_out |= {coded.names[i]: why for i, why in predicted.items()}
    kept = [i for i in kept if i not in predicted]
    enough = coded.rows.sum() >= _ROWS_A_LEVEL * max((len(coded.levels[i]) for i in kept), default=0)
    dropped: set[int] = set()
    for a, b in itertools.permutations(kept, 2) if enough else ():
        if a in dropped or b in dropped or not is_function(coded.codes[:, a], coded.codes[:, b]):
            continue
        if is_function(coded.codes[:, b], coded.codes[:, a]) and b < a:  # the same column twice: the first stays
            continue
        dropped.add(b)
        left_out[coded.names[b]] = f"a function of {quoted(coded.names[a])}"
    factors = tuple(coded.names[i] for i in kept if i not in dropped)
    if not factors:
        why = listed([f"{visible(name, 40)}: {reason}" for name, reason in left_out.items()], 4)
        raise UserError(f"no column could be proposed as a factor ({why}); name some with --factors")
    return Choice(factors, True, left_out)


def is_function(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the code in b is the same wherever the code in a is. Missing values count as a level."""
    a, b = a.astype(np.int64) + 1, b.astype(np.int64) + 1
    return len(np.unique(a * (b.max() + 1) + b)) == len(np.unique(a))


def _tells_the_outcome(coded: Coded, i: int) -> bool:
    """A column whose levels are all right or all wrong, both of them and in enough rows, is the outcome again."""
    there = coded.codes[:, i] >= 0
    answers = np.bincount(coded.codes[there, i], weights=coded.answers[there])
    right = np.bincount(coded.codes[there, i], weights=coded.right[there])
    used = answers > 0
    share = right[used] / answers[used]
    return len(share) == 2 and set(share.tolist()) == {0.0, 1.0} and bool((answers[used] >= 20).all())
