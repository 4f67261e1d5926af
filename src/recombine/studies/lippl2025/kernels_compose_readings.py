"""What kernels-compose reads: slopes, accuracies and additivity, of exact kernels and of nets."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.study_table import Frame, PreconditionFailed, StudyTable
from .kernels_compose_measure import FITTED

Cells = dict[str, float]
LAZY, RICH = "lazy", "rich"


def read(t: StudyTable, metric: str, **at: Any) -> Frame:
    """One row per cell of one metric. PreconditionFailed where there is none."""
    part = t.where(metric=metric, **at)
    if not len(part):
        raise PreconditionFailed(f"nothing of {metric} was measured ({', '.join(map(str, at.values()))})")
    return part.frame


def learned(t: StudyTable, metric: str, **at: Any) -> Frame:
    """The same of nets; PreconditionFailed if one has not learned what it was trained on."""
    found = read(t, metric, model="net", **at)
    unfitted = read(t, "unfitted", model="net", **at)
    if (worst := float(unfitted.value.max())) > FITTED:
        raise PreconditionFailed(f"a net has not learned its training combinations: {worst:.3f} off, above {FITTED}")
    return found


def name_of(row: Any) -> str:
    """A cell in a few words, by the axes that it has."""
    words = [str(row.problem)]
    axes = {"known": "{:g} known", "left_out": "{:g} left out", "depth": "{:g} layers", "begins": "{}"}
    for axis, form in axes.items():
        value = getattr(row, axis, None)
        if value is not None and value == value:
            words.append(form.format(value))
    return ", ".join(words)


def by_cell(part: Frame) -> Cells:
    return {name_of(row): float(row.value) for row in part.itertuples()}


# -- kernels, exactly -------------------------------------------------------------------------------------------------


def kernel_additivity(t: StudyTable) -> Cells:
    """Share of what a kernel says of held-out combinations that is a sum over conjunctions seen in training (R2)."""
    return by_cell(read(t, "additivity", model="kernel"))


def kernel_off_formula(t: StudyTable) -> Cells:
    """Distance of the slope of a kernel's sums from that of Proposition 5.1."""
    return by_cell(read(t, "off_formula", model="kernel"))


def kernel_equivalence(t: StudyTable) -> Cells:
    """Accuracy of a kernel on equivalences that follow by transitivity."""
    return by_cell(read(t, "accuracy", model="kernel", problem="equivalence"))


def kernel_shortcut(t: StudyTable) -> Cells:
    """Accuracy of a kernel of the largest margin where most conflicts of the features are held out."""
    part = read(t, "accuracy", model="kernel", problem="context")
    return by_cell(part[part.left_out == part.left_out.max()])


# -- nets -------------------------------------------------------------------------------------------------------------


def net_additivity(t: StudyTable) -> Cells:
    """Share of a net's held-out sums that is a sum over conjunctions seen in training (R2)."""
    return by_cell(learned(t, "additivity", problem="addition"))


def net_leak(t: StudyTable) -> Cells:
    """Slope of a net's held-out sums, most symbols known minus fewest."""
    part = learned(t, "slope", problem="addition")
    found = {}
    for (depth, begins), some in part.groupby(["depth", "begins"]):
        some = some.sort_values("known")
        if len(some) < 2:
            raise PreconditionFailed("it takes two numbers of known symbols")
        found[f"{depth} layers, {begins}"] = float(some.value.iloc[-1] - some.value.iloc[0])
    return found


def net_off_formula(t: StudyTable) -> Cells:
    """Distance of the slope of a lazy net's sums from Proposition 5.1 for its own tangent kernel at the beginning."""
    return by_cell(learned(t, "off_formula", problem="addition", begins=LAZY))


def net_shortcut(t: StudyTable) -> Cells:
    """Accuracy of a net where most conflicts of the features are held out."""
    part = learned(t, "accuracy", problem="context")
    return by_cell(part[part.left_out == part.left_out.max()])


def rich_gain(t: StudyTable) -> Cells:
    """Accuracy on equivalences that follow by transitivity, rich nets minus lazy ones."""
    part = learned(t, "accuracy", problem="equivalence")
    found = {}
    for depth, some in part.groupby("depth"):
        values = dict(zip(some.begins, some.value, strict=True))
        if not {LAZY, RICH} <= set(values):
            raise PreconditionFailed("it takes nets that begin rich and lazy")
        found[f"{depth} layers"] = float(values[RICH] - values[LAZY])
    return found


def net_equivalence(t: StudyTable) -> float:
    """Accuracy on equivalences that follow by transitivity, lazy nets, mean over depths."""
    return float(learned(t, "accuracy", problem="equivalence", begins=LAZY).value.mean())


# -- rows of charts ---------------------------------------------------------------------------------------------------


def slope_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(problem="addition", metric="slope")
    return [
        {
            "known": int(row.known),
            "series": f"{row.model}, {row.depth} layers" + (f", {row.begins}" if row.model == "net" else ""),
            "seed": int(row.seed),
            "value": float(row.value),
        }
        for row in (part.frame.itertuples() if len(part) else ())
    ]


def accuracy_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(metric="accuracy")
    rows = []
    for row in part.frame.itertuples() if len(part) else ():
        detail = f", {row.left_out:g} of 3 left out" if row.problem == "context" else ""
        series = "kernel" if row.model == "kernel" else f"net, {row.begins}"
        rows.append({"problem": f"{row.problem}{detail}", "series": series, "seed": int(row.seed), "value": row.value})
    return rows


def formula_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(problem="addition", metric=["slope", "formula"])
    if not len(part):
        return []
    axes = [name for name in ("seed", "model", "known", "depth", "begins") if name in part.frame]
    frame = part.frame
    if "begins" in axes:  # kernels do not begin; a column without a word is one of numbers, which takes none
        begins = frame.begins.astype(object)
        frame = frame.assign(begins=begins.where(begins.notna(), "exact"))
    wide = frame.pivot_table(index=axes, columns="metric", values="value").reset_index()
    return [
        {
            "x": float(row.formula),
            "value": float(row.slope),
            "series": "exact kernel" if row.model == "kernel" else f"net, {row.begins}",
            "seed": int(row.seed),
            "trial": f"{row.known} known, {row.depth} layers",
        }
        for row in wide.itertuples()
    ]
