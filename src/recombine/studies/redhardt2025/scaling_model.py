"""scaling-model: does a larger network compose better, and do harder encodings need a larger one?

    recombine run scaling-model                 laptop: about 3 minutes on two cores
    expected: wider is better; nonlinear encodings need more width for the same score

The claims are those of Figures 2 (bottom) and 7 of Redhardt, Akram, Schug 2025, and `paper` scale is its grid (M=16,
K=3, a quarter held out, six encodings, 2 and 4 layers, widths from 128 to 2048; from 16 for preferences). The figures
show curves only: the thresholds, and the scores of .8 and .6 at which widths are compared, are ours and were written
before any run.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...charts import kinds
from ...charts.vega import SCORES, title
from ...encodings import encodings
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import RESOLUTION, Frame, PreconditionFailed, StudyTable
from ...lab.verdicts import Claim, Measurement, at_least
from .paper import DECODABILITY, FIRST_SEED, PREFERENCE_RECIPE, hyperteacher, mlp, preference, recipe, source

CEILING = 0.9  # a narrowest net that scores as much leaves no room to be better
PUBLISHED = ["identity", "orthogonal", "language", "invertible", "interval-shuffle", "few-shot"]
WITHOUT_EXAMPLES = [name for name in PUBLISHED if name != "few-shot"]  # a grid world has no examples to show


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def width_rise(t: StudyTable) -> float:
    """Rise from narrowest to widest, or the fall if a wider net is worse; least over encodings and depths.

    Where the narrowest net is at the ceiling already, nothing can rise: left out.
    """
    rises = []
    for _, part in t.composition().groupby(["encoding", "depth"]):
        by_width = part.sort_values("width").value.to_numpy()
        if len(by_width) < 2 or by_width[0] >= CEILING:
            continue
        fall = float(np.diff(by_width).min())
        rises.append(fall if fall < -RESOLUTION else float(by_width[-1] - by_width[0]))
    if not rises:
        raise PreconditionFailed(f"no encoding was trained at two widths of which the narrowest is below {CEILING}")
    return min(rises)


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


def claims_at(target: float) -> list[Claim]:
    """The claims, with widths compared at a score."""
    return [
        Claim(
            "wider-is-better",
            width_rise,
            at_least(0.05),
            "Wider is better by at least .05, and never worse on the way, for every encoding",
            "lookup",
            supported="wider networks compose better, whatever the encoding",
            refuted="wider networks do not compose better for every encoding",
        ),
        Claim(
            "nonlinear-needs-width",
            lambda t: extra_width(t, target),
            at_least(0.25),
            f"Nonlinear encodings need a quarter octave more width for a score of {target}",
            "indifferent",
            description="log2 of the width needed, nonlinear minus linear, mean over encodings and depths",
            supported="nonlinear encodings need more width",
            refuted="nonlinear encodings need no more width",
        ),
    ]


# -- the chart --------------------------------------------------------------------------------------------------------
def width_rows(t: StudyTable) -> kinds.Rows:
    return [
        {
            "width": int(row.width),
            "series": row.encoding,
            "seed": int(row.seed),
            "value": row.value,
            "depth": int(row.depth),
        }
        for row in t.above_floor().sort_values("depth", kind="stable").itertuples()
    ]


def chart(target: float, metric: str, floor: str = "") -> kinds.Chart:
    name = SCORES[metric] + floor
    return kinds.curves(
        "Held-out score against width, {split} hidden layers",
        f"{title(name)} on combinations never trained, by encoding: one point per seed, a line through their means. "
        "Widths are compared at the dashed line.",
        width_rows,
        x="width",
        x_title="hidden units per layer",
        value=name,
        order=list(encodings),
        split="depth",
        log=True,
        reference=(target,),
        low=-0.2,
    )


study = Study(
    id="scaling-model",
    title="Does a larger network compose better?",
    question="How does the score on combinations never seen depend on width and depth, by how tasks are shown?",
    source=source("Fig. 2 and 7"),
    minutes=Scale(0.5, 3, 240, "about 1 GPU-day"),
    world=hyperteacher(modules=Scale(8, 16, 16, 16), at_most=Scale(2, 3, 3, 3)),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=96, depth=2),
    recipe=recipe(500, 2500, 20_000),
    probes=DECODABILITY,
    vary={
        "world.encoding": Scale(
            ["identity", "interval-shuffle"],
            ["identity", "orthogonal", "invertible", "interval-shuffle"],
            PUBLISHED,
            PUBLISHED,
        ),
        "net.width": Scale([16, 96], [32, 96, 288], [64, 128, 256, 512], [128, 256, 512, 1024, 2048]),
        "net.depth": Scale([2], [2, 4], [2, 4], [2, 4]),
    },
    controls={
        "lookup": {"encoding": ["identity"]},  # each combination is its own world, however it is shown
        "indifferent": {"width": [2, 96]},  # so narrow that one world for all is not learned either
    },
    claims=claims_at(0.8),
    measurements=[Measurement("depth-gain", depth_gain, "What depth adds at the same width")],
    charts=[chart(0.8, "r2")],
    otherwise="Neither claim is settled at this scale.",
    history=(
        "After a first run one reading was mended, and no threshold: a wider net that is worse on the way now decides."
    ),
)

preferences = replace(
    study,
    id="scaling-model-preference",
    title="Does a larger network compose better? Preferences in a grid world",
    minutes=Scale(0.7, 8, 360, "about 30 GPU-days"),
    world={
        **preference(
            modules=Scale(4, 6, 6, 16),
            at_most=Scale(2, 3, 3, 3),
            features=Scale(4, 6, 6, 16),
            objects=Scale(1, 2, 2, 4),
        ),
        # three layers, as published for preferences
        "encoding_options": Same("world.encoding", then=lambda name: {"layers": 3} if name == "invertible" else None),
    },
    recipe=PREFERENCE_RECIPE,
    first_seed=FIRST_SEED,
    vary={
        "world.encoding": Scale(
            ["identity", "interval-shuffle"], ["identity", "interval-shuffle"], WITHOUT_EXAMPLES, WITHOUT_EXAMPLES
        ),
        "net.width": Scale([16, 64], [32, 96, 288], [32, 64, 128, 256, 512], [16, 32, 64, 128, 256, 512, 1024, 2048]),
        "net.depth": Scale([2], [2], [2, 4], [2, 4]),
    },
    controls={"lookup": {"encoding": ["identity"]}},
    claims=claims_at(0.6),  # above the floor of a net that is told wrong
    charts=[chart(0.6, "episode_accuracy", " above what a net told wrong gets")],
)
