"""decodability: does linear decodability of a task's constituents predict whether a network composes?

    recombine run decodability                  seconds after the studies that it reads; else as long as they take
    expected: it does, at a deep layer; at a shallow one it can stay high while the score falls

The claim is that of Figures 5 and 9 of Redhardt, Akram, Schug 2025, which print R^2 and p in images only; the
thresholds are ours and were written before any run. As published, the held-out score stands against the decodability of
the last layer but one, in each panel by itself: M = 8 with K and share varied, and encodings with sizes varied, of the
hyperteacher and of preferences. Both fall where training is short, so their correlation may say no more than that.
Beside it stands ours, over every trial of six studies: decodability against what is kept of the score from trained to
held-out combinations. Which layer to read is a choice, and a choice made on the same points flatters itself; so the
rule is chosen on all studies but one and scored on that one, in turn.
Our note: on a disconnected support the first layer stays decodable by construction while the score falls, so
decodability at a shallow layer is no evidence of composition; whether deeper layers lose it is asked.

Trials that those studies have run already, in folders beside this one, are read and not run again.
"""

from __future__ import annotations

from typing import Any

from ...lab.scales import Scale
from ...lab.study import Study, Texts
from . import redhardt_history as history
from .decodability_cells import cells_of, label, measure, refuse, same_cell_in, summary
from .decodability_claims import CLAIMS, MEASUREMENTS
from .decodability_readings import as_text, figures
from .redhardt_setting import source

POOLED = [
    "scaling-data",
    "scaling-model",
    "encodings",
    "supports",
    "scaling-data-preference",
    "scaling-model-preference",
]
#: two studies with trials enough for a correlation, in worlds and nets that share one compiled program
SMALL: dict[str, dict[str, Any]] = {
    "scaling-data": {
        "setting": ["mlp"],
        "modules": [8],
        "held_out": [0.2, 0.3, 0.4, 0.5, 0.6],
        "width": 32,
        "steps": 300,
    },
    "supports": {
        "support": ["random", "balanced", "unpopular", "disconnected", "as-many", "one-apart", "missing"],
        "modules": 8,
        "at_most": 2,
        "width": 32,
        "tasks": 96,
        "steps": 300,
        "evaluations": 1,
    },
}

study = Study(
    id="decodability",
    version=3,
    history=history.DECODABILITY,
    differs=history.DECODABILITY_DIFFER,
    title="Does decodability predict composition?",
    question="If a task's constituents can be read off a layer by a linear map, does the network compose?",
    source=source("Fig. 5 and 9"),
    minutes=Scale(
        2,
        "seconds after the six studies that it reads, else their sum, about 60 minutes on two cores",
        "seconds after the six studies that it reads, else their sum",
        "seconds after the six studies that it reads, else their sum",
    ),
    metric="r2",
    options={
        "studies": Scale(list(SMALL), POOLED, POOLED, POOLED),  # whose trials are read
        "world": "",  # one for all of them, if it is not their own
        "changes": Scale(SMALL, {}, {}, {}),  # of their settings, by study
    },
    controls={"same-arms": {"studies": ["supports"]}},
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[figures],
    texts=Texts(
        "Correlations",
        "Decodability against held-out score over all trials and seeds, by layer rule: Spearman, R² of a line, p.",
        as_text,
    ),
    otherwise="No claim on decodability is settled at this scale.",
    depends_on=POOLED,
    cells_of=cells_of,
    measure=measure,
    refuse=refuse,
    label_of=label,
    summary_of=summary,
    same_cell_in=same_cell_in,
)
