"""Charts of an audit: pairs of levels, right answers, factor probes, and whether a risk is what it says.

Labels of the user's are values, never names of columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..charts.bar_chart import bars
from ..charts.count_chart import counts
from ..charts.dot_chart import dots
from ..charts.figure import Figure
from ..charts.scatter_chart import scatter
from ..labels import visible
from ..tables import Observed
from .coverage import CoverageReport, Matrix
from .factor_probes import ApartReport
from .logistic import calibration
from .outcomes import OutcomeReport
from .risk import RiskReport

MOST_MATRICES, MOST_LEVELS = 15, 24


def matrices(coverage: CoverageReport, observed: Observed) -> Iterator[Figure]:
    """Pairs of factors, those with most unseen cells first: which levels were trained together, and how often."""
    ordered = sorted(coverage.matrices, key=lambda m: (-m.unseen / m.counts.size, -np.nan_to_num(m.v)))
    for matrix in ordered[:MOST_MATRICES]:
        yield _matrix(matrix, observed)


def _matrix(matrix: Matrix, observed: Observed) -> Figure:
    (a, b), rows, columns = matrix.factors, _most_used(matrix.counts), _most_used(matrix.counts.T)
    down, across = ([visible(observed.space.factors[f][i], 60) for i in at] for f, at in ((a, rows), (b, columns)))
    down, across = _apart(down), _apart(across)
    cells = [
        {"across": across[j], "down": down[i], "value": int(matrix.counts[row, column])}
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    note = f"{matrix.unseen:,} of {matrix.counts.size:,} unseen"
    if not math.isnan(matrix.v):
        note += f" · Cramer's V {matrix.v:.2f}"
    sides = ((a, rows, len(matrix.counts)), (b, columns, matrix.counts.shape[1]))
    cut = [f"{len(at)} of {n} levels of {visible(f, 30)}" for f, at, n in sides if len(at) < n]
    if cut:
        note += " · shown: " + ", ".join(cut)
    options = {"x": "across", "y": "down", "x_title": visible(b, 40), "y_title": visible(a, 40)}
    drawn = partial(counts, cells, columns=across, lines=down, **options)
    return Figure(f"{visible(a, 40)} × {visible(b, 40)}", note, drawn)


def _apart(names: list[str]) -> list[str]:
    """Names of which no two are the same: labels that differ only after many letters would lie on one line."""
    return [name if name not in names[:i] else f"{name} ({i + 1})" for i, name in enumerate(names)]


def _most_used(counts: np.ndarray) -> list[int]:
    """The most used levels in their own order; never trained ones are of interest too, so they come first."""
    used = counts.sum(1)
    chosen = np.argsort(np.where(used == 0, -np.inf, -used), kind="stable")[:MOST_LEVELS]
    return sorted(chosen.tolist())


def figures(outcomes: OutcomeReport | None, apart: ApartReport | None, risk: RiskReport) -> dict[str, Figure]:
    """The charts there is something to draw for."""
    found: dict[str, Figure] = {}
    if outcomes is not None and (outcomes.seen.answers or outcomes.unseen.answers):
        found["outcomes"] = _outcomes(outcomes)
    if apart is not None and apart.readings:
        found["apart"] = _held_apart(apart)
    if risk.forecast is not None:
        found["calibration"] = _calibration(risk)
    return found


def _outcomes(outcomes: OutcomeReport) -> Figure:
    rates = [one for one in (outcomes.seen, outcomes.unseen, *outcomes.by_unseen_pairs) if one.answers]
    rows = [
        {
            "name": one.name,
            "value": one.mean,
            "low": one.low,
            "high": one.high,
            "combinations": one.combinations,
            "answers": one.answers,
        }
        for one in rates
    ]
    words = "share of answers that are right"
    return Figure(
        "How often the model is right",
        "Bars are shares of right answers, lines 95 % intervals over combinations (not over training runs).",
        bars(rows, value=words, domain=(0, 1), form=".0%", also=["combinations", "answers"]),
    )


def _held_apart(apart: ApartReport) -> Figure:
    series = {"by combination": "by_combination", "by row": "by_row", "control": "control"}
    rows = [
        {"name": f"{visible(one.factor, 30)}, {visible(one.layer, 30)}", "series": name, "value": getattr(one, field)}
        for one in apart.readings
        for name, field in series.items()
    ]
    return Figure(
        "What a linear probe reads",
        "By combination: judged on combinations the probe was not fitted on. By row: combinations may be in both "
        "parts. Control: levels shuffled among combinations.",
        dots(rows, value="share read right, mean over levels", series=list(series), lanes=False, step=28, ticks=False),
    )


def _calibration(risk: RiskReport) -> Figure:
    assert risk.forecast is not None
    table = risk.forecast.table
    bins = calibration(risk.forecast.mean, table.wrong / table.answers)
    rows = [{"x": one.said, "value": one.happened, "combinations": one.combinations} for one in bins]
    chart = scatter(
        rows,
        x_title="probability of failure that was said",
        value="share that failed",
        diagonal=True,
        size="combinations",
        low=0.0,
        high=1.0,
    )
    return Figure(
        "Said and happened",
        "Forecasts of combinations whose own answers were left out, in bins of equal width; a larger dot stands for "
        "more of them. On the dashed line a probability is what it says.",
        chart,
    )
