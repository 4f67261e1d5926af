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
from functools import partial
from typing import Any

from ...charts import kinds, vega_pictures
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Study
from ...lab.study_table import PreconditionFailed, StudyTable
from ...lab.verdicts import Claim, Measurement, Reading, at_least
from . import tuned_units
from .paper import EVERY, FIRST_SEED, OURS, decoder, pictures, recipe, require_room

SOURCE = f"{OURS}, poster"
WORDS = {
    "mlp": "MLP",
    "mlp-with-stripes": "MLP, with stripes",
    "cnn": "CNN",
    "cnn-with-stripes": "CNN, with stripes",
    "coordinate-mlp": "coordinate net",
}
STRIPES = (("mlp-with-stripes", "mlp"), ("cnn-with-stripes", "cnn"))
COORDINATES = (("coordinate-mlp", "mlp"), ("coordinate-mlp", "cnn"))


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def at_last_layer(t: StudyTable, who: str, metric: str = "index") -> float:
    """A reading of the units of the last hidden layer, such as their median index."""
    part = t.where(who=who)
    if not len(part):
        raise PreconditionFailed(f"{who} was not run")
    return part.hidden_layers("tuning", metric)[-1][1]


def risen(t: StudyTable, who: str) -> float:
    """How much training raised the index: architectures differ in it before they are trained."""
    return at_last_layer(t, who) - at_last_layer(t, who, "index_untrained")


def tuned_by(t: StudyTable, pairs: Sequence[tuple[str, str]]) -> float:
    """By how much more the index of the first of each pair rose than that of the second, least over pairs."""
    known = set(t.who)
    values = [risen(t, more) - risen(t, less) for more, less in pairs if {more, less} <= known]
    if not values:
        raise PreconditionFailed("it takes nets with and without")
    return min(values)


def tuned_by_stripes(t: StudyTable) -> float:
    """Rise of the median index by training, last hidden layer, with stripes minus without, least over nets."""
    return tuned_by(t, STRIPES)


def tuned_by_coordinates(t: StudyTable) -> float:
    """Rise of the median index by training, last hidden layer, coordinate net minus plain, least over these."""
    return tuned_by(t, COORDINATES)


def of_last_layer(who: str, metric: str) -> Reading:
    return lambda t: at_last_layer(t, who, metric)


# -- what is drawn ----------------------------------------------------------------------------------------------------
def index_by_layer(t: StudyTable) -> kinds.Rows:
    return [
        {
            "layer": row.layer.removesuffix("/post"),
            "series": WORDS[row.who],
            "seed": int(row.seed),
            "value": row.value,
        }
        for row in t.probed("tuning", "index").itertuples()
        if row.layer.endswith("/post")
    ]


def name_of(record: Record) -> str:
    return WORDS[record.cell.spec["at"]["who"]]


def label(spec: Spec) -> str:
    return f"{WORDS[spec['at']['who']]}, seed {spec['seed']}"


# -- the study --------------------------------------------------------------------------------------------------------
def sized(name: str, width: Scale) -> dict[str, Any]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"))}


MLP = sized("mlp", Scale(64, 128, 256, 256))
CNN = sized("cnn-decoder", Scale(8, 16, 32, 64))
BUMPS_ONLY = {"support.stripes": 0}

study = Study(
    id="tuning-curves",
    title="Are units of nets that compose tuned to one factor?",
    question="Does training with stripes, or an architecture that composes, give units that follow x or y alone?",
    source=SOURCE,
    minutes=Scale(1, 2, 120, "about 1 GPU-hour"),
    metric="error",
    world=pictures("bumps-and-stripes-v1", Scale(8, 12, 16, 28)),
    support={"name": "bumps-and-stripes"},
    net={"depth": Scale(2, 3, 3, 4)},
    recipe=recipe(150, 1500, 10_000),
    asks=EVERY,
    probes=[{"name": "tuning"}],
    first_seed=FIRST_SEED,
    vary={
        "who": Arms(
            {
                "mlp": MLP | BUMPS_ONLY,
                "mlp-with-stripes": MLP,
                "cnn": CNN | BUMPS_ONLY,
                "cnn-with-stripes": CNN,
                "coordinate-mlp": sized("coordinate-mlp", Scale(32, 64, 128, 256)) | BUMPS_ONLY,
            },
            Scale(["mlp", "mlp-with-stripes"], None, None, None),
        )
    },
    measure=tuned_units.measure,
    controls={"untrained": {"steps": 1, "learning_rate": 1e-12, "who": ["mlp", "mlp-with-stripes", "coordinate-mlp"]}},
    claims=[
        Claim(
            "stripes-tune",
            tuned_by_stripes,
            at_least(0.05),
            "Units of nets trained with stripes are more tuned to one factor, by .05 of their variance",
            "untrained",
            supported="stripes tune units to one factor",
            refuted="stripes do not tune units to one factor",
        ),
        Claim(
            "composing-nets-are-tuned",
            tuned_by_coordinates,
            at_least(0.05),
            "Training tunes units of the net that composes more to one factor than units of plain nets",
            "untrained",
            supported="training tunes units of the net that composes more to one factor than those of nets that fail",
            refuted="training does not tune units of the net that composes more to one factor than those of nets that "
            "fail",
        ),
    ],
    measurements=[
        Measurement(f"{who}-{metric}", of_last_layer(who, metric), f"{WORDS[who]}: {words}", words)
        for metric, words in (
            ("index", "median index of the last hidden layer"),
            ("tuned", "share of its units with an index above .8"),
            ("dead", "share of its units that are dead"),
        )
        for who in WORDS
    ],
    charts=[
        kinds.Chart(
            "How much of a unit follows one factor, by layer",
            "Median over units of the larger share of variance that one factor explains; one point per seed.",
            index_by_layer,
            lambda rows: vega_pictures.by_layer(rows, "median index"),
        ),
        tuned_units.curves_by_net(WORDS),
    ],
    images=[partial(tuned_units.maps, name=name_of)],
    otherwise="Whether composing goes with tuned units is not settled at this scale.",
    label_of=label,
    refuse=require_room,
)
