"""`rc.split`: the user's own table into training, validation, test and held-out rows, certified."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..errors import UserError, require_int, require_number
from ..labels import quoted
from ..spaces import Partial
from ..supports import Support
from ..supports.sides import ListedSide
from ..tables import Source, open_source, read_combinations, reading_of, row_codes
from .remedies import refuse_factor_as_group, refuse_one_factor
from .set_apart import set_apart
from .split_result import LEFT_OUT, SETS, Split
from .table_designs import WHOLE_GROUPS, hold_out, option_names
from .together import Groups, groups_of, refuse_cut, units_of


def split(
    data: Any,
    factors: Any = None,
    *,
    design: str = "random",
    held_out: float | None = None,
    validation: float = 0.1,
    test: float = 0.1,
    group: str | None = None,
    bin: Any = None,
    date: Any = None,
    missing: str | None = None,
    seed: int = 0,
    **options: Any,
) -> Split:
    """A certified compositional split of a table: what is held out are combinations that training never has.

    Rows of trained combinations that are set apart make validation and test sets, so that there is a score on known
    combinations to compare with; each trained combination keeps a row to train on. A row that lacks the value of a
    factor has no known combination: it goes into none of the four sets and is counted as left out.

    Args:
        data: a path or glob (.csv, .tsv, .jsonl, .parquet) or a list of them, a pandas, polars or arrow table, a data
            set of Hugging Face, or a mapping of columns.
        factors: columns that are combined, as a list or "a,b,c"; proposed if left out.
        design: which combinations are held out: random, pairs, missing, disconnected, orthotope, divergence, ...
            (`recombine.splitting.DESIGNS`; `recombine.supports` says what each is).
        held_out: share of the combinations that is held out, where the design leaves it open (default: a fifth).
        validation: share of the rows of trained combinations.
        test: likewise.
        group: column whose rows of the same value stay in one set, such as the drive or the patient.
        bin: columns of numbers as bins, as for `rc.audit`; the rows that are written keep their numbers.
        date: columns of dates by month, weekday and so on.
        missing: "level" makes a level of missing values; rows without a value are left out otherwise.
        seed: of what is drawn.
        options: settings of the design, such as elements=["color=red"] for missing or atoms=.02 for divergence.

    Example:
        >>> parts = rc.split(rc.example("drives"), "weather,light,road,vehicle", design="pairs", held_out=0.2)
        >>> parts.factors
        ('weather', 'light', 'road', 'vehicle')
    """
    require_int("seed", seed, at_least=0)
    shares = _shares(validation, test)
    option_names(design)  # known by name, before anything is read
    reading = reading_of(bin, date, missing)
    asked = {"design": design, "held_out": held_out, "validation": validation, "test": test, "group": group}
    asked |= {"bin": bin, "date": date, "missing": missing, "seed": seed}

    def otherwise(**changes: Any) -> Split:
        return split(data, **(asked | ({} if "design" in changes else options) | changes))

    with open_source(data) as source:
        if group is not None:
            _check_group(source, group)
            refuse_factor_as_group(source, factors, asked, otherwise)
        observed, choice = read_combinations(source, factors, reading=reading, taken=[group])
        refuse_one_factor(source, choice.factors, asked, otherwise)
        combinations, values = row_codes(source, observed, None, group)
        origin = source.origin
    groups = None if group is None or values is None else groups_of(group, values)
    space = Partial(observed.space, observed.rows)
    rows = observed.trained + observed.tested
    notes = list(observed.notes)
    units = units_of(combinations, space.size, groups)
    support = hold_out(space, design, held_out, options, seed=seed, weights=rows, units=units, notes=notes)
    held = support.held_out.contains(space.table)
    refuse_cut(held, combinations, groups, design, " and ".join(WHOLE_GROUPS))
    support = _weighed(support, rows)
    sets = _sets_of_rows(combinations, held, shares, groups, seed)
    return Split(
        data=source.name,
        choice=choice,
        support=support,
        sets=sets,
        combinations=combinations,
        group=group,
        seed=seed,
        shares=shares,
        missing=observed.missing,
        notes=notes,
        origin=origin,
        reading=observed.reading,
    )


def _shares(validation: Any, test: Any) -> tuple[float, float]:
    shares = tuple(require_number(n, v, at_least=0) for n, v in (("validation", validation), ("test", test)))
    if sum(shares) >= 1:
        raise UserError(
            f"validation={validation:g} and test={test:g} leave no row to train on; they must add up to less than 1"
        )
    return shares[0], shares[1]


def _check_group(source: Source, group: Any) -> None:
    if not isinstance(group, str):
        raise UserError(f"group={group!r} is not the name of a column")
    if source.column(group, "the group").kind == "nested":
        raise UserError(f"the group {quoted(group)} holds lists or records; one plain value per row is needed")


def _weighed(support: Support, rows: np.ndarray) -> Support:
    """The same split, in which a combination counts as often as the table has it."""
    sides = {
        name: ListedSide(support.space, side.ranks, rows[side.ranks].astype(float))
        for name, side in (("train", support.train), ("held_out", support.held_out))
        if isinstance(side, ListedSide)
    }
    return dataclasses.replace(support, **sides)


def _sets_of_rows(
    combinations: np.ndarray, held: np.ndarray, shares: tuple[float, float], groups: Groups | None, seed: int
) -> np.ndarray:
    """(rows,) the number of the set that each row goes into."""
    sets = np.full(len(combinations), LEFT_OUT, np.int8)
    there = combinations >= 0
    out = np.zeros(len(combinations), bool)
    out[there] = held[combinations[there]]
    sets[out] = SETS.index("held_out")
    known = np.flatnonzero(there & ~out)
    own = None if groups is None else Groups(groups.column, groups.names, groups.of_row[known])
    sets[known] = set_apart(combinations[known], shares, own, seed)
    return sets
