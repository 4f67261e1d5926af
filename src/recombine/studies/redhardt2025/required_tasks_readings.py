"""What required-tasks reads: the numbers that were enough, how they grow, and which net needs fewer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...lab.bisection import CLOSE
from ...lab.study_table import Censored, Frame, PreconditionFailed, StudyTable
from ...spaces import Subsets

NETS = ("mlp", "transformer")


def required(t: StudyTable) -> Frame:
    """Smallest number of trained combinations that was enough, one row per net, M and K; NaN where no number was.

    `low` and `high` are what is known of it: where no number was enough, at least the largest that was tried, and at
    most all of them. `size` is that of the space. PreconditionFailed if a net diverged on the way.
    """
    import pandas

    rows = []
    for (net, modules, active), part in t[t.reading == "tried"].by("net", "modules", "at_most"):
        if part.value.isna().any():
            raise PreconditionFailed(f"the {net} diverged at M={modules}, K={active}")
        enough = part[part.value > part.threshold.iloc[0]].trained_on
        size, needed = Subsets(int(modules), int(active)).size, float(enough.min()) if len(enough) else math.nan
        rows.append(
            {
                "net": net,
                "modules": int(modules),
                "at_most": int(active),
                "size": size,
                "needed": needed,
                "low": needed if len(enough) else float(part.trained_on.max()),
                "high": needed if len(enough) else float(size),
            }
        )
    if not rows:
        raise PreconditionFailed("no split was possible")
    return pandas.DataFrame(rows)


def curves_over_k(t: StudyTable, net: str = "mlp") -> dict[int, Frame]:
    """For each M what is known of the number needed by K, where three values of K were tried."""
    found = required(t)
    curves = {int(m): part.sort_values("at_most") for m, part in found[found.net == net].groupby("modules")}
    curves = {modules: part for modules, part in curves.items() if len(part) >= 3}
    if not curves:
        raise PreconditionFailed("it takes three values of K")
    return curves


def size_exponents(t: StudyTable) -> dict[str, float | Censored]:
    """Exponent of needed against the size of the space, over K, for each M, mlp.

    b of needed ~ size^b, fitted on logarithms. Where no number was enough it is known to an interval.
    """
    return {f"M={modules}": exponent(part) for modules, part in curves_over_k(t).items()}


def exponents_fall(t: StudyTable) -> bool:
    """Whether for every M the number needed even falls as the space grows."""
    found = size_exponents(t).values()
    return all((one.high if isinstance(one, Censored) else one) < 0 for one in found)


def exponent(part: Frame) -> float | Censored:
    """The slope of log needed against log size; its ends, where some of needed are known to an interval."""
    x = np.log(part["size"].to_numpy(float))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()  # slope = sum of weight * log needed
    low, high = (np.log(part[end].to_numpy(float)) for end in ("low", "high"))
    least, most = (float(np.where(weights > 0, a, b) @ weights) for a, b in ((low, high), (high, low)))
    return least if math.isclose(least, most) else Censored(least, most)


def log_likelihoods(t: StudyTable, column: str = "needed") -> float:
    """Log-likelihood of a power of K minus that of an exponential in K, one rate for all M, errors normal in the log.

    Each M has a constant of its own. PreconditionFailed where no number was enough for some M and K.
    """
    residuals, count = np.zeros(2), 0
    for modules, part in curves_over_k(t).items():
        lost = part[part[column].isna()]
        if len(lost):
            where = f"M={modules}, K={lost.at_most.iloc[0]}"
            raise PreconditionFailed(f"no number was enough for the mlp at {where}: it takes more training")
    rows = [part.assign(constant=modules) for modules, part in curves_over_k(t).items()]
    for law, of_k in enumerate((np.log, lambda k: k)):
        x, y = (
            np.concatenate([values - values.mean() for values in each])
            for each in (
                [of_k(part.at_most.to_numpy(float)) for part in rows],
                [np.log(part[column].to_numpy(float)) for part in rows],
            )
        )
        residuals[law], count = float(((y - x * (x @ y) / (x @ x)) ** 2).sum()), len(y)
    power, exponential = np.maximum(residuals, count * math.log(CLOSE) ** 2 / 12)  # what the search can tell
    return float(count / 2 * math.log(exponential / power))


def log_likelihoods_of_space(t: StudyTable) -> float:
    """The same for the size of the space, to compare with."""
    return log_likelihoods(t, "size")


def fewer(t: StudyTable) -> float | Censored:
    """log2 of needed by the mlp over needed by the transformer, mean over M and K.

    Where no number was enough for a net it is known to an interval.
    """
    by_net = {net: part.set_index(["modules", "at_most"]) for net, part in required(t).groupby("net")}
    if set(by_net) != set(NETS):
        raise PreconditionFailed("it takes both nets")
    mlp, transformer = (by_net[net] for net in NETS)
    mlp, transformer = mlp.align(transformer, join="inner", axis=0)
    managed: Any = mlp.needed.notna() | transformer.needed.notna()
    if not managed.any():
        raise PreconditionFailed("no number of combinations was enough for either net: it takes more training")
    mlp, transformer = mlp[managed], transformer[managed]
    low = float(np.log2(mlp.low / transformer.high).mean())
    high = float(np.log2(mlp.high / transformer.low).mean())
    return low if math.isclose(low, high, abs_tol=1e-12) else Censored(low, high)
