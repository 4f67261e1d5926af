"""What compounding reads off its table: rates of errors and recoveries, and accuracy as they foretell it.

Over depth: the share of right nodes at each layer, beside s_1 = 1 - eps, s_n = (1 - eps - c) s_{n-1} + c, where inputs
stand at layer 1 and so a node of layer n has n - 1 steps behind it. Over width: the share of right answers beside
c_n + (1 - eps)^n (1 - c_n) of n steps that all have to be right, c_n the share of right answers among those with a
wrong step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...charts.tidy_rows import Rows
from ...lab.study_table import Missing, StudyTable
from ...statistics.compounding import accuracy_over_depth, accuracy_over_width
from .subgraphs_arms import STEPS, WITH_STEPS
from .subgraphs_readings import arms_of, by_layer, of, readings

OF_SIZE, OF_TRAINED = "by rates of this size", "by rates of the trained size"
MEASURED = "measured"


class Rates(NamedTuple):
    """Of the steps of one size; a rate that no step could show is 0."""

    eps: float
    c: float
    steps: int
    answer_right: float
    in_spite: float  # c_n: right answers among those with a wrong step
    known: dict[str, float]  # all there is, as it was read


def rates(t: StudyTable, arm: str, number: int) -> Rates:
    """The rates of the answers so many sizes beyond training."""
    found = {row["metric"]: row["value"] for row in readings(of(t, arm), "rates", beyond=number)}
    if not found:
        raise Missing(f"{arm} has no rates {number} sizes beyond training")
    known = {name: 0.0 if value != value else float(value) for name, value in found.items()}
    answers = known["answer right"], known["right in spite of a step"]
    return Rates(known["eps"], known["c"], round(known["steps"]), *answers, found)


def larger(t: StudyTable, arm: str) -> dict[int, str]:
    """The sizes beyond training that were asked: how far beyond, and the name."""
    rows = readings(of(t, arm), "rates", metric="eps")
    found = {int(row["beyond"]): str(row["group"]) for row in rows if row["beyond"] > 0}
    if not found:
        raise Missing(f"{arm} was not asked beyond training")
    return found


# -- over depth -------------------------------------------------------------------------------------------------------
def right_by_layer(t: StudyTable, arm: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(layers, shares) of nodes whose value is right, restored ones too."""
    layers, correct = by_layer(t, arm, "correct", number)
    return layers, correct + by_layer(t, arm, "restoration", number)[1]


def foretold(layers: np.ndarray, own: Rates) -> np.ndarray:
    """The share of right nodes by layer that the recursion gives."""
    return accuracy_over_depth(layers - 1, own.eps, own.c)


def off_by_depth(t: StudyTable, arm: str = STEPS, trained: bool = False) -> dict[str, float]:
    """Largest distance, over layers, of the share of right nodes from the recursion, for each larger size."""
    of(t, arm).learned()
    found = {}
    for number, size in larger(t, arm).items():
        layers, right = right_by_layer(t, arm, number)
        own = rates(t, arm, 0 if trained else number)
        found[size] = float(np.abs(right - foretold(layers, own)).max())
    return found


# -- over width -------------------------------------------------------------------------------------------------------
def bound(own: Rates, steps: int | None = None) -> float:
    """The share of right answers that the bound over width gives."""
    return float(accuracy_over_width(own.steps if steps is None else steps, own.eps, own.in_spite))


def off_by_width(t: StudyTable, arm: str = STEPS) -> dict[str, float]:
    """Distance of the share of right answers from the bound over width, for each larger size."""
    of(t, arm).learned()
    found = {}
    for number, size in larger(t, arm).items():
        own = rates(t, arm, number)
        found[size] = abs(own.answer_right - bound(own))
    return found


# -- measurements -----------------------------------------------------------------------------------------------------
def rate(t: StudyTable, name: str, number: int = 1) -> float:
    """A rate of plain lists so many sizes beyond training; NaN where no step could show it."""
    return float(rates(t, STEPS, number).known[name])


def recovery_above_chance(t: StudyTable) -> float:
    """Rate of recoveries of the first larger size minus that at which the steps of another list would be right."""
    own = rates(t, STEPS, 1)
    return own.c - (0.0 if own.known["chance"] != own.known["chance"] else own.known["chance"])


# -- rows of charts ---------------------------------------------------------------------------------------------------
def _each(t: StudyTable) -> list[tuple[dict[str, Any], StudyTable, str]]:
    """The trials of every seed and arm that show steps."""
    found = []
    for seed, part in t.seeds() if len(t) else ():
        try:
            found += [({"seed": seed, "arm": arm}, part, arm) for arm in arms_of(part, WITH_STEPS)]
        except Missing:
            continue
    return found


def depth_rows(t: StudyTable) -> Rows:
    """The share of right nodes by layer, measured and foretold, of the largest trained size and of larger ones."""
    found: Rows = []
    for at, part, arm in _each(t):
        sizes = {0: "the largest trained size", **{n: f"size {s}" for n, s in _sizes(part, arm).items()}}
        for number, size in sizes.items():
            try:
                layers, right = right_by_layer(part, arm, number)
                own, before = rates(part, arm, number), rates(part, arm, 0)
            except Missing:
                continue
            curves = {MEASURED: right, OF_SIZE: foretold(layers, own)}
            if number:
                curves[OF_TRAINED] = foretold(layers, before)
            for series, values in curves.items():
                for layer, value in zip(layers.tolist(), values.tolist(), strict=True):
                    line = {"depth": layer, "value": value, "series": series}
                    found.append(at | line | {"which": f"{size} ({arm})"})
    return found


def width_rows(t: StudyTable) -> Rows:
    """The share of right answers by number of steps, measured and by the bound."""
    found: Rows = []
    for at, part, arm in _each(t):
        sizes = sorted({int(row["beyond"]) for row in readings(of(part, arm), "rates", metric="eps")})
        if 0 not in sizes:
            continue
        before = rates(part, arm, 0)
        for number in sizes:
            own = rates(part, arm, number)
            curves = {MEASURED: own.answer_right, OF_SIZE: bound(own)}
            if number >= 0:
                curves[OF_TRAINED] = bound(before, own.steps)
            for series, value in curves.items():
                found.append(at | {"steps": own.steps, "value": value, "series": series})
    return found


def rate_rows(t: StudyTable) -> Rows:
    """eps and c by size, and the limit c / (c + eps)."""
    found: Rows = []
    for at, part, arm in _each(t):
        for row in readings(of(part, arm), "rates", metric=["eps", "c", "chance"]):
            if row["value"] == row["value"]:
                found.append(at | {"beyond": int(row["beyond"]), "value": row["value"], "series": row["metric"]})
        for number in sorted({int(row["beyond"]) for row in readings(of(part, arm), "rates", metric="eps")}):
            own = rates(part, arm, number)
            if own.eps + own.c:
                limit = own.c / (own.c + own.eps)
                found.append(at | {"beyond": number, "value": limit, "series": "limit c / (c + eps)"})
    return found


def _sizes(t: StudyTable, arm: str) -> dict[int, str]:
    try:
        return larger(t, arm)
    except Missing:
        return {}
