"""What the report of linear-size draws: widths, errors, and what a layer gives away."""

from __future__ import annotations

from ...charts import kinds
from ...lab.study_table import PreconditionFailed, StudyTable
from .linear_size_readings import least_widths


def error_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(part="written", metric="rms")
    return [
        {"pieces": int(row.pieces), "series": f"M = {row.modules}", "seed": int(row.seed), "value": float(row.value)}
        for row in (part.frame.itertuples() if len(part) else ())
    ]


def width_rows(t: StudyTable) -> kinds.Rows:
    rows = []
    for seed, part in t.seeds():
        for taught, words in (("composed", "modules add up"), ("apart", "a teacher per combination")):
            try:
                found = least_widths(part, taught)
            except PreconditionFailed:
                continue
            for one in found[found.needed.notna()].itertuples():
                series = f"{words}, K = {one.at_most}"
                rows.append({"modules": int(one.modules), "series": series, "seed": seed, "value": one.needed})
    return rows


def decoded_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(part="start", reading="decodability")
    return [
        {"layer": row.layer, "series": f"{row.start} weights, {row.when} training"}
        | {"seed": int(row.seed), "value": float(row.value)}
        for row in (part.frame.itertuples() if len(part) else ())
    ]


CHARTS = [
    kinds.curves(
        "Least width that learns its family",
        "Units per hidden layer against the number of modules, where a width was found; both axes are logarithmic "
        "in effect: slopes are exponents.",
        width_rows,
        x="modules",
        x_title="modules",
        value="least width",
        log=True,
        low=0.0,
    ),
    kinds.curves(
        "Error of nets that are written down",
        "Root mean squared error against the pieces of each square.",
        error_rows,
        x="pieces",
        x_title="pieces",
        value="error",
        log=True,
        low=0.0,
    ),
    kinds.dots(
        "Decodability of a net that is written, before and after training",
        "R² of a linear map from a hidden layer to the constituents, on combinations never trained.",
        decoded_rows,
        y="layer",
        value="decodability",
    ),
]
