"""tuning-curves: are the units of nets that compose tuned to one factor?

    recombine run tuning-curves                 laptop: about 2 minutes on two cores
    expected: no; the poster shows single units of nets trained with stripes

The poster of Liang, Qian, Ziyin, Fiete 2025 shows the activation over (x, y) of two units and its two marginal means,
beside the panels on stripes. That it means units tuned to x or to y alone is our reading of it. The index, the larger
share of a unit's variance that one factor explains, and all thresholds are ours, written before any run. Nets are
compared at their last hidden layer: the first one is additive in the code by construction.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...charts import kinds, vega_pictures
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least
from . import tuned_units
from .paper import EVERY, FIRST_SEED, OURS, decoder, pictures, recipe, require_room
from .tuning_curves_readings import (
    WORDS,
    index_by_layer,
    label,
    name_of,
    of_last_layer,
    tuned_by_coordinates,
    tuned_by_stripes,
)

SOURCE = f"{OURS}, poster"


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
    minutes=Scale(1, 2, 20, "about 1 GPU-hour"),
    metric="error",
    world=pictures("bumps-and-stripes-v1", Scale(8, 12, 20, 28)),
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
