"""What the study of data reads: how the held-out score rises with coverage, M and K."""

from __future__ import annotations

from ...lab.study_table import PreconditionFailed, StudyTable, mean_of


def coverage_rise(t: StudyTable) -> float:
    """Score at the smallest share held out minus at the largest possible, mean over M and K."""
    curves = [part.sort_values("held_out").value for _, part in t.composition().groupby(["modules", "at_most"])]
    rises = [curve.iloc[0] - curve.iloc[-1] for curve in curves if len(curve) > 1]
    return mean_of(rises, "no M and K was trained at two shares")


def largest_fall(t: StudyTable) -> float:
    """Score lost from one share to the next smaller one held out, greatest over M and K."""
    falls = []
    for _, part in t.composition().groupby(["modules", "at_most"]):
        falls += list(-part.sort_values("held_out", ascending=False).value.diff().dropna())
    if not falls:
        raise PreconditionFailed("no M and K was trained at two shares")
    return max(falls)


def rise_with(t: StudyTable, name: str, other: str) -> float:
    """Score at the largest value on an axis minus at the smallest, all else equal, mean over what both have."""
    scores = t.composition().pivot_table(index=[other, "held_out"], columns=name, values="value")
    if scores.shape[1] < 2:
        raise PreconditionFailed(f"only one value of {name} was trained")
    both = scores[[scores.columns.min(), scores.columns.max()]].dropna()
    return mean_of(both.iloc[:, 1] - both.iloc[:, 0], f"no share was possible for two values of {name}")


def rise_with_modules(t: StudyTable) -> float:
    """Score at the largest M minus at the smallest, mean over K and shares."""
    return rise_with(t, "modules", "at_most")


def rise_with_active(t: StudyTable) -> float:
    """Score at the largest K minus at the smallest, mean over M and shares."""
    return rise_with(t, "at_most", "modules")
