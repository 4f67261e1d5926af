"""tuning-curves: are the units of nets that compose tuned to one factor?

    recombine run tuning-curves                 laptop: about 2 minutes on two cores
    expected: no; the poster shows single units of nets trained with stripes

The poster of Liang, Qian, Ziyin, Fiete 2025 shows the activation over (x, y) of two units and its two marginal means,
beside the panels on stripes. That it means units tuned to x or to y alone is our reading of it. The index, the larger
share of a unit's variance that one factor explains, and all thresholds are ours, written before any run. Nets are
compared at their last hidden layer: the first one is additive in the code by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import shades
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, Plate, Tile, check_choices, studies
from ..lab.verdicts import Claim, NotMet, Question
from ..probes.tuning import tuned_units, tuning
from ..training import Recipe, Trained
from ..trials.measure import readings_as_rows
from . import picture_charts, picture_trial, trial
from .picture_trial import PUBLISHED, SOURCE, Drawings, PictureStudy, hidden_in_order, recipe_knobs_of

OURS = f"ours, after {SOURCE}, poster"
SHOWN = 6  # units a net
#: nets by what they are for; stripes or not
NETS: dict[str, dict[str, Any]] = {
    "mlp": {"net": "mlp", "stripes": False},
    "mlp-with-stripes": {"net": "mlp", "stripes": True},
    "cnn": {"net": "cnn-decoder", "stripes": False},
    "cnn-with-stripes": {"net": "cnn-decoder", "stripes": True},
    "coordinate-mlp": {"net": "coordinate-mlp", "stripes": False},
}
WORDS = {
    "mlp": "MLP", "mlp-with-stripes": "MLP, with stripes", "cnn": "CNN", "cnn-with-stripes": "CNN, with stripes",
    "coordinate-mlp": "coordinate net",
}  # fmt: skip


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def last_index(table: Table, who: str, metric: str = "index") -> float:
    """The median index of the units of the last hidden layer."""
    part = table[table.who == who]
    if part.empty:
        raise NotMet(f"{who} was not run")
    return hidden_in_order(part, "tuning", metric)[-1][1]


def risen(table: Table, who: str) -> float:
    """How much training raised the index: architectures differ in it before they are trained."""
    return last_index(table, who) - last_index(table, who, "index_untrained")


def tuned_by(table: Table, pairs: Sequence[tuple[str, str]]) -> float:
    """By how much more the index of the first of each pair rose than that of the second, least over pairs."""
    known = set(table.who)
    values = [risen(table, more) - risen(table, less) for more, less in pairs if {more, less} <= known]
    if not values:
        raise NotMet("it takes nets with and without")
    return min(values)


STRIPES = (("mlp-with-stripes", "mlp"), ("cnn-with-stripes", "cnn"))
COORDINATES = (("coordinate-mlp", "mlp"), ("coordinate-mlp", "cnn"))


class TuningCurves(PictureStudy):
    """How much of each unit's variance over (x, y) one factor explains, in nets that fail and nets that compose."""

    id = "tuning-curves"
    version = 1
    title = "Are units of nets that compose tuned to one factor?"
    question = "Does training with stripes, or an architecture that composes, give units that follow x or y alone?"
    source = OURS
    varied = ("who",)
    running_time = {"smoke": "1 minute", "laptop": "2 minutes on two cores", "paper": "about 1 GPU-hour"}
    knobs = (
        Knob("task", "which world; the lookup one is the control", *("bumps-and-stripes-v1",) * 3),
        Knob("size", "pixels along a side, and places along a factor", 8, 12, 28),
        Knob("encoding", "code of the coordinates", *("one-hot",) * 3),
        Knob("nets", "which nets", ["mlp", "mlp-with-stripes"], *(list(NETS),) * 2),
        Knob("mlp_width", "hidden units a layer of the MLP", 64, 128, 256),
        Knob("cnn_width", "channels of the CNN", 8, 16, 64),
        Knob("coordinate_width", "hidden units of the coordinate net", 32, 64, 256),
        Knob("depth", "hidden layers", 2, 3, 4),
        *recipe_knobs_of(
            Recipe(steps=150, tasks=32, learning_rate=5e-3, weight_decay=0.01, evaluations=1),
            Recipe(steps=1500, tasks=32, learning_rate=3e-3, weight_decay=0.01, evaluations=1), PUBLISHED,
        ),
    )  # fmt: skip
    controls = {"untrained": {"steps": 1, "learning_rate": 1e-12}}
    claims = (
        Claim(
            "stripes-tune", "Units of nets trained with stripes are more tuned to one factor, by .05 of their variance",
            OURS, "at least", 0.05, lambda t: tuned_by(t, STRIPES),
            "rise of the median index by training, last hidden layer, with stripes minus without, least over nets",
            "untrained",
        ),
        Claim(
            "composing-nets-are-tuned",
            "Training tunes units of the net that composes more to one factor than units of plain nets", OURS,
            "at least", 0.05, lambda t: tuned_by(t, COORDINATES),
            "rise of the median index by training, last hidden layer, coordinate net minus plain, least over these",
            "untrained",
        ),
    )  # fmt: skip
    questions = tuple(
        Question(f"{who}-{metric}", f"{WORDS[who]}: {words}", lambda t, w=who, m=metric: last_index(t, w, m), words)
        for metric, words in (("index", "median index of the last hidden layer"),
                              ("tuned", "share of its units with an index above .8"),
                              ("dead", "share of its units that are dead"))
        for who in NETS
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        names, depth = settings.pop("nets"), settings.pop("depth")
        widths = {"mlp": settings.pop("mlp_width"), "cnn-decoder": settings.pop("cnn_width"),
                  "coordinate-mlp": settings.pop("coordinate_width")}  # fmt: skip
        check_choices("nets", names, NETS)
        base = {"seed": seed, "support": "bumps-and-stripes", **settings}
        return [
            base | picture_trial.decoder(net, settings["size"], width=widths[net], depth=depth)
            | {"who": name, "support_options": {} if NETS[name]["stripes"] else {"stripes": 0}}
            for name, net in ((name, NETS[name]["net"]) for name in names)
        ]  # fmt: skip

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        def read(run: Trained, drawn: Drawings) -> Measured:
            rows = readings_as_rows(tuning(run), run.recipe.steps)
            if spec["seed"]:
                return Measured(rows)
            layers = [name for name in run.blueprint.layers() if name.endswith("/post")]
            return Measured(rows, {"units": {name: _units(run, name) for name in (layers[0], layers[-1])}})

        return picture_trial.measure(spec, context, more=read)

    def label(self, spec: dict[str, Any]) -> str:
        return f"{WORDS[spec['who']]}, seed {spec['seed']}"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        sentences = {
            "stripes-tune": ("stripes tune units to one factor", "stripes do not tune units to one factor"),
            "composing-nets-are-tuned": (
                "training tunes units of the net that composes more to one factor than those of nets that fail",
                "training does not tune units of the net that composes more to one factor than those of nets that fail",
            ),
        }
        return trial.told(outcomes, sentences, "Whether composing goes with tuned units is not settled at this scale.")

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        part = picture_trial.probed(table, "tuning", "index")
        part = part[part.layer.str.endswith("/post")]
        rows = [
            {"layer": row.layer.removesuffix("/post"), "series": WORDS[row.who], "seed": int(row.seed),
             "value": row.value}
            for row in part.itertuples()
        ]  # fmt: skip
        figures = [
            Figure(
                "How much of a unit follows one factor, by layer",
                "Median over units of the larger share of variance that one factor explains; a point a seed.",
                picture_charts.by_layer(rows, "median index"),
            )
        ]
        for record in records:
            if "units" in record.facts:
                layer, units = list(record.facts["units"].items())[-1]
                curves = [
                    {"unit": f"unit {unit['unit']}", "factor": factor, "place": place, "value": value}
                    for unit in units for factor in ("x", "y") for place, value in enumerate(unit[factor])
                ]  # fmt: skip
                figures.append(Figure(
                    f"Tuning curves, {WORDS[record.cell.spec['who']]}",
                    f"Mean activation along x and y of some units of {layer.removesuffix('/post')}, from the least to "
                    "the most tuned; first seed.",
                    picture_charts.tuning(curves),
                ))  # fmt: skip
        return figures

    def plates(self, records: Sequence[Record]) -> list[Plate]:
        shown = [record for record in records if "units" in record.facts]
        if not shown:
            return []
        rows = tuple(
            (self.caption_of(record), tuple(
                Tile(unit["map"], f"unit {unit['unit']}, index {unit['index']:.2f}", colors="heat")
                for unit in list(record.facts["units"].values())[-1]
            ))
            for record in shown
        )  # fmt: skip
        width = max(len(tiles) for _, tiles in rows)
        return [
            Plate(
                "Units over the frame",
                "Activation at every place (x to the right, y down) of units of the last hidden layer, from the least "
                "to the most tuned to one factor; first seed. Stripes are units that follow one factor.",
                tuple("" for _ in range(width)),
                tuple((name, tiles + (None,) * (width - len(tiles))) for name, tiles in rows),
            )
        ]


def _units(run: Trained, layer: str) -> list[dict[str, Any]]:
    """Some units of a layer, from the least to the most tuned."""
    found = tuned_units(run, layer, SHOWN)
    return [
        {"unit": int(number), "index": float(index), "map": shades.pack(np.asarray(one).T),
         "x": np.round(along_x, 4).tolist(), "y": np.round(along_y, 4).tolist()}
        for number, index, one, along_x, along_y in zip(
            found.units, found.shares.index, found.maps, found.along_first, found.along_second, strict=True
        )
    ]  # fmt: skip


studies.register("tuning-curves")(TuningCurves())
