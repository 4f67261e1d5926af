"""joint-scaling: do a larger model and more data help each other?

    recombine run joint-scaling                 laptop: about 2 minutes on two cores
    expected: width pays where there are examples, and examples pay where there is width

"We find that simply scaling data and model size leads to compositional generalization", says the abstract of Redhardt,
Akram, Schug 2025. Its figures scale combinations (Fig. 2 top) and width (bottom) one at a time, and each step of its
training makes new examples. Here the number of *examples per combination* is finite: they are stored, training draws of
them, and every test makes new ones. The split is the same everywhere.

What the paper claims of both is that scaling them composes. That they help *each other* is an interaction, and ours: a
wider net divides the error by more where there are more examples. The error is 1 - R2, and the interaction is a ratio
of ratios, since a score has a ceiling: near it everything helps little. It is also measured as a difference of
differences of R2. Thresholds were written before any run. `paper` scale is the published net, recipe and family.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.scales import Scale
from ...lab.study import Study
from .joint_scaling_claims import CLAIMS, MEASUREMENTS
from .joint_scaling_readings import curve_rows, map_rows
from .redhardt_setting import hyperteacher, mlp, recipe, source

study = Study(
    id="joint-scaling",
    title="Do a larger model and more data help each other?",
    question=(
        "Does scaling the model and the number of stored examples together make a network compose, and does either pay "
        "only with the other?"
    ),
    source=source("abstract"),
    minutes=Scale(0.4, 2, 150, "about 2 GPU-days"),
    world=hyperteacher(modules=Scale(6, 12, 16, 16), at_most=Scale(2, 3, 3, 3)),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=96, depth=Scale(2, 3, 4, 4)),
    recipe=recipe(400, 2500, 20_000),
    vary={
        "net.width": Scale([8, 96], [16, 64, 256], [16, 32, 64, 128, 256, 512], [32, 128, 512, 2048]),
        # 2**20 stored examples of a combination are more than the steps of a run draw: as good as new ones
        "recipe.examples": Scale([1, 4096], [4, 64, 2**20], [4, 16, 64, 256, 1024, 2**20], [4, 64, 1024, 2**20]),
    },
    controls={"lookup": {"steps": 100}},  # nothing is to be learned about others, however long
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[
        kinds.heat(
            "Held-out R² by width and stored examples",
            "Mean over seeds. Tests use examples that were never stored.",
            map_rows,
            x="examples",
            y="width",
            x_title="stored examples per combination",
            y_title="hidden units per layer",
            value="held-out R²",
            begins=0.8,
        ),
        kinds.curves(
            "What width divides the error by",
            "Error of the narrowest net over that of the net, on combinations never trained. Lines that fan out are an "
            "interaction.",
            curve_rows,
            x="width",
            x_title="hidden units per layer",
            value="error divided by",
            log=True,
            low=0.0,
        ),
    ],
    otherwise="Nothing about scaling both is settled at this scale.",
)
