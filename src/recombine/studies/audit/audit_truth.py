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
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...charts import kinds
from ...errors import require_int, unknown
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Settings, Study, Texts
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from ...trials import Context, Measured
from .judging import judge
from .truth_readings import MODELS, abstained, beyond_rate, confident, false_alarms, largest_error, least_auroc

TOLD = ("truth", "shuffled", "reversed", "related")
SERIES = {"auroc": "AUROC", "called_fails": "called failing", "failed": "failing"}


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


# -- the report -------------------------------------------------------------------------------------------------------
def said_rows(t: StudyTable) -> kinds.Rows:
    return [
        {"model": row.model, "series": words, "seed": int(row.seed), "value": float(row.value)}
        for metric, words in SERIES.items()
        for row in t.where(metric=metric).groupby(["model", "seed"]).value.mean().reset_index().itertuples()
    ]


def said(records: Sequence[Record]) -> dict[str, str]:
    return {r.cell.spec["at"]["model"]: r.facts["said"] for r in records if r.cell.spec["seed"] == 0 and r.facts}


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
    claims=[
        Claim(
            "ranks-failures",
            least_auroc,
            at_least(0.95),
            "Where failure follows coverage, what fails is ranked above what does not",
            "shuffled",
            supported="the audit finds failures that follow from coverage",
            refuted="the audit misses failures that follow from coverage",
        ),
        Claim(
            "no-false-alarms",
            false_alarms,
            at_most(0.05),
            "Of a model that is right everywhere, at most 5 % of what is unseen is said to fail",
            "reversed",
            supported="it raises no false alarms",
            refuted="it raises false alarms",
        ),
        Claim(
            "nothing-sure-by-lot",
            confident,
            at_most(0.05),
            "Of a model that fails by lot, nothing sure is said",
            "related",
            supported="it says nothing sure about failures by lot",
            refuted="it is sure about failures by lot",
        ),
        Claim(
            "calibrated",
            largest_error,
            at_most(0.1),
            "Of ten combinations with a risk of .3, about three fail",
            "reversed",
            supported="its probabilities are calibrated",
            refuted="its probabilities are not calibrated",
        ),
    ],
    measurements=[
        Measurement("abstains", abstained, "How often it abstains"),
        Measurement(
            "beyond-the-rate", beyond_rate, "How often its interval leaves out the rate of a model that fails by lot"
        ),
    ],
    charts=[
        kinds.dots(
            "What is planted, and what is said",
            "One point per seed, mean over worlds: how well failures are ranked (where some fail and some do not), the "
            "share of unseen combinations that is said to fail, and the share that does.",
            said_rows,
            y="model",
            value="share",
            order=MODELS,
            series=list(SERIES.values()),
        )
    ],
    texts=Texts("What the audit says", "Of the first world of each model, first seed.", said),
    otherwise="Whether the audit finds what is planted is not settled.",
    measure=measure,
    refuse=refuse,
    summary_of=summary,
)
