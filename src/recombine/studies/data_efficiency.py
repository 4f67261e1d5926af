"""data-efficiency: how many pictures does a decoder need, with and without stripes, as pictures grow?

    recombine run data-efficiency               laptop: about 7 minutes on two cores
    expected: with stripes the number grows as N; without them an MLP never gets there, a coordinate net with N^1.3

The poster of Liang, Qian, Ziyin, Fiete 2025 shows data needed against N, with reference lines N^3 for bumps alone and N
for stripes and bumps. Its threshold, list of N and net are not known, so the definitions are ours: success is a
held-out error of at most .1 of an empty picture's, or 60 % of held-out bumps in place; the hole is the middle three
fifths of each side; the smallest number of pictures is found by bisection at equal gradient steps, and stripes count.
With whole centers there are at most N^2 different bumps, and what all of them do not reach is reported as never
reached. Thresholds were written before any run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import require_int
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, check_choices, check_numbers, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..supports.regions import donut_range
from ..training import Recipe
from . import picture_charts, picture_trial, trial
from .bisection import expected_tries, smallest_enough
from .picture_trial import COMPOSES, PUBLISHED, SMALLEST, SOURCE, PictureStudy, recipe_knobs_of
from .stripes import LOCALIZED

POSTER = f"{SOURCE}, poster"
OURS = f"ours, after {SOURCE}"
#: what is asked of held-out pictures, by name
CRITERIA = {"localized": f"{LOCALIZED:.0%} in place", "error": f"error at most {COMPOSES:g}"}


def meets(criterion: str, value: float) -> bool:
    return value <= COMPOSES if criterion == "error" else value >= LOCALIZED


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def needed(table: Table, criterion: str) -> Table:
    """Fewest pictures that were enough, a row a net, size and data (with or without stripes); NaN where none were.

    `most` is the largest number tried. NotMet if a net diverged on the way.
    """
    import pandas

    tried = table[(table.reading == "tried") & (table.metric == criterion)]
    rows = []
    for (net, size, stripes), part in tried.groupby(["net", "size", "with_stripes"]):
        if part.value.isna().any():
            raise NotMet(f"the {net} diverged at size {size}")
        enough = part[[meets(criterion, value) for value in part.value]].pictures
        rows.append({"net": net, "size": int(size), "stripes": bool(stripes), "most": int(part.pictures.max()),
                     "needed": float(enough.min()) if len(enough) else math.nan})  # fmt: skip
    if not rows:
        raise NotMet("nothing was tried")
    return pandas.DataFrame(rows)


def exponent(table: Table, net: str, stripes: bool, criterion: str) -> float:
    """b of needed ~ N^b, fitted on logarithms; NotMet where no number of pictures was enough."""
    found = needed(table, criterion)
    found = found[(found.net == net) & (found.stripes == stripes)]
    if found["size"].nunique() < 2:
        raise NotMet("an exponent takes two sizes")
    if len(lost := found[found.needed.isna()]):
        raise NotMet(f"all {lost.most.iloc[0]} pictures of size {lost['size'].iloc[0]} were not enough for the {net}")
    return float(np.polyfit(np.log(found["size"]), np.log(found.needed), 1)[0])


def stripes_alone_suffice(table: Table) -> bool:
    """Whether the MLP puts bumps in place, at every size and seed, after training on stripes and no bump."""
    tried = table[(table.reading == "tried") & (table.metric == "localized") & (table.net == "mlp")]
    alone = tried[tried.with_stripes.astype(bool) & (tried.bumps == 0)]
    return len(alone) > 0 and all(meets("localized", value) for value in alone.value)


def saved(table: Table, criterion: str) -> float:
    """log2 of how many times fewer pictures are needed with stripes, mean over nets and sizes.

    Without stripes it counts the most that was tried where that was not enough; NotMet where even stripes do not help.
    """
    found = needed(table, criterion).set_index(["net", "size", "stripes"])
    both = found.unstack("stripes")
    if (True not in both.needed) or (False not in both.needed):
        raise NotMet("it takes trials with and without stripes")
    if both.needed[True].isna().any():
        net, size = both.needed[True].index[both.needed[True].isna()][0]
        raise NotMet(f"the {net} never reached it at size {size}, with or without stripes")
    without = both.needed[False].fillna(both.most[False])
    return float(np.log2(without / both.needed[True]).mean())


class DataEfficiency(PictureStudy):
    """Pictures needed against the size of a picture, with and without stripes."""

    id = "data-efficiency"
    version = 1
    title = "How many pictures does a decoder need?"
    question = "How does the number of pictures that must be trained grow with their size, with stripes and without?"
    source = POSTER
    running_time = {"smoke": "2 minutes", "laptop": "7 minutes on two cores", "paper": "about 2 GPU-days"}
    knobs = (
        Knob("task", "which world; the lookup one is the control", *("bumps-and-stripes-v1",) * 3),
        Knob("sizes", "N: pixels along a side", [6, 8], [8, 12, 16], [24, 28, 32, 36, 40, 48, 56]),
        Knob("encoding", "code of the coordinates", *("one-hot",) * 3),
        Knob("nets", "decoders", ["mlp"], ["mlp", "coordinate-mlp"], ["mlp", "cnn-decoder", "coordinate-mlp"]),
        Knob("mlp_width", "hidden units a layer of the MLP", 32, 128, 256),
        Knob("cnn_width", "channels of the CNN", 8, 16, 128),
        Knob("coordinate_width", "hidden units of the coordinate net", 16, 48, 256),
        Knob("depth", "hidden layers", 2, 2, 8),
        *recipe_knobs_of(
            Recipe(steps=150, tasks=16, learning_rate=5e-3, weight_decay=0.01, evaluations=1),
            Recipe(steps=2000, tasks=16, learning_rate=3e-3, weight_decay=0.01, evaluations=1), PUBLISHED,
        ),
    )  # fmt: skip
    controls = {"lookup": {"task": "bumps-and-stripes-lookup-v1"}}
    claims = (
        Claim(
            "linear-with-stripes", "With stripes the pictures needed grow about as N: to a power of at most 1.5",
            POSTER, "at most", 1.5, lambda t: exponent(t, "mlp", True, "localized"),
            "exponent of pictures needed for 60 % in place, mlp, with stripes", "lookup",
        ),
        Claim(
            "cubic-without-stripes", "Without stripes they grow about as N^3: to a power of at least 2.5", POSTER,
            "at least", 2.5, lambda t: exponent(t, "mlp", False, "localized"),
            "exponent of pictures needed for 60 % in place, mlp, bumps alone", "lookup",
        ),
        Claim(
            "stripes-save-places", "Stripes halve the number of pictures needed to put bumps in place", OURS,
            "at least", 1.0, lambda t: saved(t, "localized"),
            "log2 of pictures needed for 60 % in place, without by with stripes, mean over nets and N", "lookup",
        ),
        Claim(
            "stripes-save-pixels", "Stripes halve the number of pictures needed to draw bumps", OURS,
            "at least", 1.0, lambda t: saved(t, "error"),
            "log2 of pictures needed for an error of .1, without by with stripes, mean over nets and N", "lookup",
        ),
    )  # fmt: skip
    questions = tuple(
        Question(
            f"{net}-{criterion}-{'stripes' if stripes else 'bumps'}",
            f"Exponent for the {net}, {words}, {'with stripes' if stripes else 'bumps alone'}",
            lambda t, n=net, s=stripes, c=criterion: exponent(t, n, s, c), "exponent of pictures needed against N",
        )
        for net in ("mlp", "coordinate-mlp") for criterion, words in CRITERIA.items() for stripes in (True, False)
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        names, sizes = settings.pop("nets"), settings.pop("sizes")
        widths = {
            "mlp": settings.pop("mlp_width"), "cnn-decoder": settings.pop("cnn_width"),
            "coordinate-mlp": settings.pop("coordinate_width"),
        }  # fmt: skip
        check_choices("nets", names, widths)
        check_numbers("sizes", sizes)
        for size in sizes:
            require_int("sizes", size, at_least=SMALLEST)
        base = {"seed": seed, "support": "bumps-and-stripes", "support_options": {}, **settings}
        return [
            base | picture_trial.decoder(net, size, width=widths[net]) | {"size": size, "with_stripes": stripes}
            for size in sorted(sizes, reverse=True) for net in names for stripes in (True, False)
        ]  # fmt: skip

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        """Two bisections over the number of bumps, one for each criterion, that share what they tried."""
        low, high = donut_range(trial.build_space(spec), None, None)
        most = spec["size"] ** 2 - (high - low + 1) ** 2
        stripes = 2 * spec["size"] if spec["with_stripes"] else 0
        found: dict[int, dict[str, float]] = {}
        facts: dict[str, Any] = {"seconds": 0.0, "diverged_at": None}

        def read(bumps: int, criterion: str) -> bool:
            if bumps not in found:
                context.progress(min(len(found) / (1.5 * expected_tries(1, most)), 0.95), f"{bumps} of {most} bumps")
                data = {"support_options": {"bumps": bumps, "stripes": stripes}}
                one = picture_trial.measure(spec | data, Context())
                facts["seconds"] += one.facts["seconds"]
                rows = [row for row in one.rows if row["reading"] == "score" and row["stream"] == "held_out"]
                found[bumps] = {row["metric"]: row["value"] for row in rows}
                if bumps == most and "drawings" in one.facts:
                    facts["drawings"] = one.facts["drawings"]
            return meets(criterion, found[bumps].get(criterion, math.nan))

        for criterion in CRITERIA:
            if stripes and read(0, criterion):
                facts[criterion] = stripes  # stripes alone are enough
                continue
            bumps = smallest_enough(1, most, lambda n, c=criterion: read(n, c))
            facts[criterion] = None if bumps is None else bumps + stripes
        rows = [
            {"reading": "tried", "metric": metric, "bumps": bumps, "pictures": bumps + stripes,
             "value": values.get(metric, math.nan)}
            for bumps, values in sorted(found.items()) for metric in CRITERIA
        ]  # fmt: skip
        return Measured(rows, facts)

    def label(self, spec: dict[str, Any]) -> str:
        data = "stripes and bumps" if spec["with_stripes"] else "bumps alone"
        return f"{spec['net']}, N={spec['size']}, {data}, seed {spec['seed']}"

    def summary(self, record: Record) -> str:
        told = [
            f"{words}: {record.facts[name]}" if record.facts[name] else f"{words}: never"
            for name, words in CRITERIA.items()
        ]
        return f"pictures needed for {', '.join(told)} ({record.facts['seconds']:.0f} s)"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        alone = ""
        if outcomes.get("linear-with-stripes") == "supported" and stripes_alone_suffice(table):
            alone = ", since all 2N stripes are given and no bump is needed"
        sentences = {
            "linear-with-stripes": (
                f"with stripes the pictures needed to put bumps in place grow about as N{alone}",
                "even with stripes the pictures needed to put bumps in place grow faster than N^1.5",
            ),
            "cubic-without-stripes": ("without them about as N^3", "without them slower than N^2.5"),
            "stripes-save-places": ("stripes save at least half of the pictures", "stripes save less than half"),
        }
        return trial.told(outcomes, sentences, "No exponent is settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        figures = []
        for criterion, words in CRITERIA.items():
            rows = []
            for seed, part in table.groupby("seed") if not table.empty else ():
                try:
                    found = needed(part, criterion)
                except NotMet:
                    continue
                rows += [
                    {"size": int(row.size), "seed": int(seed), "value": row.needed,
                     "series": f"{row.net}, {'with stripes' if row.stripes else 'bumps alone'}"}
                    for row in found.itertuples(index=False)
                ]  # fmt: skip
            if rows:
                figures.append(Figure(
                    f"Pictures needed against size: {words}",
                    "Fewest pictures, stripes included, that were enough, a point a seed; both axes are logarithmic. "
                    "Exponents with a 95 % bootstrap interval over points. Arrows: not even all pictures were enough.",
                    picture_charts.log_log(rows, fits(rows), "N, pixels along a side", "pictures needed"),
                ))  # fmt: skip
        return figures


def fits(rows: list[dict[str, Any]], draws: int = 2000) -> list[dict[str, Any]]:
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
        found.append({"series": series, "scale": float(np.exp(intercept)), "exponent": float(slope),
                      "low": float(low), "high": float(high)})  # fmt: skip
    return found


studies.register("data-efficiency")(DataEfficiency())
