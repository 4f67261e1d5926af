"""compounding: do errors of single steps explain how nets fail at depth and at width?

    recombine run compounding                   seconds after subgraphs, whose cells it reads
    expected: not at the rates of trained sizes, which are next to nothing; whether at any one rate is asked

Dziri et al. 2023 (arXiv 2305.18654) prove two bounds from eps, the chance that a step goes wrong whose inputs are
right, and c, that one comes out right whose inputs are wrong: over depth accuracy tends to c / (c + eps), over width it
falls as (1 - eps)^n. They estimate neither; here both are, from the labels of nodes, at each size by itself, and the
curves that follow are drawn over what was measured. A recursion with the rates of a size may fit where errors compound
within an answer. That those rates are the ones of trained sizes is another claim, ours: without it, depth explains
nothing. A step that is not written counts as wrong.

Trials that `subgraphs` has run already, in a folder beside this one, are read and not run again.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.cells import Cell, Spec
from ...lab.scales import SCALES, Scale
from ...lab.study import Study, studies
from .asked_by_size import measure
from .compounding_claims import CLAIMS, MEASUREMENTS
from .compounding_readings import depth_rows, rate_rows, width_rows
from .dziri_setting import DIFFERS, NET, OPTIONS, RECIPE, SOURCE, SUPPORT, WORLD, planted
from .subgraphs_arms import ALL_DATA, ARMS, PADDED, STEPS, USUAL_NET, WITH_STEPS

LENDER = "subgraphs"
BESIDE = "beside"  # the option that says in which folder subgraphs has run


def as_in_subgraphs(spec: Spec) -> Spec:
    """The cell as subgraphs has it."""
    return spec | {"options": {name: value for name, value in spec["options"].items() if name != BESIDE}}


def same_cell_in(cell: Cell) -> tuple[Cell, str] | None:
    """The cell of subgraphs; none in a control, whose answers are others."""
    if "control" in cell.spec:
        return None
    return Cell(LENDER, studies[LENDER].version, as_in_subgraphs(cell.spec)), cell.spec["options"][BESIDE]


LATER = "seconds after subgraphs, one of the studies that it reads, else half as long"
study = Study(
    id="compounding",
    title="Do errors compound?",
    source=SOURCE,
    question="Do the rates at which single steps fail and recover foretell how nets fail at larger sizes?",
    minutes=Scale(0.5, "seconds after subgraphs, else about 12 minutes on two cores", LATER, LATER),
    world=WORLD,
    support=SUPPORT,
    net=NET,
    recipe=RECIPE,
    asks=(),  # it is asked size by size
    options=OPTIONS | {BESIDE: Scale(*(f"{LENDER}-{scale}" for scale in SCALES))},
    vary={
        "arm": Arms({name: ARMS[name] for name in WITH_STEPS}, Scale([STEPS], [STEPS, PADDED], WITH_STEPS, WITH_STEPS)),
        "data": ALL_DATA,
        "net_size": USUAL_NET,
    },
    controls={
        "cliff": planted("cliff"),
        "cliff-padded": planted("cliff", arm=[PADDED]),
        "all-or-nothing": planted("all or nothing"),
        "larger-wrong": planted("larger wrong"),
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[
        kinds.curves(
            "Right steps by layer, measured and foretold: {split}",
            "Lines: the recursion by eps and c of the same answers, and by those of the largest trained size.",
            depth_rows,
            x="depth",
            x_title="layer",
            value="share of right steps",
            split="which",
        ),
        kinds.curves(
            "Right answers against the number of steps: {split}",
            "Lines: the bound over width, by the rates of each size, and by those of the largest trained size.",
            width_rows,
            x="steps",
            x_title="steps",
            value="share of right answers",
            split="arm",
        ),
        kinds.curves(
            "Rates of errors and of recoveries: {split}",
            "eps after right inputs, c after wrong ones; chance: how often the steps of another list would be right.",
            rate_rows,
            x="beyond",
            x_title="sizes beyond training",
            value="rate",
            split="arm",
        ),
    ],
    differs=DIFFERS,
    depends_on=[LENDER],
    measure=measure,
    same_cell_in=same_cell_in,
    otherwise="Nothing about compounding errors is settled at this scale.",
)
