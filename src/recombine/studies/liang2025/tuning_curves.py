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

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from . import liang_history as history
from . import tuned_units
from .liang_setting import EVERY, FIRST_SEED, OURS, bright, dark_on_paper, decoder, pictures, recipe, require_room
from .tuning_curves_claims import CLAIMS, MEASUREMENTS
from .tuning_curves_readings import WORDS, index_by_layer, label, name_of

SOURCE = f"{OURS}, poster"


def sized(name: str, width: Scale) -> dict[str, Any]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"))}


MLP = sized("mlp", Scale(64, 128, 256, 256))
CNN = sized("cnn-decoder", Scale(8, 16, 32, 64))
BUMPS_ONLY = {"support.stripes": 0}
BRIGHT = {"world": Same("world", then=bright)}
LONGER = {"recipe.steps": Scale(400, 15_000, 30_000, Same("recipe.steps"))}  # else it does not compose

study = Study(
    id="tuning-curves",
    title="Are units of nets that compose tuned to one factor?",
    question="Does training with stripes, or an architecture that composes, give units that follow x or y alone?",
    source=SOURCE,
    version=2,
    history=history.TUNING,
    differs=history.TUNING_DIFFER,
    minutes=Scale(1, 2, 20, "about 1 GPU-hour"),
    metric="error",
    world=dark_on_paper(pictures("bumps-and-stripes-v1", Scale(8, 12, 20, 28))),
    support={"name": "bumps-and-stripes"},
    net={"depth": Scale(2, 3, 3, 4)},
    recipe=recipe(400, 3000, 10_000),
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
                "coordinate-mlp": sized("coordinate-mlp", Scale(32, 48, 128, 256)) | BUMPS_ONLY | LONGER | BRIGHT,
            },
            Scale(["mlp", "mlp-with-stripes"], None, None, None),
        )
    },
    measure=tuned_units.measure,
    # every net is an MLP without stripes, so that none is tuned by what it is called after
    controls={"same-arms": {"who": ["mlp", "mlp-with-stripes", "coordinate-mlp"]}},
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[
        kinds.by_layer(
            "How much of a unit follows one factor, by layer",
            "Median over units of the larger share of variance that one factor explains; one point per seed.",
            index_by_layer,
            value="median index",
        ),
        tuned_units.curves_by_net(WORDS),
    ],
    images=[partial(tuned_units.maps, name=name_of)],
    otherwise="Whether composing goes with tuned units is not settled at this scale.",
    label_of=label,
    refuse=require_room,
)
