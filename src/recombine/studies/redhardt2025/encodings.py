"""encodings: does a network compose however tasks are shown, and does it undo the encoding inside?

    recombine run encodings                     laptop: about 7 minutes on two cores
    recombine run encodings-preference          Table 2; about 14 minutes
    expected: linear encodings compose best; inside the net, tasks are easier to decode than in a nonlinear encoding

Tables 1 and 2 of Redhardt, Akram, Schug 2025 next to ours. Its numbers are `TABLE_1` and `TABLE_2` (mean over three
seeds, 4 x 1024 net, 300,000 steps; third hidden layer for Table 1; layer 1 for linear and 2 for nonlinear encodings in
Table 2). The thresholds are ours and were written before any run. The paper compares a probe of the layer with a probe
of the encoding; beside it we read an untrained net, which undoes part of an encoding by chance. `invertible` has the
weights of the public code and is almost affine; `invertible-bent` is the one that claims on nonlinear encodings are
about (`differs`). `tokens` is ours: the words of `language` through a learned table. At `laptop` scale the teacher is
smaller (8 modules, 4 inputs, 8 hidden units and outputs): few-shot and interval-shuffle on the published one are beyond
minutes of training. There nonlinear encodings are trained 8 times longer, until they have learned what they were
trained on, too.
"""

from __future__ import annotations

from dataclasses import replace

from ...lab.scales import Scale
from ...lab.study import Study
from . import redhardt_history as history
from .encodings_arms import BENT_INVERTIBLE, CONTROLS, CONTROLS_OF_PREFERENCES, encoded
from .encodings_charts import shown
from .encodings_claims import claims
from .encodings_readings import TABLE_1, TABLE_2
from .redhardt_setting import DECODABILITY, FIRST_SEED, PREFERENCE_RECIPE, mlp, recipe

SMOKE = ["identity", "interval-shuffle"]
LARGE = [*TABLE_1.numbers, BENT_INVERTIBLE, "tokens"]
COMPARED = [name for name in (*TABLE_1.numbers, BENT_INVERTIBLE) if name != "invertible"]
#: of preferences, what minutes of training learn; interval shuffle is at chance after 8,000 steps
LEARNED_IN_MINUTES = ["identity", "orthogonal", "language", BENT_INVERTIBLE]

study = Study(
    id="encodings",
    version=3,
    title="Does it matter how a task is shown?",
    question="Does a network compose whatever the encoding of the task, and does it decode the task inside?",
    source=TABLE_1.source,
    history=history.ENCODINGS,
    differs=history.ENCODINGS_DIFFER,
    minutes=Scale(0.5, 7, 230, "about 2 GPU-hours"),
    world={
        "name": "hyperteacher-v1",
        "space": {"modules": Scale(8, 8, 16, 16), "at_most": Scale(2, 3, 3, 3)},
        "inputs": Scale(16, 4, 16, 16),
        "hidden": Scale(16, 8, 16, 16),
        "outputs": Scale(16, 8, 16, 16),
    },
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(96, 256, 512, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=recipe(500, 4000, 40_000),
    probes=DECODABILITY,
    vary={
        "encoding": encoded(
            Scale(SMOKE, COMPARED, LARGE, [*TABLE_1.numbers, BENT_INVERTIBLE]),
            couplings=5,
            longer=Scale(1, 8, 1, 1),
        )
    },
    controls=CONTROLS,
    claims=claims(TABLE_1, 0.95),
    otherwise="No claim on encodings is settled at this scale.",
    **shown(TABLE_1),
)

preferences = replace(
    study,
    id="encodings-preference",
    title="Does it matter how a task is shown? Preferences in a grid world",
    source=TABLE_2.source,
    history=history.ENCODINGS_PREFERENCE,
    differs=history.ENCODINGS_PREFERENCE_DIFFER,
    minutes=Scale(0.7, 14, 120, "about 2 GPU-days"),
    world={
        "name": "preference-v1",
        "space": {"modules": Scale(4, 8, 8, 16), "at_most": Scale(2, 3, 3, 3)},
        "features": Scale(4, 8, 8, 16),
        "objects": Scale(1, 1, 2, 4),
    },
    net=mlp(width=Scale(64, 256, 512, 1024), depth=2),
    recipe=PREFERENCE_RECIPE,
    vary={
        "encoding": encoded(
            Scale(SMOKE, LEARNED_IN_MINUTES, *[[*TABLE_2.numbers, BENT_INVERTIBLE]] * 2),
            couplings=3,
            longer=Scale(1, 2, 1, 1),
        )
    },
    first_seed=FIRST_SEED,
    controls=CONTROLS_OF_PREFERENCES,
    claims=claims(TABLE_2, 0.9),
    **shown(TABLE_2),
)
