"""Readings of `data-efficiency`: how many pictures were enough, and how that grows with their size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...charts import kinds, vega_pictures
from ...lab.headlines import headline_from
from ...lab.study_table import Frame, PreconditionFailed, StudyTable
from .paper import COMPOSES, LOCALIZED

#: what is asked of held-out pictures, by name
CRITERIA = {"localized": f"{LOCALIZED:.0%} in place", "error": f"error at most {COMPOSES:g}"}


def meets(criterion: str, value: float) -> bool:
    return value <= COMPOSES if criterion == "error" else value >= LOCALIZED


def needed(t: StudyTable, criterion: str) -> Frame:
    """Fewest pictures that were enough, one row per net, size and data (with or without stripes); NaN where none were.

    `most` is the largest number tried. PreconditionFailed if a net diverged on the way.
    """
    import pandas

    rows = []
    for (net, size, stripes), part in t.where(reading="tried", metric=criterion).by("net", "size", "with_stripes"):
        if part.value.isna().any():
            raise PreconditionFailed(f"the {net} diverged at size {size}")
        enough = part[[meets(criterion, value) for value in part.value]].pictures
        fewest = float(enough.min()) if len(enough) else math.nan
        most = int(part.pictures.max())
        rows.append({"net": net, "size": int(size), "stripes": bool(stripes), "most": most, "needed": fewest})
    if not rows:
        raise PreconditionFailed("nothing was tried")
    return pandas.DataFrame(rows)


def exponent(t: StudyTable, net: str, stripes: bool, criterion: str) -> float:
    """b of needed ~ N^b, fitted on logarithms; PreconditionFailed where no number of pictures was enough."""
    found = needed(t, criterion)
    found = found[(found.net == net) & (found.stripes == stripes)]
    if found["size"].nunique() < 2:
        raise PreconditionFailed("an exponent takes two sizes")
    if len(lost := found[found.needed.isna()]):
        raise PreconditionFailed(
            f"all {lost.most.iloc[0]} pictures of size {lost['size'].iloc[0]} were not enough for the {net}"
        )
    return float(np.polyfit(np.log(found["size"]), np.log(found.needed), 1)[0])


def exponent_with_stripes(t: StudyTable) -> float:
    """Exponent of pictures needed for 60 % in place, mlp, with stripes."""
    return exponent(t, "mlp", True, "localized")


def exponent_of_bumps(t: StudyTable) -> float:
    """Exponent of pictures needed for 60 % in place, mlp, bumps alone."""
    return exponent(t, "mlp", False, "localized")


def saved(t: StudyTable, criterion: str) -> float:
    """log2 of how many times fewer pictures are needed with stripes, mean over nets and sizes.

    Without stripes it counts the most that was tried where that was not enough; PreconditionFailed where even stripes
    do not help.
    """
    both = needed(t, criterion).set_index(["net", "size", "stripes"]).unstack("stripes")
    if (True not in both.needed) or (False not in both.needed):
        raise PreconditionFailed("it takes trials with and without stripes")
    if both.needed[True].isna().any():
        net, size = both.needed[True].index[both.needed[True].isna()][0]
        raise PreconditionFailed(f"the {net} never reached it at size {size}, with or without stripes")
    without = both.needed[False].fillna(both.most[False])
    return float(np.log2(without / both.needed[True]).mean())


def saved_for_places(t: StudyTable) -> float:
    """log2 of pictures needed for 60 % in place, without by with stripes, mean over nets and N."""
    return saved(t, "localized")


def saved_for_pixels(t: StudyTable) -> float:
    """log2 of pictures needed for an error of .1, without by with stripes, mean over nets and N."""
    return saved(t, "error")


def stripes_alone_suffice(t: StudyTable) -> bool:
    """Whether the MLP puts bumps in place, at every size and seed, after training on stripes and no bump."""
    alone = t.where(reading="tried", metric="localized", net="mlp", with_stripes=True, bumps=0)
    return len(alone) > 0 and all(meets("localized", value) for value in alone.value)


# -- what is said and drawn -------------------------------------------------------------------------------------------
def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    alone = ""
    if outcomes.get("linear-with-stripes") == "supported" and stripes_alone_suffice(t):
        alone = ", since all 2N stripes are given and no bump is needed"
    sentences = {
        "linear-with-stripes": (
            f"with stripes the pictures needed to put bumps in place grow about as N{alone}",
            "even with stripes the pictures needed to put bumps in place grow faster than N^1.5",
        ),
        "cubic-without-stripes": ("without them about as N^3", "without them slower than N^2.5"),
        "stripes-save-places": ("stripes save at least half of the pictures", "stripes save less than half"),
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
                series = f"{row.net}, {'with stripes' if row.stripes else 'bumps alone'}"
                found.append({"size": int(row.size), "seed": seed, "value": row.needed, "series": series})
        return found

    return kinds.Chart(
        f"Pictures needed against size: {CRITERIA[criterion]}",
        "Fewest pictures, stripes included, that were enough, one point per seed; both axes are logarithmic. "
        "Exponents with a 95 % bootstrap interval over points. Arrows: not even all pictures were enough.",
        rows,
        lambda rows: vega_pictures.log_log(rows, fits(rows), "N, pixels along a side", "pictures needed"),
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
