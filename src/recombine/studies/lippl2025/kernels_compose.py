"""kernels-compose: what can a kernel compose, how do data mislead it, and do nets go the same way?

    recombine run kernels-compose               laptop: about 3 minutes on two cores
    expected: kernels add up what they have seen; sums come out too small; a context is taken for the answer

Of Lippl, Stachenfeld 2025 (ICLR; arXiv 2405.16391). From its abstract: kernel models "are constrained to adding up
values assigned to each combination of components seen during training (conjunction-wise additivity)", cannot
"transitively generalize equivalence relations", and show "memorization leak and shortcut bias", as deep networks do.
Version 1 adds that networks in the rich regime generalize on a task that is not additive. From its public code
(sflippl/compositional-generalization): the problems, the saliences, the formula of the leak (analysis/fig-3.Rmd), the
kernel of random ReLU nets, and that classification has the largest margin. Theorems and propositions are numbered as in
texts about the paper, which was not at hand itself.

Kernels are fitted exactly. Nets are MLPs on one-hot symbols; most of those in the paper see pictures. Thresholds are
ours, and were written before any run of the grid, after trials of single nets at seed 0. Of our own, too: the formula
with the salience of a net's *own* tangent kernel. With `--set fit=squares` the problem that a largest margin fails is
fitted by least squares, and the same kernels do not take the shortcut.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from .kernels_compose_claims import CLAIMS, MEASUREMENTS
from .kernels_compose_measure import measure, refuse
from .kernels_compose_readings import accuracy_rows, formula_rows, slope_rows

BEGINS = Arms({"rich": {"options.scale": 0.1}, "lazy": {"options.scale": 10.0}})
DEPTHS = Scale([1], [1, 3], [1, 2, 3, 4], [1, 2, 3, 4])


def of(model: str, problem: str) -> dict[str, Arms]:
    """A model and a problem as axes of one value each, so that these parts of the study lie side by side."""
    return {name: Arms({one: {f"options.{name}": one}}) for name, one in (("model", model), ("problem", problem))}


study = Study(
    id="kernels-compose",
    title="What can a kernel compose?",
    question="What do kernels, and nets, make of combinations never seen where data leak and mislead?",
    source="Lippl, Stachenfeld 2025 (arXiv 2405.16391)",
    minutes=Scale(0.3, 3, 45, "about 3 hours on two cores"),
    history=(
        "After single nets at seed 0, before any run of the grid, these were set: how large the features of lazy nets "
        "are (10 times the usual), that readouts begin at zero, the rate of training, and the thresholds of the claims "
        "about nets (a leak that is less by .1, a formula that holds within .1)."
    ),
    options={
        "model": "",
        "problem": "",
        "known": 1,
        "left_out": 3,
        "depth": 1,
        "scale": 1.0,
        "kernel": "overlap",  # distance: a control
        "fit": "margin",  # of yes and no; squares: least squares
        "shown": "symbols",  # classes: a control
        "width": Scale(32, 256, 512, 1000),
        "steps": Scale(300, 2000, 10_000, 50_000),
        "rate": Scale(1e-2, 1e-3, 1e-3, 1e-3),
    },
    vary=[
        {**of("kernel", "addition"), "options.known": [1, 2, 3, 4], "options.depth": [1, 4]},
        {**of("kernel", "context"), "options.left_out": [1, 2, 3], "options.depth": Scale([1], *[[1, 2, 3, 4]] * 3)},
        {**of("kernel", "equivalence"), "options.depth": [1, 4]},
        {**of("net", "addition"), "options.known": [1, 4], "options.depth": DEPTHS, "begins": BEGINS},
        {**of("net", "context"), "options.left_out": [1, 3], "options.depth": DEPTHS, "begins": BEGINS},
        {**of("net", "equivalence"), "options.depth": DEPTHS, "begins": BEGINS},
    ],
    controls={
        "distance": {"model": ["kernel"], "kernel": "distance"},
        "classes-shown": {"model": ["kernel"], "problem": ["equivalence"], "shown": "classes"},
        "both-lazy": {"model": ["net"], "problem": ["equivalence"], "rich:options.scale": 10.0},
        "few-left-out": {"problem": ["context"], "left_out": [1]},
        "unrelated": {"model": ["net"], "problem": ["addition"]},
        "same-arms": {"model": ["net"], "problem": ["addition"]},
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    metric="additivity",
    charts=[
        kinds.dots(
            "Accuracy on combinations never trained",
            "Chance is one half; below it, a model has taken something else for the answer. Equivalence is what no "
            "kernel of this kind can learn.",
            accuracy_rows,
            y="problem",
            value="accuracy",
        ),
        kinds.curves(
            "Sums of unseen pairs are too small",
            "Slope of what is said against what is right: 1 would be right.",
            slope_rows,
            x="known",
            x_title="symbols whose every pair was trained",
            value="slope",
        ),
        kinds.scatter(
            "The leak, and what a kernel at the beginning foretells",
            "Slope of unseen sums against Proposition 5.1, with the salience of the kernel, or of the net's own.",
            formula_rows,
            x_title="slope by the formula",
            value="slope",
        ),
    ],
    measure=measure,
    refuse=refuse,
    otherwise="Nothing about kernels and nets is settled at this scale.",
)
