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
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..encodings import encodings, showing
from ..lab.store import Record, Table
from ..lab.study import Figure, Knob, check_choices, check_numbers, recipe_knobs, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..training import Recipe
from . import charts, trial
from .trial import RESOLUTION, TRAINED_BY, TrialStudy

PAPER = "Redhardt, Akram, Schug 2025 (arXiv 2507.07207), Fig. 2 and 7"
CEILING = 0.9  # a narrowest net that scores as much leaves no room to be better
PUBLISHED = ["identity", "orthogonal", "language", "invertible", "interval-shuffle", "few-shot"]


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def width_rise(table: Table, metric: str) -> float:
    """Rise of the score from the narrowest to the widest net; if a wider net is worse on the way, that fall, negative.

    The least over encodings and depths. Where the narrowest net is at the ceiling already, nothing can rise: left out.
    """
    rises = []
    for _, part in trial.composition(table, metric).groupby(["encoding", "depth"]):
        by_width = part.sort_values("width").value.to_numpy()
        if len(by_width) < 2 or by_width[0] >= CEILING:
            continue
        fall = float(np.diff(by_width).min())
        rises.append(fall if fall < -RESOLUTION else float(by_width[-1] - by_width[0]))
    if not rises:
        raise NotMet(f"no encoding was trained at two widths of which the narrowest is below {CEILING}")
    return min(rises)


def extra_width(table: Table, metric: str, target: float) -> float:
    """Octaves of width that nonlinear encodings need more than linear ones to reach the target, mean over depths."""
    linear, nonlinear = [], []
    for (encoding, _), part in trial.composition(table, metric).groupby(["encoding", "depth"]):
        (linear if encodings[encoding].linear else nonlinear).append(octaves_needed(part, target))
    if not linear or not nonlinear:
        raise NotMet("it takes linear and nonlinear encodings")
    narrowest, widest = math.log2(table.width.min()), math.log2(table.width.max())
    if min(linear) > widest:
        raise NotMet(f"no linear encoding reached {target}: it takes wider nets or more training")
    if max(linear) <= narrowest:
        raise NotMet(f"linear encodings reach {target} at the narrowest width: it takes narrower nets to compare")
    return float(np.mean(nonlinear) - np.mean(linear))


def octaves_needed(part: Table, target: float) -> float:
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


def depth_gain(table: Table, metric: str) -> float:
    """Score of the deepest net minus that of the shallowest at the same width and encoding, mean over them."""
    by_depth = (
        trial.composition(table, metric)
        .pivot_table(index=["encoding", "width"], columns="depth", values="value")
        .dropna()
    )
    if by_depth.shape[1] < 2 or by_depth.empty:
        raise NotMet("only one depth was trained")
    return float((by_depth[by_depth.columns.max()] - by_depth[by_depth.columns.min()]).mean())


def make_claims(metric: str, target: float) -> tuple[Claim, ...]:
    return (
        Claim(
            "wider-is-better", "Wider is better by at least .05, and never worse on the way, for every encoding",
            PAPER, "at least", 0.05, lambda t: width_rise(t, metric),
            "rise from narrowest to widest, or the fall if a wider net is worse; least over encodings and depths",
            "lookup",
        ),
        Claim(
            "nonlinear-needs-width", f"Nonlinear encodings need a quarter octave more width for a score of {target}",
            PAPER, "at least", 0.25, lambda t: extra_width(t, metric, target),
            "log2 of the width needed, nonlinear minus linear, mean over encodings and depths", "indifferent",
        ),
    )  # fmt: skip


def make_questions(metric: str) -> tuple[Question, ...]:
    return (
        Question(
            "depth-gain", "What depth adds at the same width", lambda t: depth_gain(t, metric),
            "score of the deepest minus of the shallowest net, mean over encodings and widths",
        ),
    )  # fmt: skip


