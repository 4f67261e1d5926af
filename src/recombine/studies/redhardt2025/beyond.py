"""beyond: does composition reach past what the paper tried?

    recombine run beyond                        laptop: about 4 minutes on two cores
    expected: not known; each is a question that the literature leaves open

Redhardt, Akram, Schug 2025 test combinations of as many modules as were trained, with weights that were trained, in a
teacher that adds its modules, by plain nets. Here each of these is changed, one at a time: more active modules than
ever trained, weights between and beyond those trained, continuous weights, modules that multiply, three hidden layers
(their App. B.3), and a hypernetwork as student (in their code, without results). All claims and thresholds are ours,
and were written before any run: the same gap of at most .05 that the other studies ask for.
"""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...charts.vega import listed
from ...errors import UserError
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from ...lab.study_table import PreconditionFailed, StudyTable
from ...lab.verdicts import Claim, at_most
from .paper import DECODABILITY, SOURCE, hyperteacher, mlp, recipe

ELSEWHERE = "elsewhere"  # what scores in another world than that of training are called


# -- what is changed --------------------------------------------------------------------------------------------------
def other_weights(trained: list[float], asked: list[float]) -> dict[str, Any]:
    """Trained with some weights, and asked with others."""
    there = {"streams": [ELSEWHERE], "world": Same("world", then=lambda world: world | {"weights": asked})}
    return {"world.weights": trained, "asks": [{"streams": ["test", "held_out"]}, there]}


def multiplied(world: str) -> str:
    """The world whose modules multiply; a control is one world for all variants."""
    return "product-v1" if world == "hyperteacher-v1" else world


def deeper(world: str) -> list[int] | int:
    """Hidden layers of a deep teacher; a control is one world for all variants, with the one layer that it has."""
    return [16, 16, 16] if world == "hyperteacher-v1" else 16


VARIANTS: dict[str, dict[str, Any]] = {
    "reference": {},
    "more-active": {
        "support": {"name": "fewer-active"},
        "world.space.at_most": Same("world.space.at_most", then=lambda most: most + 1),
    },
    "weights-between": other_weights([0.5, 0.6, 0.9, 1.0], asked=[0.7, 0.8]),
    "weights-beyond": other_weights([0.5, 0.6, 0.7, 0.8], asked=[0.9, 1.0]),
    "continuous-weights": {"world.weights": "continuous"},
    "product": {"world.name": Same("world.name", then=multiplied)},
    "deep-teacher": {"world.hidden": Same("world.name", then=deeper)},
    "hypernetwork": {"net": {"name": "hypernetwork", "width": Scale(16, 64, 256, 1024)}},
}
WORDS = {
    "reference": "nothing changed",
    "more-active": "more modules at once than trained",
    "weights-between": "weights between those trained",
    "weights-beyond": "weights beyond those trained",
    "continuous-weights": "continuous weights",
    "product": "modules that multiply",
    "deep-teacher": "a teacher of three hidden layers",
    "hypernetwork": "a hypernetwork as student",
}


def refuse(settings: Settings) -> None:
    most, modules = settings["world.space.at_most"], settings["world.space.modules"]
    if "more-active" in settings["variant"] and most >= modules:
        raise UserError(
            f"more-active asks for one module more than at_most={most}, and modules={modules} has none left; "
            f"at_most={modules - 1} would do"
        )


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def asked(t: StudyTable, variant: str) -> float:
    """The score that a variant is about: elsewhere if it is scored there, else on held-out combinations."""
    stream = ELSEWHERE if "asks" in VARIANTS[variant] else "held_out"
    return t.score(stream, group="", variant=variant)


def gap(t: StudyTable, variant: str) -> float:
    """Score on what was trained minus on what was asked."""
    return t.learned(variant=variant) - asked(t, variant)


def rows(t: StudyTable) -> kinds.Rows:
    found = []
    for variant in VARIANTS:
        for seed, part in t.where(variant=variant).seeds():
            try:
                pair = {"trained": part.trained(variant=variant), "asked": asked(part, variant)}
            except PreconditionFailed:
                continue
            found += [
                {"variant": WORDS[variant], "series": series, "seed": seed, "value": value}
                for series, value in pair.items()
            ]
    return found


def headline(t: StudyTable, outcomes: dict[str, str]) -> str:
    parts = []
    for outcome, verb in (("supported", "composes with"), ("refuted", "does not compose with")):
        names = [words for variant, words in WORDS.items() if outcomes.get(variant) == outcome]
        names = [words for words in names if words != WORDS["reference"]]
        if names:
            parts.append(f"{verb} {listed(names)}")
    return f"It {'; it '.join(parts)}." if parts else "Nothing is settled at this scale."


study = Study(
    id="beyond",
    title="How far does composition reach?",
    question="Does a network that composes also handle more modules, other weights, or modules that do not add up?",
    source=f"ours, on what {SOURCE} leave open",
    minutes=Scale(1, 4, 180, "about 3 GPU-hours"),
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
    # few enough to be learned by heart
    controls={
        "lookup": {
            "modules": Scale(4, 6, 6, 6),
            "tasks": Scale(48, 96, 96, 128),
            "variant": Scale(["reference"], *[list(VARIANTS)] * 3),
        }
    },
    claims=[
        Claim(
            variant,
            lambda t, v=variant: gap(t, v),
            at_most(0.05),
            f"It composes with {words}: the gap is at most .05",
            "lookup",
            description=f"R2 on what was trained minus on what is asked, {variant}",
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
