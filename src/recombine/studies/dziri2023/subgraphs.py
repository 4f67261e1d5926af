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
from .asked_by_size import measure
from .dziri_setting import DIFFERS, FEW, NET, OPTIONS, RECIPE, SOURCE, SUPPORT, WORLD, planted
from .subgraphs_arms import PADDED, PRODUCTS, STEPS, VARY
from .subgraphs_charts import CHARTS
from .subgraphs_claims import CLAIMS, MEASUREMENTS
from .subgraphs_texts import texts

HISTORY = (
    "Thresholds were set before any net had learned. Then three were trained, at seed 0, to see how long it takes and "
    "what is written. Lists with steps, 600 steps of training: at the first larger size none was right, and .99 of "
    "them ended after as many words as those of the largest trained size. Padded: none had every step right, half of "
    "the answers were right all the same. Products: the first and the last digits were right, those between were not, "
    "and few whole answers. So whether a net extends what it was trained on is asked of lists only; nothing else was "
    "changed."
)


def indifferent(**more: object) -> dict[str, object]:
    """One answer to all lists: learned in a few steps, and as right at larger sizes."""
    return {"world.name": "dynamic-program-indifferent-v1", "recipe.steps": 40, "arm": [STEPS]} | more


study = Study(
    id="subgraphs",
    title="Do nets compute, or match what they saw?",
    question="Does a net that carries out an algorithm at trained sizes do so at larger ones, and where does it err?",
    source=SOURCE,
    minutes=Scale(0.5, 18, 560, "about 200 GPU-hours"),
    world=WORLD,
    support=SUPPORT,
    net=NET,
    recipe=RECIPE,
    asks=(),  # it is asked size by size
    options=OPTIONS,
    vary=VARY,
    controls={
        "lookup": FEW | {"recipe.steps": 40},
        "indifferent": indifferent(),
        "indifferent-padded": indifferent(arm=[PADDED]),
        "indifferent-scales": indifferent(data=["a tenth", "a hundredth"]),
        "scattered": planted("scattered"),
        "all-or-nothing": planted("all or nothing"),
        "unrelated": FEW | {"arm": [PRODUCTS]},
        "same-arms": FEW | {"data": ["all", "a hundredth"]},
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
    differs=DIFFERS,
    history=HISTORY,
    otherwise="Nothing about larger sizes is settled at this scale.",
)
