"""What the study of data reads: how the held-out score rises with coverage, M and K."""

from __future__ import annotations

import numpy as np

from ...lab.study_table import LEARNED, Frame, PreconditionFailed, StudyTable, mean_of


def learned_scores(t: StudyTable, setting: str = "mlp") -> Frame:
    """Held-out scores of a setting as far as they come from composing, where every net has learned what it trained."""
    part = t.where(setting=setting) if "setting" in t.frame else t
    trained = part.above_floor("test").value
    if len(trained) and not trained.min() >= LEARNED:
        raise PreconditionFailed(
            f"a net of {setting} has not learned: {trained.min():.2f} on trained combinations, below {LEARNED:g}"
        )
    return part.composition()


def coverage_rise(t: StudyTable, setting: str = "mlp") -> dict[str, float | PreconditionFailed]:
    """Rise of a line through the scores at all shares, from the least coverage to the most, for each M and K."""
    rises: dict[str, float | PreconditionFailed] = {}
    for (modules, active), part in learned_scores(t, setting).groupby(["modules", "at_most"]):
        coverage, values = 1 - part.held_out.to_numpy(float), part.value.to_numpy(float)
        name = f"M={modules}, K={active}"
        if np.ptp(coverage) > 0:
            rises[name] = float(np.polyfit(coverage, values, 1)[0] * np.ptp(coverage))
        else:
            rises[name] = PreconditionFailed(f"of {name} only one share was possible")
    if not rises:
        raise PreconditionFailed("no M and K was trained at two shares")
    return rises


def largest_fall(t: StudyTable) -> float:
    """Score lost from one share to the next smaller one held out, greatest over M and K."""
    falls = []
    for _, part in learned_scores(t).groupby(["modules", "at_most"]):
        falls += list(-part.sort_values("held_out", ascending=False).value.diff().dropna())
    if not falls:
        raise PreconditionFailed("no M and K was trained at two shares")
    return max(falls)


def rise_with(t: StudyTable, name: str, other: str, setting: str = "mlp") -> float:
    """Score at the largest value on an axis minus at the smallest, all else equal, mean over what both have."""
    scores = learned_scores(t, setting).pivot_table(index=[other, "held_out"], columns=name, values="value")
    if scores.shape[1] < 2:
        raise PreconditionFailed(f"only one value of {name} was trained")
    both = scores[[scores.columns.min(), scores.columns.max()]].dropna()
    return mean_of(both.iloc[:, 1] - both.iloc[:, 0], f"no share was possible for two values of {name}")


def rise_with_modules(t: StudyTable, setting: str = "mlp") -> float:
    """Score at the largest M minus at the smallest, mean over K and shares."""
    return rise_with(t, "modules", "at_most", setting)


def rise_with_active(t: StudyTable, setting: str = "mlp") -> float:
    """Score at the largest K minus at the smallest, mean over M and shares."""
    return rise_with(t, "at_most", "modules", setting)
