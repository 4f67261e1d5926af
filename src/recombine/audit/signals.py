"""Signals of the model itself as features of combinations: how confident it is, and how much several runs disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import UserError
from ..labels import quoted
from ..spaces import find
from ..tables import Observed, Source, row_codes

_EDGE = 1e-4  # confidence is kept so far from 0 and 1, where log odds end


def signals(
    source: Source, observed: Observed, confidence: str | None, members: Sequence[str], split: str | None
) -> dict[str, np.ndarray]:
    """(combinations,) means over the rows of each: log odds of confidence, and disagreement; NaN where there are none.

    Args:
        source: the table.
        observed: its combinations.
        confidence: a column from 0 to 1.
        members: columns with the predictions of several seeds or checkpoints.
        split: the column that marks training rows.
    """
    if confidence is None and not members:
        return {}
    at, _ = row_codes(source, observed, split, None)
    found = {}
    if confidence is not None:
        share = np.clip(_confidence(source, confidence), _EDGE, 1 - _EDGE)
        found["confidence"] = _means(np.log(share / (1 - share)), at, len(observed.rows))
    if members:
        found["disagreement"] = _means(_disagreement(source, members), at, len(observed.rows))
    return found


def lookup(observed: Observed, known: Sequence[np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Rows of levels -> (n, signals), standardized; 0, the mean, for combinations of which nothing is known."""
    scaled = []
    for values in known:
        there = values[~np.isnan(values)]
        mean, scale = (float(there.mean()), float(there.std()) or 1.0) if len(there) else (0.0, 1.0)
        scaled.append(np.append(np.nan_to_num((values - mean) / scale, nan=0.0), 0.0))  # -1 reads the last

    def more(rows: np.ndarray) -> np.ndarray:
        at = find(observed.space, observed.rows, np.asarray(rows).astype(observed.space.dtype))
        return np.stack([values[at] for values in scaled], axis=1)

    return more


def unreadable(observed: Observed, readable: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(n,) one minus the share of right readings of the least readable level of each combination.

    Args:
        observed: the table.
        readable: of each level of the space, how often a probe reads it right; NaN where it was not probed.
        rows: of levels.
    """
    read = readable[observed.space.elements(np.asarray(rows)).astype(np.int64)]
    known = ~np.isnan(read)
    return np.where(known.any(1), 1 - np.where(known, read, np.inf).min(1, initial=np.inf), 0.0)


def _confidence(source: Source, name: str) -> np.ndarray:
    column = source.column(name, "the confidence")
    relation, parameters = source.relation([], more=[f"{column.numeric} AS c"], of=[column])
    values = np.ma.asarray(source.run(f"SELECT c FROM {relation}", parameters).fetchnumpy()["c"], dtype=float)
    values = values.filled(np.nan)
    bad = values[(values < 0) | (values > 1)]
    if len(bad) or np.isnan(values).all():
        shown = f"{bad[0]:g}" if len(bad) else "no number"
        raise UserError(f"the confidence {quoted(name)} has {shown}; it must be a number from 0 to 1 in each row")
    return values


def _disagreement(source: Source, names: Sequence[str]) -> np.ndarray:
    """One minus the chance that two members, drawn with replacement, say the same; (rows,)."""
    if len(names) < 2:
        raise UserError(f"members names only {quoted(names[0])}; name the predictions of two or more seeds")
    for name in names:
        source.column(name, "a member")
    relation, parameters = source.relation(list(names), plain=True)
    shown = ", ".join(f"v{i}" for i in range(len(names)))
    found: Any = source.run(f"SELECT {shown} FROM {relation}", parameters).fetchnumpy()
    columns = [np.ma.asarray(found[f"v{i}"], dtype=object).filled("") for i in range(len(names))]
    _, codes = np.unique(np.concatenate(columns).astype(str), return_inverse=True)
    codes = codes.reshape(len(names), -1)
    same = (codes[:, None] == codes[None]).mean((0, 1))
    return 1 - same


def _means(values: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
    there = (at >= 0) & ~np.isnan(values)
    number = np.bincount(at[there], minlength=n)
    total = np.bincount(at[there], values[there], minlength=n)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
