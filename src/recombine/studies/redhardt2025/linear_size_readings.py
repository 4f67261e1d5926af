"""What linear-size reads: laws of nets that were written, widths that were enough, and what training keeps."""

from __future__ import annotations

import math

import numpy as np

from ...lab.study_table import Censored, Frame, PreconditionFailed, StudyTable, mean_of

Cells = dict[str, float]


def written(t: StudyTable, metric: str) -> Frame:
    """One number of each explicit net, by modules and pieces."""
    part = t.where(part="written")
    if not len(part):
        raise PreconditionFailed("no net was written")
    part = part.frame[part.frame.metric == metric]
    if part.empty:
        raise PreconditionFailed(f"nothing of {metric} was measured of written nets")
    return part


def exponent(x: Frame, y: Frame) -> float:
    """b of y ~ x^b, fitted on logarithms."""
    if len(x) < 2:
        raise PreconditionFailed("an exponent takes two sizes")
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def error_of_bound(t: StudyTable) -> Cells:
    """Largest error of an explicit net over its bound."""
    found = written(t, "of_bound")
    return {f"M = {row.modules}, {row.pieces:g} pieces": float(row.value) for row in found.itertuples()}


def error_exponent(t: StudyTable) -> Cells:
    """Exponent of the root mean squared error of explicit nets in the number of pieces."""
    return {f"M = {m}": exponent(part.pieces, part.value) for m, part in written(t, "rms").groupby("modules")}


def unit_exponent(t: StudyTable) -> Cells:
    """Exponent of the hidden units of explicit nets in the number of modules."""
    return {f"{n:g} pieces": exponent(part.modules, part.value) for n, part in written(t, "units").groupby("pieces")}


def parameter_exponent(t: StudyTable) -> float:
    """Exponent of the parameters of explicit nets in the number of modules, mean over pieces."""
    parts = written(t, "parameters").groupby("pieces")
    return mean_of((exponent(part.modules, part.value) for _, part in parts), "no net was written")


def twins(t: StudyTable, metric: str) -> float:
    part = t.where(part="twins", metric=metric)
    return mean_of(part.value if len(part) else (), "no twins were made")


def twins_inside(t: StudyTable) -> float:
    """Largest difference of twins on tasks inside blocks."""
    return twins(t, "inside/largest")


def twins_across(t: StudyTable) -> float:
    """Largest difference of twins on tasks across blocks."""
    return twins(t, "across/largest")


def twins_deviations(t: StudyTable) -> float:
    """Root mean squared difference of twins across blocks, in deviations of the target."""
    return twins(t, "across/deviations")


def least_widths(t: StudyTable, taught: str, stream: str = "trained") -> Frame:
    """Least width tried that was enough, one row per K and M; NaN where none was. `most`: the widest tried."""
    import pandas

    rows = []
    for (active, modules), part in t.where(part="learned", taught=taught, stream=stream).by("at_most", "modules"):
        enough = part.frame[part.value > part.threshold.iloc[0]].width
        found = float(enough.min()) if len(enough) else math.nan
        rows.append({"at_most": active, "modules": modules, "needed": found, "most": float(part.width.max())})
    if not rows:
        raise PreconditionFailed(f"no width was looked for where modules are {taught}")
    return pandas.DataFrame(rows)


def up_to_lost(part: Frame) -> Frame:
    """Sizes in order, up to the first at which no width was enough: it is known to take more than the widest."""
    part = part.sort_values("modules")
    lost = np.flatnonzero(part.needed.isna())
    return part if not len(lost) else part.iloc[: int(lost[0]) + 1]


def width_exponent(part: Frame, what: str) -> float | Censored:
    """Exponent of the least width in M; at least so much if the last size was not learned."""
    if part.needed.isna().iloc[0]:
        raise PreconditionFailed(f"no width was enough for the smallest family, {what}")
    least = exponent(part.modules, part.needed.fillna(part.most))
    return Censored(low=least, high=math.inf) if part.needed.isna().any() else least


def learned_exponent(t: StudyTable) -> dict[str, float | Censored]:
    """Exponent of the least width in the number of modules, where modules add up."""
    found = least_widths(t, "composed").groupby("at_most")
    return {f"K = {k:g}": width_exponent(up_to_lost(part), f"K={k:g}") for k, part in found}


def below_lookup(t: StudyTable) -> dict[str, float | Censored]:
    """Exponent where every combination has a teacher of its own, minus the exponent where modules add up.

    Over the same sizes: those of both worlds, up to the first that no width tried was enough for.
    """
    composed, apart = (dict(list(least_widths(t, taught).groupby("at_most"))) for taught in ("composed", "apart"))
    found: dict[str, float | Censored] = {}
    for k in sorted(composed.keys() & apart.keys()):
        both = set(composed[k].modules) & set(apart[k].modules)
        table = up_to_lost(apart[k][apart[k].modules.isin(both)])
        same = composed[k][composed[k].modules.isin(table.modules)].sort_values("modules")
        low, high = ends(width_exponent(table, f"K={k:g}, with a teacher per combination"))
        less, more = ends(width_exponent(same, f"K={k:g}"))
        found[f"K = {k:g}"] = low - less if low == high and less == more else Censored(low - more, high - less)
    if not found:
        raise PreconditionFailed("no K was looked at in both worlds")
    return found


def ends(value: float | Censored) -> tuple[float, float]:
    return (value.low, value.high) if isinstance(value, Censored) else (value, value)


def started(t: StudyTable, start: str = "written") -> StudyTable:
    part = t.where(part="start", start=start)
    if not len(part):
        raise PreconditionFailed(f"no net was trained from {start} weights, or it diverged")
    return part


def stays(t: StudyTable) -> float:
    """Held-out R2 after training from the written weights, minus that before."""
    part = started(t)
    return part.where(when="after").held_out() - part.where(when="before").held_out()


def decoded_last(t: StudyTable, when: str, start: str = "written") -> float:
    part = started(t, start).where(when=when).decoded()
    if part.empty:
        raise PreconditionFailed(f"no decodability {when} training")
    return float(part.sort_values("layer").value.iloc[-1])


def decoded_where_written(t: StudyTable) -> float:
    """Decodability of the constituents in the last hidden layer of the written net, on held-out combinations."""
    if (score := started(t).where(when="before").held_out()) < 0.9:
        raise PreconditionFailed(f"the written net does not compose: {score:.2f} on held-out combinations")
    return decoded_last(t, "before")


def decoded_after(t: StudyTable) -> float:
    """The same after training from the written weights."""
    return decoded_last(t, "after")


def composes_from_random(t: StudyTable) -> float:
    """Held-out R2 of a net of the same layers, trained as long from random weights."""
    return started(t, "random").where(when="after").held_out()
