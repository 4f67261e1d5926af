"""Data: rows of a table -> combinations with counts. One pass groups the rows; all else works on combinations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import listed, quoted, visible
from ..spaces import Product
from .seen import find
from .sources import Source

MOST_LEVELS = 5_000  # of one factor
CONTINUOUS_LEVELS = 50  # a factor of decimal numbers with more levels than this is a measurement
TRAIN_WORDS = ("train", "training", "trained")
_RIGHT = ("true", "t", "yes", "y", "right", "correct", "pass", "passed", "success", "ok")
_WRONG = ("false", "f", "no", "n", "wrong", "incorrect", "fail", "failed", "failure", "error")
_FITS = 2**62


@dataclass
class Coded:
    """Groups of rows that agree in every candidate and in the split. Codes are positions in `levels`; -1 is missing."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: np.ndarray  # (groups, candidates)
    split: np.ndarray  # (groups,) position in split_values; -1 is missing
    split_values: tuple[str, ...]
    rows: np.ndarray  # (groups,) number of rows
    answers: np.ndarray  # (groups,) rows with an outcome
    right: np.ndarray  # (groups,) sum of the outcomes
    notes: list[str] = field(default_factory=list)


@dataclass
class Observed:
    """What the table holds, as distinct combinations of a space with counts."""

    space: Product
    rows: np.ndarray  # (combinations, factors), in order of rank
    trained: np.ndarray  # (combinations,) training rows
    tested: np.ndarray  # (combinations,) other rows
    answers: np.ndarray  # (combinations, 2): rows with an outcome, in training and outside of it
    right: np.ndarray  # (combinations, 2): sum of the outcomes
    total: int  # rows of the table
    left_out: int  # rows that lack a factor, or the split
    missing: dict[str, int]
    split: dict[str, dict[str, Any]] | None  # value -> {"rows": n, "trained": bool}
    outcome: str | None
    notes: list[str] = field(default_factory=list)

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(self.space.factors)

    @property
    def seen(self) -> np.ndarray:
        """Which combinations have a training row."""
        return self.trained > 0

    def labels(self, row: Any) -> dict[str, str]:
        """A combination as factor -> level."""
        return {
            name: levels[i]
            for (name, levels), i in zip(self.space.factors.items(), np.asarray(row).tolist(), strict=True)
        }


def code(source: Source, candidates: Sequence[str], split: str | None, outcome: str | None) -> Coded:
    """Groups the rows by the candidate factors and the split, in one pass over the source."""
    names = [*candidates, *([split] if split else []), *([outcome] if outcome else [])]
    n = len(candidates)
    relation, parameters = source.relation(names)
    keys = [f"v{i}" for i in range(n)] + ([f"v{n}"] if split else [])
    given = f"v{len(names) - 1}" if outcome else "NULL"
    parsed = _outcome_sql(given) if outcome else "NULL"
    source.run("DROP TABLE IF EXISTS grouped")
    source.run(
        f"CREATE TEMP TABLE grouped AS SELECT {', '.join(keys)}, count(*) AS n, count(o) AS answers, "
        # decimals add up to the same sum in any order, so that threads change nothing
        "sum(CAST(o AS DECIMAL(28, 9))) AS good, min(o) AS low, max(o) AS high, min(bad) AS bad "
        f"FROM (SELECT *, {parsed} AS o, CASE WHEN {given} IS NOT NULL AND {parsed} IS NULL THEN {given} END AS bad "
        f"FROM {relation}) GROUP BY {', '.join(keys)}",
        parameters,
    )
    if outcome:
        _check_outcome(source, outcome)
    levels, codes = [], []
    for i, name in enumerate(candidates):
        found, column = _encode(source, f"v{i}", name)
        levels.append(found)
        codes.append(column)
    split_values, split_codes = _encode(source, f"v{n}", split or "") if split else ((), None)
    fetched = source.run("SELECT n, answers, coalesce(CAST(good AS DOUBLE), 0) AS good FROM grouped").fetchnumpy()
    rows = np.asarray(fetched["n"], dtype=np.int64)
    if not len(rows):
        raise UserError(f"{source.name} has a header and no rows")
    coded = Coded(
        tuple(candidates), tuple(levels), np.stack(codes, axis=1) if codes else np.zeros((len(rows), 0), np.int32),
        split_codes if split_codes is not None else np.zeros(len(rows), np.int32), tuple(split_values), rows,
        np.asarray(fetched["answers"], dtype=np.int64), np.asarray(fetched["good"], dtype=float), list(source.notes),
    )  # fmt: skip
    coded.notes += [
        note for name, found in zip(coded.names, coded.levels, strict=True) for note in lookalikes(name, found)
    ]
    return coded