# -- the study --------------------------------------------------------------------------------------------------------
class ScalingModel(TrialStudy):
    """Held-out score against width, depth and encoding, on the hyperteacher."""

    id = "scaling-model"
    version = 1
    title = "Does a larger network compose better?"
    question = "How does the score on combinations never seen depend on width and depth, by how tasks are shown?"
    source = PAPER
    history = (
        "After a first run one reading was mended, and no threshold: a wider net that is worse on the way now decides."
    )
    varied = ("encoding", "width", "depth")
    target = 0.8  # the score at which widths are compared
    running_time = {"smoke": "30 seconds", "laptop": "3 minutes on two cores", "paper": "about 1 GPU-day"}
    knobs = (
        Knob("task", "which world; lookup-v1 and indifferent-v1 are controls", *("hyperteacher-v1",) * 3),
        Knob("modules", "M, modules of the teacher", 8, 16, 16),
        Knob("at_most", "K, most modules active at once", 2, 3, 3),
        Knob("held_out", "share of the combinations that is held out", *(0.25,) * 3),
        Knob("support", "how training combinations are chosen", *("random",) * 3),
        Knob("encodings", "how a combination is shown", ["identity", "interval-shuffle"],
             ["identity", "orthogonal", "invertible", "interval-shuffle"], PUBLISHED),
        Knob("widths", "hidden units a layer", [16, 96], [32, 96, 288], [128, 256, 512, 1024, 2048]),
        Knob("depths", "hidden layers", [2], [2, 4], [2, 4]),
        *recipe_knobs(
            Recipe(steps=500, evaluations=1), Recipe(steps=2500, evaluations=2), Recipe.published(), TRAINED_BY
        ),
    )  # fmt: skip
    controls = {"lookup": {"task": "lookup-v1"}, "indifferent": {"task": "indifferent-v1"}}
    claims = make_claims("r2", 0.8)
    questions = make_questions("r2")

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = self.world(dict(settings))
        chosen, widths, depths = (settings.pop(name) for name in ("encodings", "widths", "depths"))
        check_choices("encodings", chosen, showing("constituents"))
        check_numbers("widths", widths)
        check_numbers("depths", depths)
        base = {"seed": seed, "net": "mlp", **settings}
        return [
            base | {"encoding": encoding, "width": width, "depth": depth} | self.encoding_options(encoding)
            for width in sorted(widths, reverse=True)  # long cells start first
            for depth in depths
            for encoding in chosen
        ]

    def world(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings of trials from those of the study."""
        return settings

    def encoding_options(self, encoding: str) -> dict[str, Any]:
        """Options of an encoding that differ from its own."""
        return {}

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            "wider-is-better": (
                "wider networks compose better, whatever the encoding",
                "wider networks do not compose better for every encoding",
            ),
            "nonlinear-needs-width": (
                "nonlinear encodings need more width",
                "nonlinear encodings need no more width",
            ),
        }
        return trial.told(outcomes, sentences, "Neither claim is settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        name, part = trial.floor_in_words(table, self.metric), trial.above_floor(table, self.metric)
        order = [encoding for encoding in encodings if encoding in set(part.encoding)]
        figures = []
        for depth in sorted(part.depth.unique()):
            rows = [
                {"width": int(row.width), "series": row.encoding, "seed": int(row.seed), "value": row.value}
                for row in part[part.depth == depth].itertuples()
            ]
            figures.append(
                Figure(
                    f"Held-out score against width, {depth} hidden layers",
                    f"{charts.title(name)} on combinations never trained, by encoding: a point a seed, a line through "
                    f"their means. Widths are compared at the dashed line.",
                    charts.curves(
                        rows, "width", "hidden units a layer", name, order, log=True, reference=(self.target,), low=-0.2
                    ),
                )
            )
        return figures


class PreferenceScalingModel(ScalingModel):
    """The same on the preference grid world."""

    id = "scaling-model-preference"
    title = "Does a larger network compose better? Preferences in a grid world"
    metric = "episode_accuracy"
    target = 0.6  # above the floor of a net that is told wrong
    running_time = {"smoke": "40 seconds", "laptop": "8 minutes on two cores", "paper": "about 30 GPU-days"}
    knobs = (
        Knob("task", "which world; the preference-lookup and -indifferent ones are controls", *("preference-v1",) * 3),
        Knob("modules", "M, preferences that can be combined", 4, 6, 16),
        Knob("at_most", "K, most preferences active at once", 2, 3, 3),
        *trial.PREFERENCE_KNOBS,
        Knob("held_out", "share of the combinations that is held out", *(0.25,) * 3),
        Knob("support", "how training combinations are chosen", *("random",) * 3),
        Knob("encodings", "how a combination is shown", ["identity", "interval-shuffle"],
             ["identity", "interval-shuffle"], [name for name in PUBLISHED if name != "few-shot"]),
        Knob("widths", "hidden units a layer", [16, 64], [32, 96, 288],
             [16, 32, 64, 128, 256, 512, 1024, 2048]),
        Knob("depths", "hidden layers", [2], [2], [2, 4]),
        *recipe_knobs(*trial.PREFERENCE_RECIPES, TRAINED_BY),
    )  # fmt: skip
    controls = {"lookup": {"task": "preference-lookup-v1"}, "indifferent": {"task": "preference-indifferent-v1"}}
    claims = make_claims("episode_accuracy", 0.6)
    questions = make_questions("episode_accuracy")

    def world(self, settings: dict[str, Any]) -> dict[str, Any]:
        return trial.preference_world(settings)

    def encoding_options(self, encoding: str) -> dict[str, Any]:
        return {"encoding_options": {"layers": 3}} if encoding == "invertible" else {}  # as published for preferences


studies.register("scaling-model")(ScalingModel())
studies.register("scaling-model-preference")(PreferenceScalingModel())
