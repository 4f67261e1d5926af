"""The findings of a table: causes with their rates, what they cover, and rows that show them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..tables import Observed, Source
from ..tables.expression_sql import Cells
from .coverage_rules import Trained
from .findings import RULES, Finding, FindingsReport
from .never import never_occur
from .patterns import Answered
from .risk import RiskReport
from .risk_forecast import Forecast

_Z90 = 1.6448536269514722
EXAMPLES = 20


def find(observed: Observed, risk: RiskReport, source: Source | None = None) -> FindingsReport:
    """What fails, and against what it was judged.

    Args:
        observed: the table.
        risk: its forecast, which found the causes.
        source: where rows that show a finding are looked up; None for no such rows.
    """
    impossible = never_occur(observed)
    forecast = risk.forecast
    if forecast is None:
        return FindingsReport([], risk.reference if risk.basis == "outcomes" else math.nan, impossible=impossible)
    causes, search = forecast.causes, forecast.patterns
    assert risk.asking is not None and risk.asking.table is not None
    table = risk.asking.table
    covers = [_covered(forecast, number, observed, risk.asking.trained) for number in causes.numbers]
    examples = _examples(source, observed, covers) if source is not None else [()] * len(covers)
    found = []
    for number, b, p, held, shown in zip(causes.numbers, causes.b, causes.p, covers, examples, strict=True):
        inside = _answered_in(forecast, number, table)
        n, k = table.answers[inside], table.wrong[inside]
        low, high = interval(n, k, causes.overdispersion)
        untrained = _untrained(observed, risk.asking.trained, search.rule(number), held)
        rows = float((observed.trained + observed.tested)[held].sum())
        found.append(
            Finding(
                pattern=_pattern(observed, search.levels(number)),
                rule=search.rule(number),
                rate=float(k.sum() / n.sum()),
                low=low,
                high=high,
                n=float(n.sum()),
                odds=b,
                p=p,
                combinations=int(held.sum()),
                rows=int(rows) if rows.is_integer() else rows,
                examples=tuple(shown),
                untrained=tuple(untrained[:EXAMPLES]),
                untrained_in_all=len(untrained),
            )
        )
    found.sort(key=lambda one: (-one.rate * one.n, str(one)))
    names = ["rules", "levels", "pairs", "triples"]
    asked = dict(zip(names, np.bincount(search.family, minlength=4).tolist(), strict=True))
    return FindingsReport(found, risk.reference, causes.overdispersion, asked, impossible)


def interval(answers: np.ndarray, wrong: np.ndarray, rho: float) -> tuple[float, float]:
    """Wilson's 90 % interval of a rate whose answers are alike within a combination, so that they count for fewer."""
    alike = float((answers * (1 + np.maximum(answers - 1, 0) * rho)).sum() / answers.sum())
    n = float(answers.sum()) / alike
    p, z2 = float(wrong.sum() / answers.sum()), _Z90**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z90 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def _answered_in(forecast: Forecast, number: int, table: Answered) -> np.ndarray:
    """Which combinations with answers a cause covers."""
    if rule := forecast.patterns.rule(number):
        return table.rules[:, list(RULES).index(rule)]
    levels = forecast.patterns.levels(number)
    return np.logical_and.reduce([table.codes[:, factor] == level for factor, level in levels])


def _covered(forecast: Forecast, number: int, observed: Observed, trained: Trained) -> np.ndarray:
    """Which combinations of the table a cause covers."""
    if rule := forecast.patterns.rule(number):
        return trained.rules(observed.rows.astype(np.int64))[0][:, list(RULES).index(rule)]
    levels = forecast.patterns.levels(number)
    return np.logical_and.reduce([observed.rows[:, factor] == level for factor, level in levels])


def _pattern(observed: Observed, levels: Iterable[tuple[int, int]]) -> dict[str, str]:
    """Factor -> level, from their numbers."""
    names = list(observed.space.factors.values())
    return {observed.factors[factor]: str(names[factor][level]) for factor, level in levels}