def observe(coded: Coded, factors: Sequence[str], split: str | None, outcome: str | None) -> Observed:
    """The combinations of the chosen factors. Rows that lack one of them are counted and left out."""
    at = [coded.names.index(name) for name in factors]
    codes = coded.codes[:, at].astype(np.int64)
    total = int(coded.rows.sum())
    levels = {name: coded.levels[i] for name, i in zip(factors, at, strict=True)}
    for name, found in levels.items():
        _refuse_unfit(name, found, total)
    missing = {name: int(coded.rows[codes[:, i] < 0].sum()) for i, name in enumerate(factors)}
    if split:
        missing[split] = int(coded.rows[coded.split < 0].sum())
    whole = (codes >= 0).all(1) & (coded.split >= 0)
    if not whole.any():
        worst = max(missing, key=lambda name: missing[name])
        raise UserError(f"every row lacks {quoted(worst)} or another factor; nothing is left to audit")
    trains, about = _training(split, coded, whole)
    rows, inverse = _distinct(codes[whole], [len(found) for found in levels.values()])
    # levels that only rows left out have are none of the space
    kept = [np.unique(rows[:, i]) for i in range(rows.shape[1])]
    space = Product(**{name: [found[j] for j in kept[i]] for i, (name, found) in enumerate(levels.items())})
    rows = np.stack([np.searchsorted(kept[i], rows[:, i]) for i in range(rows.shape[1])], axis=1)
    observed = Observed(
        space=space,
        rows=rows.astype(space.dtype),
        trained=_sum(inverse, coded.rows[whole] * trains, len(rows)).astype(np.int64),
        tested=_sum(inverse, coded.rows[whole] * ~trains, len(rows)).astype(np.int64),
        answers=_sides(inverse, coded.answers[whole], trains, len(rows)).astype(np.int64),
        right=_sides(inverse, coded.right[whole], trains, len(rows)),
        total=total,
        left_out=total - int(coded.rows[whole].sum()),
        missing=missing,
        split=about,
        outcome=outcome,
        notes=list(coded.notes),
    )
    if observed.left_out:
        lacking = [f"{quoted(name)} in {n:,}" for name, n in missing.items() if n]
        observed.notes.append(
            f"{observed.left_out:,} of {total:,} rows lack a value and were left out ({listed(lacking)})"
        )
    return observed


