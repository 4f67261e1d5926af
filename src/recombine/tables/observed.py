"""Data: rows of a table -> combinations with counts. One pass groups the rows; all else works on combinations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import listed, quoted
from ..spaces import Product, find
from .base import Source
from .coded import Coded, code
from .levels import enum_of, fetch_codes, refuse_unfit
from .outcome_forms import Roles
from .reading_options import Reading
from .roles import training_groups

_FITS = 2**62


@dataclass(frozen=True)
class Part:
    """What is known of one factor where each has an outcome of its own. Columns: in training and outside of it."""

    answers: np.ndarray  # (combinations, 2)
    right: np.ndarray  # (combinations, 2) sum of the outcomes
    alone: np.ndarray  # (combinations, 2) answers that are wrong about this factor and right about the others
    wrong: np.ndarray  # (combinations, 2) answers that are wrong about any factor


@dataclass
class Observed:
    """What the table holds, as distinct combinations of a space with counts."""

    space: Product
    rows: np.ndarray  # (combinations, factors), in order of rank
    trained: np.ndarray  # (combinations,) training rows, each counted by its weight: whole numbers where there are none
    tested: np.ndarray  # (combinations,) other rows, likewise
    answers: np.ndarray  # (combinations, 2): rows with an outcome, in training and outside of it, likewise
    right: np.ndarray  # (combinations, 2): sum of the outcomes
    total: int  # rows of the table
    left_out: int  # rows that lack a factor, or the split
    missing: dict[str, int]
    split: dict[str, dict[str, Any]] | None  # value -> {"rows": n, "trained": bool}
    outcome: str | None
    notes: list[str] = field(default_factory=list)
    roles: Roles = field(default_factory=Roles)
    reading: Reading = field(default_factory=Reading)
    parts: dict[str, Part] = field(default_factory=dict)  # by factor that has an outcome of its own

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(self.space.factors)

    @property
    def seen(self) -> np.ndarray:
        """Which combinations have a training row."""
        return self.trained > 0

    def about(self, factor: str) -> Observed:
        """The same combinations, whose answers are right or wrong about one factor."""
        part = self.parts[factor]
        return replace(
            self, answers=part.answers, right=part.right, outcome=self.roles.by_factor[factor].name, parts={}
        )

    def labels(self, row: Any) -> dict[str, str]:
        """A combination as factor -> level."""
        return {
            name: levels[i]
            for (name, levels), i in zip(self.space.factors.items(), np.asarray(row).tolist(), strict=True)
        }


def observe(
    coded: Coded, factors: Sequence[str], roles: Roles | None = None, reading: Reading | None = None
) -> Observed:
    """The combinations of the chosen factors. Rows that lack one of them are counted and left out."""
    roles = roles or Roles()
    at = [coded.names.index(name) for name in factors]
    codes = coded.codes[:, at].astype(np.int64)
    total = int(coded.rows.sum())
    levels = {name: coded.levels[i] for name, i in zip(factors, at, strict=True)}
    for name, found in levels.items():
        refuse_unfit(name, found, total)
    missing = {name: int(coded.rows[codes[:, i] < 0].sum()) for i, name in enumerate(factors)}
    if roles.split:
        missing[roles.split] = int(coded.rows[coded.split < 0].sum())
    whole = (codes >= 0).all(1) & (coded.split >= 0)
    if not whole.any():
        worst = max(missing, key=lambda name: missing[name])
        raise UserError(f"every row lacks {quoted(worst)} or another factor; no row is left")
    trains, about = training_groups(roles.split, coded, whole)
    rows, inverse = _distinct(codes[whole], [len(found) for found in levels.values()])
    # levels that only rows left out have are none of the space
    kept = [np.unique(rows[:, i]) for i in range(rows.shape[1])]
    space = Product(**{name: [found[j] for j in kept[i]] for i, (name, found) in enumerate(levels.items())})
    rows = np.stack([np.searchsorted(kept[i], rows[:, i]) for i in range(rows.shape[1])], axis=1)

    def sides(values: np.ndarray) -> np.ndarray:
        """(combinations, 2) sums over groups, in training and outside of it."""
        return _sides(inverse, values[whole], trains, len(rows)).astype(values.dtype)

    counted = sides(coded.weights)
    observed = Observed(
        space=space,
        rows=rows.astype(space.dtype),
        trained=counted[:, 0],
        tested=counted[:, 1],
        answers=sides(coded.answers),
        right=sides(coded.right),
        total=total,
        left_out=total - int(coded.rows[whole].sum()),
        missing=missing,
        split=about,
        outcome=coded.outcome,
        notes=list(coded.notes),
        roles=roles,
        reading=reading or Reading(),
        parts={name: Part(*map(sides, one)) for name, one in coded.parts.items()},
    )
    if observed.left_out:
        lacking = [f"{quoted(name)} in {n:,}" for name, n in missing.items() if n]
        observed.notes.append(
            f"{observed.left_out:,} of {total:,} rows lack a value and were left out ({listed(lacking)})"
        )
    return observed


def count_levels(source: Source, levels: Mapping[str, Sequence[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Combinations of known levels in a table, (n, factors), -1 for a level that is not known; the rows of each."""
    coded = code(source, list(levels))
    columns = []
    for i, (found, own) in enumerate(zip(coded.levels, levels.values(), strict=True)):
        place = {str(level): at for at, level in enumerate(own)}
        columns.append(np.array([*(place.get(level, -1) for level in found), -1])[coded.codes[:, i]])
    return np.stack(columns, axis=1), coded.rows


def row_codes(
    source: Source, observed: Observed, split: str | None, identity: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """For every row in order: the position of its combination (-1 if it was left out), and its id as text."""
    names = [*observed.factors, *([split] if split else []), *([identity] if identity else [])]
    relation, parameters = source.relation(names)
    width = len(observed.factors)
    kinds = [enum_of(source, name) for name in observed.factors]
    shown = [f"enum_code(TRY_CAST(v{i} AS {kind})) AS k{i}" for i, kind in enumerate(kinds)]
    shown += [f"v{width} IS NULL AS lacks"] if split else []
    shown += [f"v{len(names) - 1} AS id"] if identity else []
    found = source.run(f"SELECT {', '.join(shown)} FROM {relation}", parameters).fetchnumpy()
    columns = []
    for i, (kind, levels) in enumerate(zip(kinds, observed.space.factors.values(), strict=True)):
        place = {level: j for j, level in enumerate(levels)}
        there = [row[0] for row in source.run(f"SELECT unnest(enum_range(CAST(NULL AS {kind})))").fetchall()]
        columns.append(np.array([*(place.get(level, -1) for level in there), -1])[fetch_codes(found[f"k{i}"])])
    codes = np.stack(columns, axis=1)
    lacks = np.asarray((codes < 0).any(axis=1))
    if split:
        lacks = lacks | np.asarray(found["lacks"], dtype=bool)
    at = find(observed.space, observed.rows, np.where(lacks[:, None], 0, codes))
    at = np.where(lacks, -1, at)
    if not identity:
        return at, None
    ids = np.ma.asarray(found["id"], dtype=object)
    known = np.ma.getdata(ids).copy()
    known[np.ma.getmaskarray(ids)] = None  # `filled` would write '?' for None
    return at, known


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
