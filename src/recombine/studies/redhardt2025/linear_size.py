"""linear-size: how large must a network be for a family of tasks, and does training find so small a one?

    recombine run linear-size                   laptop: about 14 minutes on two cores
    expected: written nets do not grow with M; learned ones grow slower than where nothing is shared

Theorem 3.1 of Redhardt, Akram, Schug 2025 says that a ReLU network with a number of neurons linear in the number of
modules M computes the whole family. Four parts: nets whose weights are written down (`rc.theory`), and what the theorem
promises of them; two teachers that training cannot tell apart where it never connects two blocks (appendix A.1); the
*learned* counterpart, the least width at which a trained net has learned its family, by bisection; and training that
starts from the written weights. What holds by theorem is marked so, and is a test of what was written.

A width is enough if the score on trained combinations passes `threshold`: the world to compare with (`lookup-v1`) has a
teacher of its own for each combination, and nothing else can be learned there. Its number of teachers grows as M^K, the
weights of a net as the square of its width: an exponent of K/2 is what knowing them by heart would take. The budget of
training is the same for all M. Thresholds are ours and were written before any run.
"""

from __future__ import annotations

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from .linear_size_charts import CHARTS
from .linear_size_claims import CLAIMS, MEASUREMENTS
from .linear_size_search import label, measure, summary
from .redhardt_setting import hyperteacher, mlp, source

SMALL = {"inputs": Scale(4, 4, 8, 16), "hidden": Scale(4, 4, 8, 16), "outputs": Scale(4, 4, 8, 16)}
PUBLISHED_SIZE = {f"world.{name}": Scale(8, 16, 16, 16) for name in SMALL}
SMALL_STEPS = {"recipe.learning_rate": 3e-4, "recipe.weight_decay": 0.003}
#: each width has a program of its own, and takes seconds to compile: controls run it, and the smoke grid does not
NOT_IN_TESTS = Scale([], None, None, None)


def part(name: str, chosen: object = None, **changes: object) -> Arms:
    """A part of the study: an axis of one value, so that the parts lie side by side."""
    return Arms({name: {"options.part": name, **changes}}, chosen)


study = Study(
    id="linear-size",
    title="How large must a network be?",
    question="How does the size that a family of tasks takes grow with its modules: written down, and learned?",
    source=source("Theorem 3.1, A.1 and A.5"),
    minutes=Scale(0.4, 14, 360, "about 2 GPU-days"),
    world=hyperteacher(modules=8, at_most=2, **SMALL),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=64, depth=2),
    recipe={
        "steps": Scale(400, 2000, 10_000, 100_000),
        "tasks": 128,
        "samples": 1,
        "precision": "float32",
        "evaluations": 1,
    },
    keep=(),
    history=(
        "After single cells at seed 0, before any run of the grid: twins are compared by their largest difference, as "
        "the theorem measures, and no more in deviations (.31 to .33), which are still measured; training may lose "
        ".05, and not .02, which four seeds cannot tell from nothing; combinations with teachers of their own stop at "
        "M = 12; the error of written nets is to fall with an exponent of -1.8 at most, and no more of -1.9 (that "
        "claim holds by construction)."
    ),
    options={
        "part": "",
        "pieces": Scale(4, 4, 8, 8),
        "judged_by": "",  # another: the net is written for another teacher
        "blocks": "halves",
        "threshold": Scale(0.2, 0.9, 0.9, 0.95),  # R^2 on trained combinations that is asked for
        "too_narrow": Scale(16, 4, 4, 8),
        "widest": Scale(32, 256, 512, 2048),
        "close": Scale(2.1, 1.2, 1.15, 1.15),
        "start": "written",
        "trained_in": "",  # another world than the one that the net was written for
        "labels": "",  # shuffled: constituents of other tasks are decoded
    },
    vary=[
        {
            "part": part("written", **PUBLISHED_SIZE),
            "world.space.modules": Scale([4, 8], [8, 16, 32], [8, 16, 32, 64], [8, 16, 32, 64]),
            "options.pieces": Scale([2, 8], [4, 8, 16, 32], [4, 8, 16, 32, 64], [4, 8, 16, 32, 64]),
        },
        {"part": part("twins", **PUBLISHED_SIZE), "world.space.modules": [8]},
        {
            "part": part("learned", NOT_IN_TESTS, keep=Scale([], *[["panel"]] * 3)),
            "taught": Arms({"composed": {}}),
            "world.space.at_most": Scale([2], [2, 3], [2, 3], [2, 3]),
            "world.space.modules": Scale([4], [6, 9, 12, 24], [6, 9, 12, 18, 24], [6, 9, 12, 18, 24]),
        },
        {
            "part": part("learned", NOT_IN_TESTS, keep=Scale([], *[["panel"]] * 3)),
            "taught": Arms({"apart": {"world.name": "lookup-v1"}}),
            "world.space.at_most": Scale([2], [2, 3], [2, 3], [2, 3]),
            "world.space.modules": Scale([4], [6, 9, 12], [6, 9, 12, 18, 24], [6, 9, 12, 18, 24]),
        },
        {
            "part": part("start", keep=["panel"], **PUBLISHED_SIZE, **SMALL_STEPS),
            "options.start": Scale(["written"], ["written", "random"], ["written", "random"], ["written", "random"]),
        },
    ],
    controls={
        "another-teacher": {"part": ["written"], "judged_by": "another"},
        "lookup": {"part": ["written", "learned"], "taught": ["composed"], "modules": [3, 12]},
        "other-blocks": {"part": ["twins"], "blocks": "interleaved"},
        "one-block": {"part": ["twins"], "blocks": "one"},
        "same-arms": {"part": ["learned"], "taught": ["composed", "apart"], "modules": [4, 12]},
        "elsewhere": {"part": ["start"], "trained_in": "indifferent-v1"},
        "shuffled": {"part": ["start"], "labels": "shuffled"},
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=CHARTS,
    measure=measure,
    label_of=label,
    summary_of=summary,
    otherwise="Nothing about sizes is settled at this scale.",
)