def row_codes(
    source: Source, observed: Observed, split: str | None, identity: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """For every row in order: the position of its combination (-1 if it was left out), and its id as text."""
    names = [*observed.factors, *([split] if split else []), *([identity] if identity else [])]
    relation, parameters = source.relation(names)
    width = len(observed.factors)
    kinds = [_enum(source, name) for name in observed.factors]
    shown = [f"enum_code(TRY_CAST(v{i} AS {kind})) AS k{i}" for i, kind in enumerate(kinds)]
    shown += [f"v{width} IS NULL AS lacks"] if split else []
    shown += [f"v{len(names) - 1} AS id"] if identity else []
    found = source.run(f"SELECT {', '.join(shown)} FROM {relation}", parameters).fetchnumpy()
    columns = []
    for i, (kind, levels) in enumerate(zip(kinds, observed.space.factors.values(), strict=True)):
        place = {level: j for j, level in enumerate(levels)}
        there = [row[0] for row in source.run(f"SELECT unnest(enum_range(CAST(NULL AS {kind})))").fetchall()]
        columns.append(np.array([*(place.get(level, -1) for level in there), -1])[_fetch_codes(found[f"k{i}"])])
    codes = np.stack(columns, axis=1)
    lacks = np.asarray((codes < 0).any(axis=1))
    if split:
        lacks = lacks | np.asarray(found["lacks"], dtype=bool)
    at = find(observed.space, observed.rows, np.where(lacks[:, None], 0, codes))
    at = np.where(lacks, -1, at)
    return at, (np.ma.filled(np.ma.asarray(found["id"], dtype=object), None) if identity else None)


def lookalikes(name: str, levels: Sequence[str]) -> list[str]:
    """Levels that differ only in case, spaces or the spelling of a number: kept apart, and said."""
    groups: dict[Any, list[str]] = {}
    for level in levels:
        try:
            key: Any = float(level)
            key = level.strip().casefold() if not math.isfinite(key) else key
        except ValueError:
            key = " ".join(level.split()).casefold()
        groups.setdefault(key, []).append(level)
    same = [group for group in groups.values() if len(group) > 1]
    if not same:
        return []
    first = listed([quoted(level) for level in same[0]])
    more = f", and {len(same) - 1:,} more such groups" if len(same) > 1 else ""
    return [f"{quoted(name)} has levels that differ only in spelling ({first}{more}); they are kept apart"]


# -- one column -------------------------------------------------------------------------------------------------------
def _encode(source: Source, column: str, name: str) -> tuple[tuple[str, ...], np.ndarray]:
    """Levels in their natural order, and the code of every group."""
    count = source.run(f"SELECT count(DISTINCT {column}) FROM grouped").fetchone()[0]
    if count > MOST_LEVELS:
        raise UserError(
            f"{quoted(name)} has {count:,} levels, more than {MOST_LEVELS:,}; put them in bins, or leave it out"
        )
    if not count:
        return (), np.full(source.run("SELECT count(*) FROM grouped").fetchone()[0], -1, np.int32)
    kind = _enum(source, name)
    source.run(f"DROP TYPE IF EXISTS {kind}")
    source.run(
        f"CREATE TYPE {kind} AS ENUM (SELECT DISTINCT {column} FROM grouped WHERE {column} IS NOT NULL ORDER BY 1)"
    )
    levels = [row[0] for row in source.run(f"SELECT unnest(enum_range(CAST(NULL AS {kind})))").fetchall()]
    order = sorted(range(len(levels)), key=_natural(levels))
    codes = _fetch_codes(source.run(f"SELECT enum_code(CAST({column} AS {kind})) AS k FROM grouped").fetchnumpy()["k"])
    return tuple(levels[i] for i in order), np.append(np.argsort(order), -1).astype(np.int32)[codes]


def _enum(source: Source, name: str) -> str:
    """The DuckDB type that holds the levels of a column, in DuckDB's order."""
    return f"levels_{list(source.columns).index(name)}"


def _fetch_codes(column: Any) -> np.ndarray:
    """Codes of an enumeration; -1 where there is none."""
    return np.ma.filled(np.ma.asarray(column).astype(np.int64), -1)


def _natural(levels: list[str]) -> Any:
    """Numbers by size, text by its characters."""
    try:
        numbers = [float(level) for level in levels]
    except ValueError:
        return lambda i: levels[i]
    if any(math.isnan(number) for number in numbers):
        return lambda i: levels[i]
    return lambda i: (numbers[i], levels[i])


def _refuse_unfit(name: str, levels: Sequence[str], rows: int) -> None:
    if not levels:
        raise UserError(f"the factor {quoted(name)} is empty in every row")
    if len(levels) > max(50, rows / 2):
        raise UserError(
            f"{quoted(name)} has {len(levels):,} levels in {rows:,} rows: it looks like an id and not like a factor"
        )
    if len(levels) > CONTINUOUS_LEVELS and any(not level.lstrip("-").isdigit() for level in levels):
        try:
            [float(level) for level in levels]
        except ValueError:
            return
        raise UserError(
            f"{quoted(name)} has {len(levels):,} different decimal numbers: it is a measurement; put it in bins first"
        )


# -- the split and the outcome ----------------------------------------------------------------------------------------
def _training(
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


def _outcome_sql(column: str) -> str:
    """Words for right and wrong, or a finite number; NULL for anything else."""
    right = ", ".join(f"'{word}'" for word in _RIGHT)
    wrong = ", ".join(f"'{word}'" for word in _WRONG)
    number = f"try_cast({column} AS DOUBLE)"
    return (
        f"CASE WHEN lower(trim({column})) IN ({right}) THEN 1.0 WHEN lower(trim({column})) IN ({wrong}) THEN 0.0 "
        f"WHEN isfinite({number}) AND abs({number}) < 1e15 THEN {number} END"
    )


def _check_outcome(source: Source, name: str) -> None:
    low, high, bad, answers = source.run("SELECT min(low), max(high), min(bad), sum(answers) FROM grouped").fetchone()
    wanted = "give 1 for right and 0 for wrong (or true and false), or a score between 0 and 1"
    if bad is not None:
        raise UserError(f"the outcome {quoted(name)} has the value {quoted(bad)}; {wanted}")
    if not answers:
        raise UserError(f"the outcome {quoted(name)} is empty in every row; {wanted}")
    if low < 0 or high > 1:
        raise UserError(f"the outcome {quoted(name)} goes from {low:g} to {high:g}; {wanted}")
    if visible(name).casefold().startswith(("fail", "err", "wrong", "loss", "incorrect")):
        source.notes.append(f"the outcome {quoted(name)} is read as 1 = right; if it marks failures, turn it around")


# -- groups into combinations -----------------------------------------------------------------------------------------
def _distinct(codes: np.ndarray, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows in order of rank, and where each row went."""
    if math.prod(sizes) < _FITS:
        strides = np.array([math.prod(sizes[i + 1 :]) for i in range(len(sizes))], dtype=np.int64)
        ranks, first, inverse = np.unique(codes @ strides, return_index=True, return_inverse=True)
        return codes[first], inverse
    rows, inverse = np.unique(codes, axis=0, return_inverse=True)
    return rows, inverse.ravel()


def _sum(inverse: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(inverse, weights=values, minlength=n)


def _sides(inverse: np.ndarray, values: np.ndarray, trains: np.ndarray, n: int) -> np.ndarray:
    return np.stack([_sum(inverse, values * trains, n), _sum(inverse, values * ~trains, n)], axis=1)