def _untrained(observed: Observed, trained: Trained, rule: str, held: np.ndarray) -> list[dict[str, str]]:
    """Levels, pairs or triples that a rule of coverage is about: those with most wrong answers first."""
    strength = {"untrained level": 1, "unseen pair": 2, "unseen triple": 3}.get(rule)
    if strength is None:
        return []
    rows = observed.rows[held].astype(np.int64)
    wrong = (observed.answers - observed.right).sum(1)[held]
    found: list[tuple[float, list[tuple[int, int]]]] = []
    for place in trained.places(strength):
        lacks = ~trained.has(place, trained.seen.codes(rows, place)[1])
        levels, which = np.unique(rows[lacks][:, list(place)], axis=0, return_inverse=True)
        counts = np.bincount(which.reshape(-1), weights=wrong[lacks], minlength=len(levels))
        found += [
            (-n, list(zip(place, one, strict=True))) for n, one in zip(counts.tolist(), levels.tolist(), strict=True)
        ]
    return [_pattern(observed, levels) for _, levels in sorted(found)]


# -- rows that show a finding -----------------------------------------------------------------------------------------
def _examples(source: Source, observed: Observed, covers: Sequence[np.ndarray]) -> list[list[Any]]:
    """For each finding up to `EXAMPLES` wrong rows that it covers: one pass over the rows for all of them."""
    wrong = (observed.answers - observed.right).sum(1)
    chosen = []
    for held in covers:
        at = np.flatnonzero(held & (wrong > 0))
        chosen.append(at[np.argsort(-wrong[at], kind="stable")[:EXAMPLES]])
    wanted = np.unique(np.concatenate([*chosen, np.zeros(0, np.int64)])).astype(np.int64)
    if not len(wanted):
        return [[] for _ in covers]
    found = _wrong_rows(source, observed, wanted)
    shown = []
    for at in chosen:
        rows = [found.get(int(one), []) for one in at]
        turns = max((len(one) for one in rows), default=0)  # one row of each combination first
        shown.append([one[turn] for turn in range(turns) for one in rows if turn < len(one)][:EXAMPLES])
    return shown


def _wrong_rows(source: Source, observed: Observed, wanted: np.ndarray) -> dict[int, list[Any]]:
    """Ids, or numbers from 0, of wrong rows of some combinations, at most `EXAMPLES` of each."""
    roles, cells = observed.roles, Cells(source)
    outcomes = [roles.outcome] if roles.outcome is not None else list(roles.by_factor.values())
    value = " * ".join(f"({one.sql(cells)[0]})" for one in outcomes)
    names = [*observed.factors, *([roles.id] if roles.id else [])]
    relation, parameters = source.relation(names, more=cells.shown, of=cells.columns)
    width = len(observed.factors)
    row = f"v{width}" if roles.id else "row_number() OVER () - 1"
    keys = [f"v{i}" for i in range(width)]
    levels = list(observed.space.factors.values())
    tuples = []
    for number, at in enumerate(wanted.tolist()):
        names_of = [str(levels[i][level]) for i, level in enumerate(observed.rows[at].tolist())]
        parameters |= {f"w{number}_{i}": name for i, name in enumerate(names_of)}
        tuples.append(f"({', '.join(f'$w{number}_{i}' for i in range(width))}, {at})")
    known = f"(VALUES {', '.join(tuples)}) AS known({', '.join([*(f'k{i}' for i in range(width)), 'place'])})"
    same = " AND ".join(f"{key} = k{i}" for i, key in enumerate(keys))
    statement = (
        "SELECT place, named FROM "
        "(SELECT place, named, nth, row_number() OVER (PARTITION BY place ORDER BY nth) AS turn "
        f"FROM (SELECT {', '.join(keys)}, {row} AS named, row_number() OVER () AS nth, {value} AS good "
        f"FROM {relation}) "
        f"JOIN {known} ON {same} WHERE good < 0.5) WHERE turn <= {EXAMPLES} ORDER BY place, nth"
    )
    found: dict[int, list[Any]] = {}
    for place, named in source.run(statement, parameters | cells.parameters).fetchall():
        found.setdefault(int(place), []).append(named)
    return found
