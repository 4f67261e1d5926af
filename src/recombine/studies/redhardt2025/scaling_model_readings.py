"""What the study of model size reads: scores by width and depth, and the width that a score takes."""

from __future__ import annotations

import math

import numpy as np

from ...encodings import encodings
from ...lab.study_table import LEARNED, RESOLUTION, Frame, PreconditionFailed, StudyTable

CEILING = 0.9  # a narrowest net that scores as much leaves no room to be better


def width_rise(t: StudyTable) -> dict[str, float | PreconditionFailed]:
    """Rise from narrowest to widest, or the fall if a wider net is worse, for each encoding and depth.

    An encoding that no widest net has learned says nothing about width; neither does one whose narrowest net is at the
    ceiling already, since nothing can rise.
    """
    if t.composition().width.nunique() < 2:
        raise PreconditionFailed("only one width was trained")
    learned = learned_by_widest(t)
    rises: dict[str, float | PreconditionFailed] = {}
    for (encoding, depth), part in t.composition().groupby(["encoding", "depth"]):
        by_width, name = part.sort_values("width").value.to_numpy(), f"{encoding}, {depth} layers"
        fall = float(np.diff(by_width).min())
        if not learned[str(encoding)] >= LEARNED:
            rises[name] = PreconditionFailed(
                f"{encoding} was not learned: {learned[str(encoding)]:.2f} on trained combinations by the widest net"
            )
        elif by_width[0] >= CEILING:
            rises[name] = PreconditionFailed(f"the narrowest net of {name} is at {by_width[0]:.2f}: nothing can rise")
        else:
            rises[name] = fall if fall < -RESOLUTION else float(by_width[-1] - by_width[0])
    return rises


def learned_by_widest(t: StudyTable) -> dict[str, float]:
    """What the best of the widest nets learned of each encoding; where no trained score is kept, what it composes."""
    widest = t.where(width=int(t.width.max()))
    scores = widest.above_floor("test")
    scores = scores if len(scores) else widest.above_floor()
    return {str(encoding): float(part.max()) for encoding, part in scores.groupby("encoding").value}


def extra_width(t: StudyTable, target: float) -> float:
    """Octaves of width that nonlinear encodings need more than linear ones to reach the target, mean over depths."""
    linear, nonlinear = [], []
    for (encoding, _), part in t.composition().groupby(["encoding", "depth"]):
        (linear if encodings[encoding].linear else nonlinear).append(octaves_needed(part, target))
    if not linear or not nonlinear:
        raise PreconditionFailed("it takes linear and nonlinear encodings")
    narrowest, widest = math.log2(t.width.min()), math.log2(t.width.max())
    if min(linear) > widest:
        raise PreconditionFailed(f"no linear encoding reached {target}: it takes wider nets or more training")
    if max(linear) <= narrowest:
        raise PreconditionFailed(
            f"linear encodings reach {target} at the narrowest width: it takes narrower nets to compare"
        )
    return float(np.mean(nonlinear) - np.mean(linear))


def octaves_needed(part: Frame, target: float) -> float:
    """log2 of the width at which the score crosses the target, on a line between the widths tried.

    The narrowest width if that is enough already, and one octave beyond the widest if none is: at least so much.
    """
    part = part.sort_values("width")
    widths, values = np.log2(part.width.to_numpy(float)), part.value.to_numpy(float)
    above = np.flatnonzero(values >= target)
    if not above.size:
        return float(widths[-1] + 1)
    first = int(above[0])
    if first == 0:
        return float(widths[0])
    share = (target - values[first - 1]) / (values[first] - values[first - 1])
    return float(widths[first - 1] + share * (widths[first] - widths[first - 1]))


def depth_gain(t: StudyTable) -> float:
    """Score of the deepest minus of the shallowest net, mean over encodings and widths."""
    by_depth = t.composition().pivot_table(index=["encoding", "width"], columns="depth", values="value").dropna()
    if by_depth.shape[1] < 2 or by_depth.empty:
        raise PreconditionFailed("only one depth was trained")
    return float((by_depth[by_depth.columns.max()] - by_depth[by_depth.columns.min()]).mean())
