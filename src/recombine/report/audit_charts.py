"""Charts of an audit, and matrices of counts as drawings. Labels of the user's are values, never names of fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..audit.apart import ApartReport
from ..audit.coverage import CoverageReport, Matrix
from ..audit.data import Observed
from ..audit.outcomes import OutcomeReport
from ..audit.risk import RiskReport
from ..charts import vega
from ..charts.figure import Figure
from ..labels import visible

MOST_MATRICES, MOST_LEVELS, CELL = 15, 24, 18


@dataclass(frozen=True)
class Drawing:
    """A matrix as a drawing: cells that were seen, by how often, and crosses for those that were not."""

    title: str
    rows: list[str]
    columns: list[str]
    cells: list[tuple[int, int, float, str]]  # column, row, shade, what to say
    crosses: list[tuple[int, int, str]]
    note: str
    left: int  # pixels for labels
    top: int

    @property
    def width(self) -> int:
        return self.left + CELL * len(self.columns) + 8

    @property
    def height(self) -> int:
        return self.top + CELL * len(self.rows) + 8


def drawings(coverage: CoverageReport, observed: Observed) -> list[Drawing]:
    """Pairs of factors, those with most unseen cells first."""
    ordered = sorted(coverage.matrices, key=lambda m: (-m.unseen / m.counts.size, -np.nan_to_num(m.v)))
    return [_draw(matrix, observed) for matrix in ordered[:MOST_MATRICES]]


def _draw(matrix: Matrix, observed: Observed) -> Drawing:
    a, b = matrix.factors
    rows, columns = _most_used(matrix.counts), _most_used(matrix.counts.T)
    counts = matrix.counts[np.ix_(rows, columns)]
    names = [[visible(observed.space.factors[f][i], 16) for i in at] for f, at in ((a, rows), (b, columns))]
    most = math.log1p(counts.max(initial=0)) or 1.0
    cells, crosses = [], []
    for i, j in np.ndindex(counts.shape):
        where = f"{names[0][i]}, {names[1][j]}"
        if counts[i, j]:
            said = f"{where}: {int(counts[i, j]):,} training row{'s' if counts[i, j] != 1 else ''}"
            cells.append((j, i, round(0.12 + 0.88 * math.log1p(counts[i, j]) / most, 3), said))
        else:
            crosses.append((j, i, f"{where}: never seen together"))
    note = f"{matrix.unseen:,} of {matrix.counts.size:,} unseen"
    if not math.isnan(matrix.v):
        note += f" · Cramer's V {matrix.v:.2f}"
    cut = [f"{len(at)} of {n} levels of {visible(f, 30)}" for f, at, n in ((a, rows, len(matrix.counts)), (b, columns, matrix.counts.shape[1])) if len(at) < n]  # fmt: skip # noqa: E501
    if cut:
        note += " · shown: " + ", ".join(cut)
    left = 14 + 6.6 * max(map(len, names[0]))
    top = 14 + 6.6 * max(map(len, names[1]))
    title = f"{visible(a, 40)} × {visible(b, 40)}"
    return Drawing(title, names[0], names[1], cells, crosses, note, round(left), round(top))


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
        found["apart"] = _apart(apart)
    if risk.model is not None and risk.basis in ("outcomes", "prior"):
        found["calibration"] = _calibration(risk)
    return found


def _outcomes(outcomes: OutcomeReport) -> Figure:
    rates = [one for one in (outcomes.seen, outcomes.unseen, *outcomes.by_unseen_pairs) if one.answers]
    rows = [
        {"name": one.name, "value": one.mean, "low": one.low, "high": one.high, "combinations": one.combinations,
         "answers": one.answers}
        for one in rates
    ]  # fmt: skip
    x: dict[str, Any] = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    y = vega.category("name", [row["name"] for row in rows])
    shown = [
        {"field": "name", "type": "nominal", "title": "on"},
        *({"field": f, "type": "quantitative", "format": ".3f", "title": t}
          for f, t in (("value", "right"), ("low", "95 % from"), ("high", "95 % to"))),
        {"field": "combinations", "type": "quantitative"}, {"field": "answers", "type": "quantitative"},
    ]  # fmt: skip
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 3, "style": ["interval"]},
         "encoding": {"x": {**x, "field": "low", "title": "share of answers that are right"}, "x2": {"field": "high"},
                      "y": y}},
        {"mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
         "encoding": {"x": {**x, "field": "value"}, "y": y, "tooltip": shown}},
    ]  # fmt: skip
    return Figure(
        "How often the model is right",
        "Dots are shares of right answers, bars 95 % intervals over combinations (not over training runs).",
        vega.sized({"data": {"values": rows}, "height": 34 * len(rows), "layer": layers}),
    )


def _apart(apart: ApartReport) -> Figure:
    series = {"by combination": "by_combination", "by row": "by_row", "control": "control"}
    rows = [
        {"name": f"{visible(one.factor, 30)}, {visible(one.layer, 30)}", "series": name, "value": getattr(one, field)}
        for one in apart.readings
        for name, field in series.items()
    ]
    names = list(dict.fromkeys(row["name"] for row in rows))
    color = {"field": "series", "type": "nominal", "scale": {"domain": list(series)}, "legend": vega.legend()}
    shape = {**color, "scale": {"domain": list(series), "range": vega.shapes(list(series))}}
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "title": "share read right, mean over levels",
    }
    spec = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.9},
        "encoding": {"x": x, "y": vega.category("name", names), "color": color, "shape": shape,
                     "tooltip": vega.tooltip({"name": "factor, layer", "series": "judged"})},
    }  # fmt: skip
    return Figure(
        "What a linear probe reads",
        "By combination: judged on combinations the probe was not fitted on. By row: combinations may be in both "
        "parts. Control: levels shuffled among combinations.",
        vega.sized({"data": {"values": rows}, "height": max(80, 26 * len(names)), **spec}),
    )


def _calibration(risk: RiskReport) -> Figure:
    model = risk.model
    assert model is not None
    rows = [
        {"said": one.said, "happened": one.happened, "combinations": one.combinations} for one in model.quality.bins
    ]
    axis = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    layers = [
        {"data": {"values": [{"said": 0, "happened": 0}, {"said": 1, "happened": 1}]},
         "mark": {"type": "line", "style": ["reference"]},
         "encoding": {"x": {**axis, "field": "said"}, "y": {**axis, "field": "happened"}}},
        {"mark": {"type": "point", "filled": True, "opacity": 0.9},
         "encoding": {
             "x": {**axis, "field": "said", "title": "probability of failure that was said"},
             "y": {**axis, "field": "happened", "title": "share that failed"},
             "size": {"field": "combinations", "type": "quantitative", "legend": None, "scale": {"range": [50, 500]}},
             "tooltip": [{"field": name, "type": "quantitative", "format": fmt}
                         for name, fmt in (("said", ".3f"), ("happened", ".3f"), ("combinations", "d"))],
         }},
    ]  # fmt: skip
    return Figure(
        "Said and happened",
        "Predictions for combinations the fit had not seen, in bins of equal width; a larger dot stands for more of "
        "them. On the dashed line a probability is what it says.",
        vega.sized({"data": {"values": rows}, "height": 300, "layer": layers}),
    )
