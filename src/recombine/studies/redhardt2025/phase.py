"""phase: where composition begins, on a map of coverage and width.

    recombine run phase                         laptop: about 3 minutes on two cores
    expected: below a coverage no width helps; above it width decides

The map is ours, over the hyperteacher of Redhardt, Akram, Schug 2025: its Figure 2 shows the axes one at a time. The
thresholds were written before any run. `paper` scale is the published net, recipe and family (M=16, K=3, 4 layers).
Scores below zero count as zero.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import redhardt_history as history
from .phase_charts import caption, map_rows
from .phase_readings import BEGINS, best_at_lowest, coverage_where_it_begins, spread_at_highest
from .redhardt_setting import DECODABILITY, SOURCE, hyperteacher, mlp, recipe

study = Study(
    id="phase",
    version=2,
    history=history.ONLY_THE_ROW,
    title="Where does composition begin?",
    question=(
        "How much has to be trained, and how wide must a network be, before combinations never seen come out right?"
    ),
    source=f"ours, after {SOURCE}, Fig. 2",
    minutes=Scale(0.5, 3, 130, "about 2 GPU-days"),
    world=hyperteacher(modules=Scale(8, 12, 16, 16), at_most=Scale(2, 3, 3, 3)),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=96, depth=Scale(2, 3, 4, 4)),
    recipe=recipe(500, 2500, 20_000),
    probes=Scale([], DECODABILITY, DECODABILITY, DECODABILITY),
    vary={
        "support.held_out": Scale(
            [0.25, 0.7],
            [0.25, 0.5, 0.75, 0.85, 0.92, 0.96],
            [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98],
            [0.125, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98],
        ),
        "net.width": Scale(
            [8, 96], [16, 32, 64, 128, 256], [16, 32, 64, 128, 256, 512], [16, 32, 64, 128, 256, 512, 1024, 2048]
        ),
    },
    controls={"lookup": {"steps": 100}},  # nothing is to be learned about others, however long
    claims=[
        Claim(
            "no-width-helps",
            best_at_lowest,
            at_most(0.5),
            "At the lowest coverage no width reaches a held-out R2 of .5",
            "indifferent",
            supported="at the lowest coverage no width reaches half of the variance",
            refuted="a wide net composes in part even at the lowest coverage tried",
        ),
        Claim(
            "width-decides",
            spread_at_highest,
            at_least(0.2),
            "At the highest coverage the widest net is better than the narrowest by at least .2",
            "lookup",
            supported="where coverage is high, width decides",
            refuted="where coverage is high, width makes little difference",
        ),
    ],
    measurements=[
        Measurement(
            "begins",
            coverage_where_it_begins,
            f"Share of combinations that has to be trained until the widest net reaches {BEGINS}",
        )
    ],
    charts=[
        kinds.heat(
            "Where composition begins",
            caption,
            map_rows,
            x="trained",
            y="width",
            x_title="share of combinations trained",
            y_title="hidden units per layer",
            value="held-out R²",
            begins=BEGINS,
        )
    ],
    otherwise="The map is not settled at this scale.",
)
