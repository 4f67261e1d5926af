"""Which combinations a finding covers: those with its levels, or those that its rule is about."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..tables import Observed
from .findings import Finding
from .seen import Seen

_STRENGTHS = {"unseen pair": 2, "unseen triple": 3}


def covered_by(finding: Finding, observed: Observed, seen: Seen, rows: np.ndarray) -> np.ndarray:
    """(rows,) which combinations a finding covers, in the table that it was found in.

    Args:
        finding: a pattern or a rule.
        observed: the table.
        seen: what of it was trained.
        rows: combinations of its space.
    """
    if not finding.rule:
        return with_levels(finding.pattern, observed, rows)
    if finding.rule == "unseen":
        return ~seen.contains(rows)
    if finding.rule == "untrained level":
        return (seen.usage[observed.space.elements(rows).astype(np.int64)] == 0).any(1)
    strength = _STRENGTHS[finding.rule]
    if observed.space.width < strength:
        return np.zeros(len(rows), bool)
    counts, _, there = seen.tuple_counts(rows, strength)
    return ((counts == 0) & there).any(1)


def with_levels(pattern: Mapping[str, str], observed: Observed, rows: np.ndarray) -> np.ndarray:
    """(rows,) which combinations have all levels of a pattern; none have a level that the table lacks."""
    inside = np.ones(len(rows), bool)
    for factor, level in pattern.items():
        levels = [str(one) for one in observed.space.factors.get(factor, ())]
        if level not in levels:
            return np.zeros(len(rows), bool)
        inside &= rows[:, observed.factors.index(factor)] == levels.index(level)
    return inside


def places_in(other: Observed, observed: Observed) -> np.ndarray:
    """(combinations of `observed`,) the position of the same levels in the combinations of `other`; -1 for none."""
    columns = []
    for factor, levels in observed.space.factors.items():
        place = {str(level): i for i, level in enumerate(other.space.factors[factor])}
        codes = np.array([place.get(str(level), -1) for level in levels])
        columns.append(codes[observed.rows[:, observed.factors.index(factor)].astype(np.int64)])
    codes = np.stack(columns, axis=1)
    known = (codes >= 0).all(1)
    found = np.full(len(codes), -1, np.int64)
    from ..spaces import find

    found[known] = find(other.space, other.rows, codes[known].astype(other.space.dtype))
    return found
