"""audit-truth: does the audit find out what is planted?

    recombine run audit-truth                   laptop: about 2 minutes on two cores
    expected: it does; it raises no alarm about a composer and says nothing sure about failures by lot

Made-up models (audit/planted.py) answer on random spaces of factors, trained on random combinations (the connected one
on two blocks). The audit gets the answers on half of the trained combinations and on some unseen ones, and is judged on
all others. The thresholds are those of the audit's design, written before any run; that "no confident
prediction" means at most 5 % of the combinations, as for alarms, is ours (a test at the level of .01 errs at times).
A prediction is confident if it is a call, "fails" or "holds".
Failures are ranked among unseen combinations; where all of these come out alike (a memorizer fails on each), trained
ones without answers are ranked with them. The noisy binder cannot be ranked to .95 by anybody, so it counts for
calibration only.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...errors import require_int, unknown
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Settings, Study, Texts
from ...lab.verdicts import Measurement
from ...trials import Context, Measured
from .judging import judge
from .truth_claims import CLAIMS
from .truth_readings import MODELS, abstained, beyond_rate, planted_and_said, said

TOLD = ("truth", "shuffled", "reversed", "related")


# -- cells ------------------------------------------------------------------------------------------------------------
def refuse(settings: Settings) -> None:
    if settings["options.told"] not in TOLD:
        raise unknown("name in told", settings["options.told"], TOLD)
    require_int("worlds", settings["options.worlds"], at_least=1)
    require_int("combinations", settings["options.combinations"], at_least=100, at_most=100_000)


def measure(spec: Spec, context: Context) -> Measured:
    """Audits a planted model on every world, and keeps what was said about the first."""
    rows: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    began, worlds = time.perf_counter(), spec["options"]["worlds"]
    for world in range(worlds):
        found, said = judge(spec["options"], spec["seed"], world)
        rows += found
        facts = facts or {"said": said}
        context.progress((world + 1) / worlds, f"{world + 1} of {worlds} worlds")
    return Measured(rows, facts | {"seconds": time.perf_counter() - began})


def summary(record: Record) -> str:
    found = [row["value"] for row in record.rows if row["metric"] == "auroc"]
    return f"AUROC {np.mean(found):.3f}" if found else "nothing to rank: all alike"


study = Study(
    id="audit-truth",
    title="Does the audit find out what is planted?",
    question="Where it is known which combinations a model fails on, and why, does the audit say so?",
    source="ours: the design of the audit",
    history='In a first laptop run an audit without any signal still called by the rate ("holds", where three in ten '
    "fail). Intervals that left out the rate were then counted instead of calls, which one in twenty does: "
    ".062 [-.091, .215], undecided. Since then such an audit leaves every combination open, and calls are "
    "counted again.",
    minutes=Scale(1 / 3, 2, 30, "20 minutes on two cores"),
    options={
        "worlds": Scale(1, 16, 100, 100),  # random spaces per model and seed
        "combinations": Scale(150, 400, 1000, 1000),  # of a space, about
        "trained": 0.2,  # share of them that is trained
        "tested": Scale(0.4, 0.3, 0.3, 0.3),  # share of the others whose answers are told
        "told": "truth",  # what the audit is told; others than the truth are controls
    },
    vary={"model": Arms({name: {"options.model": name} for name in MODELS})},
    controls={
        "shuffled": {"told": "shuffled", "model": ["binder"]},
        "reversed": {"told": "reversed", "model": ["composer", "binder"]},
        "related": {"told": "related", "model": ["unrelated"]},
    },
    claims=CLAIMS,
    measurements=[
        Measurement("abstains", abstained, "How often it abstains"),
        Measurement(
            "beyond-the-rate", beyond_rate, "How often its interval leaves out the rate of a model that fails by lot"
        ),
    ],
    charts=[planted_and_said],
    texts=Texts("What the audit says", "Of the first world of each model, first seed.", said),
    otherwise="Whether the audit finds what is planted is not settled.",
    measure=measure,
    refuse=refuse,
    summary_of=summary,
)
