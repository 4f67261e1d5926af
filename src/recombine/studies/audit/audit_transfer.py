"""audit-transfer: can failures in one family of worlds be foreseen from failures in others?

    recombine run audit-transfer                laptop: about 5 minutes on two cores
    recombine risk fit runs/audit-transfer-laptop --out prior.json      what ships with the audit

Nets are trained on a few random combinations in three families of worlds and scored on each unseen combination by
itself. A prior is then learned from the coverage of combinations (audit/features.py) in two families, and asked about
the nets of the third, of which it has seen nothing. The thresholds, Spearman .6 and AUROC .8, are those of the audit's
design, written before any run. So is what fails: a combination whose score lies below the 5 % quantile of the same net
over trained combinations, as in the prototype; other marks are questions. Both are read within each net, and averaged
over nets: to rank combinations of different nets is easier.

Ours: bumps have a size as third factor, since of two factors every unseen combination is an unseen pair, and coverage
says nothing more about it. Splits with a module or level left out, or with two blocks, teach the prior what only they
can (levels never trained, groups never combined), and are not part of what is judged.
"""

from __future__ import annotations

from ...errors import unknown
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from .families import FAMILIES, NET, RECIPE, WORLD, families
from .forecasts import claims_about, measurements_of
from .transfer_charts import CALIBRATION, FORESEEN, headline
from .transfer_trials import measure, summary

ANSWERS_GIVEN = ("truth", "shuffled")
HELD_OUT = Scale([0.6, 0.8], [0.7, 0.8, 0.9], [0.5, 0.6, 0.7, 0.8, 0.9, 0.95], [0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
#: larger preferences than elsewhere, so that there are enough combinations to rank
FAMILY = families(
    Scale(["hyperteacher", "bumps"], *[list(FAMILIES)] * 3),
    modules=Scale(4, 8, 10, 10),
    features=Scale(4, 8, 10, 16),
    bumps="sized-bumps-v1",
)
#: splits which teach, and are not judged
TEACHING = Arms(
    {
        "missing": {"support": {"name": "missing"}},
        "disconnected": {"support": {"name": "disconnected", "within": Same("support.held_out")}},
    }
)


def refuse(settings: Settings) -> None:
    if settings["options.told"] not in ANSWERS_GIVEN:
        raise unknown("name in told", settings["options.told"], ANSWERS_GIVEN)


study = Study(
    id="audit-transfer",
    title="Can failures be foreseen in worlds never seen?",
    question="Does a forecast of failures that was learned in some families of worlds hold in another?",
    source="ours: the design of the audit, after a prototype",
    history="A first laptop run scored each combination on 32 tasks, which is a coarse score (Spearman .33, .08 and "
    ".41; AUROC .68, .49 and .70); now it is 128.",
    minutes=Scale(0.5, 5, 70, "about 3 hours on two cores"),
    world=WORLD,
    support={"name": "random", "held_out": Scale(0.6, 0.7, 0.5, 0.5)},
    net=NET,
    recipe=RECIPE,
    asks=[],
    options={"told": "truth"},
    vary=[
        {"family": FAMILY, "support": Arms({"random": {}}), "support.held_out": HELD_OUT},
        {"family": FAMILY, "support": TEACHING},
    ],
    controls={
        "shuffled": {
            "told": "shuffled",
            "family": list(FAMILIES),
            "support": ["random"],  # what is judged; the other splits only teach
            "preference:world.space.modules": 6,  # enough combinations that some fail and some hold
            "preference:world.features": 6,
        }
    },
    claims=[claim for name in FAMILIES for claim in claims_about(name)],
    measurements=[one for name in FAMILIES for one in measurements_of(name)],
    charts=[FORESEEN, CALIBRATION],
    headline=headline,
    measure=measure,
    refuse=refuse,
    summary_of=summary,
)
