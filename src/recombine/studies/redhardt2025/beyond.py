"""beyond: does composition reach past what the paper tried?

    recombine run beyond                        laptop: about 15 minutes on two cores
    expected: not known; each is a question that the literature leaves open

Redhardt, Akram, Schug 2025 test combinations of as many modules as were trained, with weights that were trained, in a
teacher that adds its modules, by plain nets. Here each of these is changed, one at a time: more active modules than
ever trained, weights between and beyond those trained, continuous weights, modules that multiply, three hidden layers
(their App. B.3), and a hypernetwork as student (in their code, without results). All claims and thresholds are ours,
and were written before any run: the same gap of at most .05 that the other studies ask for.
"""

from __future__ import annotations

from ...charts import kinds
from ...errors import UserError
from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from ...lab.verdicts import Claim, at_most
from . import redhardt_history as history
from .beyond_readings import gap, headline, rows
from .beyond_variants import CONTROLS, VARIANTS, WORDS, control_of
from .redhardt_setting import DECODABILITY, SOURCE, hyperteacher, mlp, recipe


def refuse(settings: Settings) -> None:
    most, modules = settings["world.space.at_most"], settings["world.space.modules"]
    if "more-active" in settings["variant"] and most >= modules:
        raise UserError(
            f"more-active asks for one module more than at_most={most}, and modules={modules} has none left; "
            f"at_most={modules - 1} would do"
        )


study = Study(
    id="beyond",
    version=3,
    history=history.BEYOND,
    differs=history.BEYOND_DIFFER,
    title="How far does composition reach?",
    question="Does a network that composes also handle more modules, other weights, or modules that do not add up?",
    source=f"ours, on what {SOURCE} leave open",
    minutes=Scale(1, 15, 240, "about 3 GPU-hours"),
    world=hyperteacher(modules=Scale(8, 16, 16, 16), at_most=Scale(2, 3, 3, 3)),
    support={"name": "random", "held_out": 0.25},
    net=mlp(width=Scale(96, 384, 768, 1024), depth=Scale(2, 3, 4, 4)),
    recipe=recipe(800, 3000, 20_000),
    probes=DECODABILITY,
    vary={
        "variant": Arms(
            VARIANTS,
            chosen=Scale(
                ["reference", "more-active", "weights-between"], list(VARIANTS), list(VARIANTS), list(VARIANTS)
            ),
        )
    },
    controls=CONTROLS,
    claims=[
        Claim(
            variant,
            lambda t, v=variant: gap(t, v),
            at_most(0.05),
            f"It composes with {words}: the gap is at most .05",
            control_of(variant),
            description=f"R2 on what was trained minus on what is asked, {variant}",
            needs={"variant": [variant]},
        )
        for variant, words in WORDS.items()
    ],
    charts=[
        kinds.dots(
            "What was trained against what is asked",
            "R² on trained combinations and on what each variant asks for, one point per seed. Where both lie "
            "together, composition reaches that far.",
            rows,
            y="variant",
            value="R²",
            order=list(WORDS.values()),
            series=["trained", "asked"],
        )
    ],
    headline=headline,
    refuse=refuse,
)
