"""Coverage: what the training rows cover of the space, checked; unseen pairs and triples; confounding; imbalance."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import listed, quoted, thousands
from ..planning.forbidden import Forbidden
from ..supports import Certificate, from_combinations
from ..tables import Observed
from .association import cramers_v, determines, holm, tied_levels
from .seen import Seen

CERTIFIED_UP_TO = 300_000  # combinations; beyond, the same facts come from the elements alone
LISTED_TUPLES = 1_000
ASKED_TUPLES = 100_000  # unseen ones of which it is asked whether they can be had
CONFOUNDED = 0.5  # Cramer's V from which two factors are called confounded
IMBALANCED = 20.0  # times as many rows for the most used level as for the least used


@dataclass(frozen=True)
class Tuples:
    """Pairs or triples of levels: how many there are, how many were seen, and the first that were not."""

    strength: int
    possible: int
    seen: int
    unseen: list[tuple[str, ...]]  # "factor=level", at most LISTED_TUPLES of them

    @property
    def missing(self) -> int:
        return self.possible - self.seen


@dataclass(frozen=True)
class Matrix:
    """Training rows for each pair of levels of two factors, and how far the two go together."""

    factors: tuple[str, str]
    counts: np.ndarray
    v: float
    p: float  # corrected for all pairs of factors
    function: str  # "", or which factor tells the other one

    @property
    def unseen(self) -> int:
        return int((self.counts == 0).sum())


@dataclass(frozen=True)
class Balance:
    """How evenly the levels of a factor were trained."""

    factor: str
    counts: dict[str, int]

    @property
    def ratio(self) -> float:
        """Rows of the most used level for one of the least used that was used."""
        used = [n for n in self.counts.values() if n]
        return max(used) / min(used) if used else math.nan

    @property
    def effective(self) -> float:
        """The number of equally used levels that would have the same entropy."""
        counts = np.array([n for n in self.counts.values() if n], dtype=float)
        share = counts / counts.sum() if len(counts) else counts
        return float(np.exp(-(share * np.log(share)).sum()))


@dataclass(frozen=True)
class CoverageReport:
    """Section 1 of the audit."""

    combinations: int
    seen: int
    training_rows: int
    certificate: Certificate | None
    components: list[list[str]]
    untrained: list[str]
    tuples: list[Tuples]
    matrices: list[Matrix]
    tied: list[tuple[str, str]]  # a level that was only ever trained with another
    balance: list[Balance]
    top_share: float  # share of the training rows in the tenth of the combinations that has most
    notes: list[str]

    @property
    def unseen(self) -> int:
        return self.combinations - self.seen

    @property
    def connected(self) -> bool:
        return len(self.components) == 1

    @property
    def confounded(self) -> list[Matrix]:
        """Pairs of factors that go together, the closest first."""
        found = [m for m in self.matrices if m.function or (m.v >= CONFOUNDED and m.p < 0.05)]
        return sorted(found, key=lambda m: (not m.function, -m.v if not math.isnan(m.v) else 0.0))

    def pairs(self) -> Tuples | None:
        return next((t for t in self.tuples if t.strength == 2), None)

    def sentences(self) -> list[str]:
        """What was found, in words."""
        share = self.seen / self.combinations
        said = [
            f"{self.seen:,} of {thousands(self.combinations)} combinations were seen in training ({_percent(share)})."
        ]
        if self.untrained:
            said.append(f"Never trained: {listed([quoted(n) for n in self.untrained])}.")
        pairs = self.pairs()
        if pairs:
            said.append(
                f"{pairs.missing:,} of {pairs.possible:,} pairs of levels were never seen together."
                if pairs.missing
                else f"Every one of the {pairs.possible:,} pairs of levels was seen together."
            )
        if not self.connected:
            said.append(f"The levels fall into {len(self.components)} groups that were never combined.")
        if self.confounded:
            worst = self.confounded[0]
            how = worst.function or f"Cramer's V {worst.v:.2f}"
            said.append(f"Confounded: {quoted(worst.factors[0])} and {quoted(worst.factors[1])} ({how}).")
        uneven = [b for b in self.balance if b.ratio >= IMBALANCED]
        if uneven:
            worst = max(uneven, key=lambda b: b.ratio)
            said.append(
                f"Uneven: {quoted(worst.factor)} has {worst.ratio:,.0f} rows of its most used level for one "
                "of its least."
            )
        return said

    def to_json(self) -> dict[str, Any]:
        return {
            "combinations": self.combinations,
            "seen": self.seen,
            "unseen": self.unseen,
            "training_rows": self.training_rows,
            "connected": self.connected,
            "components": self.components,
            "compositional": not self.untrained,
            "untrained": self.untrained,
            "certificate": self.certificate.to_json() if self.certificate else None,
            "tuples": [
                {
                    "strength": t.strength,
                    "possible": t.possible,
                    "seen": t.seen,
                    "missing": t.missing,
                    "unseen": [list(names) for names in t.unseen],
                    "listed": len(t.unseen),
                }
                for t in self.tuples
            ],
            "factor_pairs": [
                {
                    "factors": list(m.factors),
                    "unseen": m.unseen,
                    "cells": int(m.counts.size),
                    "cramers_v": m.v,
                    "p_holm": m.p,
                    "function": m.function,
                }
                for m in self.matrices
            ],
            "tied_levels": [list(pair) for pair in self.tied],
            "balance": [
                {"factor": b.factor, "ratio": b.ratio, "effective_levels": b.effective, "rows": b.counts}
                for b in self.balance
            ],
            "share_of_rows_in_top_tenth": self.top_share,
            "notes": self.notes,
            "summary": self.sentences(),
        }


def cover(observed: Observed, seen: Seen, forbidden: Forbidden | None = None) -> CoverageReport:
    """Looks at what the training rows cover.

    Args:
        observed: the table.
        seen: what of it was trained.
        forbidden: what cannot be had: it is neither there to be seen nor missing.
    """
    space = observed.space
    names = np.array(space.element_names, dtype=object)
    notes: list[str] = []
    certificate = None
    if len(seen) == space.size:
        notes.append("every combination was seen, so there is no split to certify")
    elif space.size <= CERTIFIED_UP_TO:
        certificate = from_combinations(space, seen.combinations).certificate()
    else:
        notes.append(
            f"a space of {thousands(space.size)} combinations is not listed: components and tuples come from its "
            "elements"
        )
    tuples = []
    for strength in (2, 3):
        kind = "pairs" if strength == 2 else "triples"
        if space.width < strength:
            notes.append(f"{'one factor has' if space.width == 1 else 'two factors have'} no {kind} of levels")
        elif not seen.affordable(strength):
            notes.append(f"{kind} of levels are too many to count here")
        else:
            tuples.append(_tuples(seen, strength, forbidden))
    matrices = _matrices(observed, seen) if space.width > 1 and seen.affordable(2) else []
    rows = np.sort(seen.rows)[::-1]
    ruled_out, said = _ruled_out(observed, seen, forbidden)
    notes += said
    return CoverageReport(
        combinations=space.size - ruled_out,
        seen=len(seen),
        training_rows=int(seen.rows.sum()),
        certificate=certificate,
        components=[names[part].tolist() for part in seen.components],
        untrained=names[seen.usage == 0].tolist(),
        tuples=tuples,
        matrices=matrices,
        tied=[pair for matrix in matrices for pair in _tied(observed, matrix)],
        balance=_balance(observed, seen),
        top_share=float(rows[: math.ceil(len(rows) / 10)].sum() / rows.sum()),
        notes=notes,
    )


def _tuples(seen: Seen, strength: int, forbidden: Forbidden | None = None) -> Tuples:
    """Counts all, lists the first that were not seen. Those that cannot be had are not among them."""
    space = seen.space
    total, unseen, ruled_out = 0, [], 0
    most = ASKED_TUPLES if forbidden else LISTED_TUPLES
    for place in seen.places(strength):
        table = seen.table(place)
        total += table.seen
        if table.seen < table.cells and len(unseen) + ruled_out < most:
            for code in _absent(table, most - len(unseen) - ruled_out):
                levels = np.unravel_index(code, table.sizes)
                ids = [space.classes[column][int(level)] for column, level in zip(place, levels, strict=True)]
                if forbidden and not forbidden.possible(ids):
                    ruled_out += 1
                else:
                    unseen.append(tuple(space.element_names[i] for i in ids))
    return Tuples(strength, space.possible_tuples(strength) - ruled_out, total, unseen[:LISTED_TUPLES])


def _ruled_out(observed: Observed, seen: Seen, forbidden: Forbidden | None) -> tuple[int, list[str]]:
    """How many unseen combinations cannot be had, and what is said about it."""
    if not forbidden:
        return 0, []
    there = ~forbidden.allowed(observed.rows)
    rows = float((observed.trained + observed.tested)[there].sum())
    notes = []
    if rows:
        notes.append(
            f"{rows:,.6g} rows are of combinations that are forbidden; they are counted, and none of them is suggested"
        )
    space = observed.space
    if space.size > CERTIFIED_UP_TO:
        return 0, [*notes, "forbidden combinations are counted as unseen: the space is too large to list them"]
    out = ~forbidden.allowed(space.enumerate())
    number = int(out.sum()) - int((~forbidden.allowed(seen.combinations)).sum())
    return number, [*notes, f"{number:,} unseen combinations are forbidden and count as none"]


def _absent(table: Any, most: int) -> list[int]:
    """The first codes of a table that were never seen."""
    if table.dense:
        return np.flatnonzero(table.combinations == 0)[:most].tolist()
    reach = np.arange(min(table.cells, len(table.codes) + most))  # among so many there are that many absent ones
    return np.setdiff1d(reach, table.codes, assume_unique=True)[:most].tolist()


def _matrices(observed: Observed, seen: Seen) -> list[Matrix]:
    found = []
    for i, j in itertools.combinations(range(observed.space.width), 2):
        counts = seen.table((i, j)).matrix()
        a, b = observed.factors[i], observed.factors[j]
        function = ""
        if determines(counts) and determines(counts.T):
            function = f"{quoted(a)} and {quoted(b)} tell each other"
        elif determines(counts):
            function = f"{quoted(a)} tells {quoted(b)}"
        elif determines(counts.T):
            function = f"{quoted(b)} tells {quoted(a)}"
        found.append(((a, b), counts, *cramers_v(counts), function))
    corrected = holm([p for _, _, _, p, _ in found])
    return [
        Matrix(factors, counts, v, p, function)
        for (factors, counts, v, _, function), p in zip(found, corrected, strict=True)
    ]


def _tied(observed: Observed, matrix: Matrix) -> list[tuple[str, str]]:
    a, b = matrix.factors
    levels = observed.space.factors
    along = [(f"{a}={levels[a][i]}", f"{b}={levels[b][j]}") for i, j in tied_levels(matrix.counts)]
    return along + [(f"{b}={levels[b][j]}", f"{a}={levels[a][i]}") for j, i in tied_levels(matrix.counts.T)]


def _balance(observed: Observed, seen: Seen) -> list[Balance]:
    rows = seen.row_usage
    return [
        Balance(name, {str(level): int(rows[i]) for level, i in zip(levels, ids, strict=True)})
        for (name, levels), ids in zip(observed.space.factors.items(), observed.space.classes, strict=True)
    ]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 or share == 0 else f"{share:.1e}"
