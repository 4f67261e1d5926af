"""What required-tasks reads: the numbers that were enough, how they grow, and which net needs fewer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...lab.study_table import Frame, PreconditionFailed, StudyTable
from ...spaces import Subsets

NETS = ("mlp", "transformer")


def required(t: StudyTable) -> Frame:
    """Smallest number of trained combinations that was enough, one row per net, M and K; NaN where no number was.

    `most` is the largest number tried, `size` that of the space. PreconditionFailed if a net diverged on the way.
    """
    import pandas

    rows = []
    for (net, modules, active), part in t[t.reading == "tried"].by("net", "modules", "at_most"):
        if part.value.isna().any():
            raise PreconditionFailed(f"the {net} diverged at M={modules}, K={active}")
        enough = part[part.value > part.threshold.iloc[0]].trained_on
        rows.append(
            {
                "net": net,
                "modules": int(modules),
                "at_most": int(active),
                "size": Subsets(int(modules), int(active)).size,
                "most": int(part.trained_on.max()),
                "needed": float(enough.min()) if len(enough) else math.nan,
            }
        )
    if not rows:
        raise PreconditionFailed("no split was possible")
    return pandas.DataFrame(rows)


def curves_over_k(t: StudyTable, net: str = "mlp") -> list[Frame]:
    """For each M what was needed by K, where three values of K were tried and enough was found for each."""
    found = required(t)
    curves = [part.sort_values("at_most") for _, part in found[found.net == net].groupby("modules")]
    curves = [part for part in curves if len(part) >= 3]
    if not curves:
        raise PreconditionFailed("it takes three values of K")
    for part in curves:
        lost = part[part.needed.isna()]
        if len(lost):
            where = f"M={lost.modules.iloc[0]}, K={lost.at_most.iloc[0]}"
            raise PreconditionFailed(f"no number was enough for the {net} at {where}: it takes more training")
    return curves


def size_exponent(t: StudyTable) -> float:
    """Exponent of needed against the size of the space, over K at fixed M, mean over M, mlp.

    b of needed ~ size^b, fitted on logarithms.
    """
    slopes = [np.polyfit(np.log(part["size"]), np.log(part.needed), 1)[0] for part in curves_over_k(t)]
    return float(np.mean(slopes))


def fit_gain(t: StudyTable, column: str = "needed") -> float:
    """Squared residual of the logarithm, exponential minus power fit, mean over M, mlp."""
    gains = []
    for part in curves_over_k(t):
        y, k = np.log(part[column].to_numpy(float)), part.at_most.to_numpy(float)
        residuals = [np.polyfit(x, y, 1, full=True)[1].sum() for x in (k, np.log(k))]
        gains.append(float(residuals[0] - residuals[1]))
    return float(np.mean(gains))


def fit_gain_of_space(t: StudyTable) -> float:
    """Squared residual of the logarithm, exponential minus power fit, mean over M, mlp."""
    return fit_gain(t, "size")


def fewer(t: StudyTable) -> float:
    """log2 of needed by the mlp over needed by the transformer, mean over M and K.

    Where no number was enough for the MLP it needs at least the most that was tried, which is what counts.
    """
    by_net = {net: part.set_index(["modules", "at_most"]) for net, part in required(t).groupby("net")}
    if set(by_net) != set(NETS):
        raise PreconditionFailed("it takes both nets")
    mlp, transformer = (by_net[net] for net in NETS)
    mlp, transformer = mlp.align(transformer, join="inner", axis=0)
    managed: Any = mlp.needed.notna() | transformer.needed.notna()
    if not managed.any():
        raise PreconditionFailed("no number of combinations was enough for either net: it takes more training")
    if transformer.needed[managed].isna().any():
        raise PreconditionFailed(
            "no number was enough for the transformer where one was for the mlp: it takes more training"
        )
    return float(np.log2(mlp.needed.fillna(mlp.most)[managed] / transformer.needed[managed]).mean())
