"""Readings of `data-efficiency`: how many pictures were enough, and how that grows with their size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...charts import kinds
from ...lab.headlines import headline_from
from ...lab.study_table import Censored, Frame, Missing, PreconditionFailed, StudyTable
from .liang_setting import COMPOSES, LOCALIZED

#: what is asked of held-out pictures, by name
CRITERIA = {"localized": f"{LOCALIZED:.0%} in place", "error": f"error at most {COMPOSES:g}"}


def meets(criterion: str, value: float) -> bool:
    return value <= COMPOSES if criterion == "error" else value >= LOCALIZED


def data_of(with_stripes: bool, centers: str) -> str:
    """What was trained on, in words."""
    bumps = "bumps" if centers == "whole" else "bumps at real centers"
    return f"stripes and {bumps}" if with_stripes else f"{bumps} alone"


def needed(t: StudyTable, criterion: str) -> Frame:
    """Fewest pictures that were enough, one row per net, size and data; NaN where none were.

    `most` is the largest number tried. PreconditionFailed if a net diverged on the way.
    """
    import pandas

    rows = []
    tried = t.where(reading="tried", metric=criterion)
    for (net, size, stripes, centers), part in tried.by("net", "size", "with_stripes", "centers"):
        if part.value.isna().any():
            raise PreconditionFailed(f"the {net} diverged at size {size}")
        enough = part[[meets(criterion, value) for value in part.value]].pictures
        fewest = float(enough.min()) if len(enough) else math.nan
        place = {"net": net, "size": int(size), "stripes": bool(stripes), "centers": centers}
        rows.append(place | {"most": int(part.pictures.max()), "needed": fewest})
    if not rows:
        raise PreconditionFailed("nothing was tried")
    return pandas.DataFrame(rows)


def exponent(t: StudyTable, net: str, stripes: bool, criterion: str, centers: str = "whole") -> float | Censored:
    """b of needed ~ N^b, fitted on logarithms; an interval where no number of pictures was enough for some N."""
    found = needed(t, criterion)
    found = found[(found.net == net) & (found.stripes == stripes) & (found.centers == centers)]
    if found["size"].nunique() < 2:
        raise Missing("an exponent takes two sizes")
    logs = np.log(found["size"])
    share = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()  # of each logarithm in the slope
    lost = found.needed.isna()
    least, most = np.log(found.needed.fillna(found.most)), np.log(found.needed.fillna(math.inf))
    low, high = (share * least.where(share > 0, most)).sum(), (share * most.where(share > 0, least)).sum()
    return Censored(float(low), float(high)) if lost.any() else float(low)


def decoder_of(t: StudyTable) -> str:
    """The net that claims are about: the CNN, as in the paper, or the MLP where it was not run."""
    return "cnn-decoder" if "cnn-decoder" in set(t.net) else "mlp"


def exponent_of_places(t: StudyTable) -> float | Censored:
    """Exponent of pictures needed for 60 % in place, with stripes."""
    return exponent(t, decoder_of(t), True, "localized")


def exponent_with_stripes(t: StudyTable) -> float | Censored:
    """Exponent of pictures needed for an error of .1, with stripes."""
    return exponent(t, decoder_of(t), True, "error")


def exponent_of_samples(t: StudyTable) -> float | Censored:
    """Exponent of samples needed for an error of .1, bumps alone at real-valued centers."""
    return exponent(t, decoder_of(t), False, "error", "real")


def saved(t: StudyTable, criterion: str) -> dict[str, float | Censored]:
    """log2 of how many times fewer pictures are needed with stripes, mean over N, each net.

    An interval where some number was not enough: then at least as many are needed as were tried.
    """
    found = needed(t, criterion)
    found = found[found.centers == "whole"]
    both = found.set_index(["net", "size", "stripes"])[["needed", "most"]].unstack("stripes")
    if (True not in both.needed) or (False not in both.needed):
        raise Missing("it takes trials with and without stripes")
    ends = {}
    for stripes in (True, False):
        fewest = both.needed[stripes]
        ends[stripes] = (fewest.fillna(both.most[stripes]), fewest.fillna(math.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.log2(ends[False][0] / ends[True][1])
        high = np.log2(ends[False][1] / ends[True][0])
    means = {net: (float(low[net].mean()), float(high[net].mean())) for net in both.index.unique("net")}
    return {net: one if one == other else Censored(one, other) for net, (one, other) in means.items()}


def saved_for_places(t: StudyTable) -> dict[str, float | Censored]:
    """log2 of pictures needed for 60 % in place, without by with stripes, mean over N, each net."""
    return saved(t, "localized")


def saved_for_pixels(t: StudyTable) -> float | Censored:
    """log2 of pictures needed for an error of .1, without by with stripes, mean over N."""
    return saved(t, "error")[decoder_of(t)]


# -- what is said and drawn -------------------------------------------------------------------------------------------
def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    sentences = {
        "linear-for-pixels": (
            "with stripes the pictures needed to draw bumps grow about as N",
            "even with stripes the pictures needed to draw bumps grow faster than N^1.5",
        ),
        "cubic-without-stripes": ("without them about as N^3", "without them slower than N^2.5"),
        "stripes-save-pixels": ("stripes save at least half of the pictures", "stripes save less than half"),
    }
    return headline_from(sentences, outcomes, "No exponent is settled at this scale.")


def needed_chart(criterion: str) -> kinds.Chart:
    def rows(t: StudyTable) -> kinds.Rows:
        found = []
        for seed, part in t.seeds():
            try:
                of_seed = needed(part, criterion)
            except PreconditionFailed:
                continue
            for row in of_seed.itertuples(index=False):
                series = f"{row.net}, {data_of(row.stripes, row.centers)}"
                found.append({"size": int(row.size), "seed": seed, "value": row.needed, "series": series})
        return found

    return kinds.log_log(
        f"Pictures needed against size: {CRITERIA[criterion]}",
        "Fewest pictures, stripes included, that were enough, one point per seed; both axes are logarithmic. "
        "Exponents with a 95 % bootstrap interval over points. Arrows: not even all pictures were enough.",
        rows,
        x_title="N, pixels along a side",
        value="pictures needed",
        fits=fits,
    )


def fits(rows: kinds.Rows, draws: int = 2000) -> list[dict[str, Any]]:
    """A power of the size for each series that reached it everywhere, with a bootstrap interval over its points."""
    found = []
    for series in dict.fromkeys(row["series"] for row in rows):
        points = np.array([[row["size"], row["value"]] for row in rows if row["series"] == series], float)
        if np.isnan(points).any() or len(np.unique(points[:, 0])) < 2:
            continue
        logs = np.log(points)
        slope, intercept = np.polyfit(logs[:, 0], logs[:, 1], 1)
        drawn = logs[np.random.default_rng(0).integers(0, len(logs), (draws, len(logs)))]  # (draws, points, 2)
        x, y = (drawn[..., i] - drawn[..., i].mean(1, keepdims=True) for i in (0, 1))
        spread = (x**2).sum(1)
        low, high = np.quantile((x * y).sum(1)[spread > 0] / spread[spread > 0], [0.025, 0.975])
        fit = {"exponent": float(slope), "low": float(low), "high": float(high)}
        found.append({"series": series, "scale": float(np.exp(intercept)), **fit})
    return found
