"""audit-truth: does the audit find out what is planted?

    recombine run audit-truth                   laptop: about 4 minutes on two cores
    expected: it does, in all kinds of worlds; the thresholds are the targets of the audit's design

Planted worlds of thirty kinds (audit/planted_kinds.py): noise, a rate for each combination, hard levels, pairs and
triples, xor, levels that add up, models that fail on what they never saw, and mixtures; 200 to 50,000 answers, 3 to 8
factors of 2 to 12 levels. Each has a known rate of failure for each combination and known causes. The audit gets the
table, and is judged on all combinations: those with answers, and those without.

The worlds here are drawn from the stream "judged". The audit was built on worlds of the stream "developed": other draws
of the same kinds, none of which is among these.
"""

from __future__ import annotations

import time

from ...audit.planted_kinds import NOTHING
from ...errors import require_int, unknown
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from ...lab.verdicts import Measurement
from ...trials import Context, Measured
from . import truth_readings as readings
from .judging import ANSWERS_GIVEN, judge
from .truth_claims import CLAIMS
from .truth_readings import EXACT, NAMES, planted_and_said, said_by_family

_STRONG = ["level", "level-zipf", "memorizer", "pair-many", "xor"]  # kinds with a cause that a small world shows


# -- cells ------------------------------------------------------------------------------------------------------------
def refuse(settings: Settings) -> None:
    if settings["options.told"] not in ANSWERS_GIVEN:
        raise unknown("name in told", settings["options.told"], ANSWERS_GIVEN)
    require_int("worlds", settings["options.worlds"], at_least=1, at_most=1000)
    require_int("combinations", settings["options.combinations"], at_least=100, at_most=100_000)


def measure(spec: Spec, context: Context) -> Measured:
    """Audits planted worlds of one kind."""
    rows, worlds, began = [], spec["options"]["worlds"], time.process_time()
    for number in range(worlds):
        rows += judge(spec["options"], spec["seed"], number)
        context.progress((number + 1) / worlds, f"{number + 1} of {worlds} worlds")
    return Measured(rows, {"seconds": time.process_time() - began})


def summary(record: Record) -> str:
    total = {name: sum(row["value"] for row in record.rows if row["metric"] == name) for name in ("hit", "planted")}
    return f"{total['hit']:g} of {total['planted']:g} causes found"


study = Study(
    id="audit-truth",
    version=3,
    title="Does the audit find out what is planted?",
    question="Where it is known which combinations a model fails on, and why, does the audit say so?",
    source="ours: the design of the audit",
    history="Versions 1 and 2 asked an audit that knew coverage only, in worlds whose failures were coverage or "
    "chance; three of its claims held by construction. Since version 3 the audit finds causes and says the risk of "
    "every combination, and is asked about thirty kinds of worlds. Its claims are the targets of the new design; no "
    "claim of the earlier versions is left.",
    minutes=Scale(1 / 3, 4, 60, 60),
    options={
        "worlds": Scale(1, 8, 100, 100),  # per kind and seed
        "combinations": Scale(300, 20_000, 20_000, 20_000),  # of a space, at most
        "told": "truth",  # what the audit is told; others than the truth are controls
    },
    vary={"kind": Arms({name: {"options.kind": name} for name in NAMES})},
    controls={
        "shuffled": {"told": "shuffled", "kind": _STRONG, "combinations": 1000},
        "shuffled-lottery": {"told": "shuffled", "kind": ["lottery"], "combinations": 1000, "worlds": 4},
        "shifted": {"told": "shifted", "kind": [*_STRONG, *EXACT]},
        "unsure": {"told": "unsure", "kind": ["level", "memorizer"]},
        "margins": {"told": "margins", "kind": ["pair-many", "pair-zipf", "triple-many"]},
        "planted": {"told": "planted", "kind": [*NOTHING, "additive"], "worlds": 2},
    },
    claims=CLAIMS,
    measurements=[
        Measurement("xor", readings.xor_found, "Share of the pairs of an xor that are found"),
        Measurement("caught", readings.caught, "Failures caught by the first 5 % by risk x frequency"),
    ],
    charts=[said_by_family, planted_and_said],
    otherwise="Whether the audit finds what is planted is not settled.",
    measure=measure,
    refuse=refuse,
    summary_of=summary,
)
