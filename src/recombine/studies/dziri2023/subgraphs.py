"""subgraphs: do nets compute, or match pieces of computations that they saw in training?

    recombine run subgraphs                     laptop: lists with steps, the same padded, and products; see `minutes`
    expected: new lists of trained sizes come out right, larger ones hardly ever

Of Dziri et al. 2023, Faith and Fate (arXiv 2305.18654). Lists ask which numbers to take for the largest sum, no two of
them neighbors; their answer shows every step of a dynamic program. A step is a node of a computation graph and has a
label: correct, local error, propagation, restoration (`tasks/sequences/graph_tracing.py`). Thresholds are the criteria
that were set for a small reproduction, before any run of the study; single nets had been trained at seed 0 before.

Nets often stop at the length that they were trained on. So beside plain lists stand *padded* ones, whose texts and
answers are as long for every size: there no length is new, only what fills it. `night` has all arms, with relative and
sinusoidal positions, answers without steps, products with steps and Einstein's riddle; and *does scale buy coverage?*,
amounts of data and sizes of nets. Of a held-out list the full computation of the last step is never one that training
has shown, since it holds the whole list; how many of all steps were never shown is measured.
"""

from __future__ import annotations

from ...lab.scales import Scale
from ...lab.study import Study, Texts
from .asked_by_size import OF_NET, measure
from .subgraphs_arms import LISTS, PADDED, PRODUCTS, STEPS, VARY
from .subgraphs_charts import CHARTS
from .subgraphs_claims import CLAIMS, MEASUREMENTS
from .subgraphs_texts import texts

SHARED = {"weight_decay": 0.01, "b2": 0.98, "nesterov": False, "warmup": 0.1, "floor": 0.05, "history": "losses"}
SHARED |= {"tasks": 64, "learning_rate": 1e-3}
SPACE = Scale(
    {"exhaustive": 2, "longest": 4, "each": 40},
    {"exhaustive": 4, "longest": 7, "each": 500},
    {"exhaustive": 5, "longest": 9, "each": 500},
    {"exhaustive": 5, "longest": 10, "each": 500},
)
FEW = {"recipe.steps": 5, "arm": [STEPS], "asked": 100}


def indifferent(**more: object) -> dict[str, object]:
    """One answer to all lists: learned in a few steps, and as right at larger sizes."""
    return {"world.name": "dynamic-program-indifferent-v1", "recipe.steps": 40, "arm": [STEPS]} | more


study = Study(
    id="subgraphs",
    title="Do nets compute, or match what they saw?",
    question="Does a net that carries out an algorithm at trained sizes do so at larger ones, and where does it err?",
    source="Dziri et al. 2023 (arXiv 2305.18654)",
    minutes=Scale(0.5, 18, 560, "about 200 GPU-hours"),
    world={"name": LISTS, "space": SPACE, "steps": True, "padded": False},
    support={
        "name": "sizes",
        "trained": Scale(["1", "2"], ["1", "2", "3", "4"], *[["1", "2", "3", "4", "5"]] * 2),
        "in_domain": 0.1,
    },
    net={
        "name": "decoder-transformer",
        "width": Scale(16, 128, 128, 768),
        "depth": Scale(1, 4, 4, 12),
        "heads": Scale(2, 4, 4, 12),
        "feedforward": Scale(32, 256, 256, 3072),
        "positions": "rotary",
    },
    recipe=Scale(
        SHARED | {"steps": 40, "learning_rate": 5e-3, "evaluations": 0, "precision": "float32"},
        SHARED | {"steps": 1500, "evaluations": 3},
        SHARED | {"steps": 4000, "evaluations": 4},
        SHARED | {"steps": 420_000, "evaluations": 20, "learning_rate": 3e-4, "tasks": 128},
    ),
    asks=({"streams": ["test"]},),
    # answers: of the net, or planted ones, for controls (`planted_answers.py`)
    options={"asked": Scale(40, 300, 500, 500), "answers": OF_NET},
    vary=VARY,
    controls={
        "lookup": FEW | {"recipe.steps": 40},
        "indifferent": indifferent(),
        "indifferent-padded": indifferent(arm=[PADDED]),
        "indifferent-scales": indifferent(data=["a tenth", "a hundredth"], model=["usual"]),
        "scattered": FEW | {"answers": "scattered"},
        "all-or-nothing": FEW | {"answers": "all or nothing"},
        "unrelated": FEW | {"arm": [PRODUCTS]},
        "same-arms": FEW | {"data": ["all", "a hundredth"], "model": ["usual"]},
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=CHARTS,
    texts=Texts(
        "Beside the published numbers, and what is written",
        "Truth above answer, word by word; a mark stands where they differ. All published nets are far larger.",
        texts,
    ),
    measure=measure,
    differs=(
        "Small nets trained from nothing on words of one node each, not large ones fine-tuned on text.",
        "Greedy answers; published ones were drawn at temperature 1, top-p .7.",
        "A scratchpad names no operation: which step a word is follows from its place.",
    ),
    otherwise="Nothing about larger sizes is settled at this scale.",
)
