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

from collections.abc import Sequence
from typing import Any

from ..errors import UserError
from ..keys import key_for
from ..lab.store import Record, Table
from ..lab.study import Context, Figure, Knob, Measured, check_choices, recipe_knobs, studies
from ..lab.verdicts import Claim, NotMet
from ..training import Recipe, Trained, stream_scores
from . import charts, trial
from .trial import LEARNED, TRAINED_BY, TrialStudy

SOURCE = "ours, on what Redhardt, Akram, Schug 2025 (arXiv 2507.07207) leave open"
#: what is changed in the trial; `elsewhere` changes the world in which the trained net is scored
VARIANTS: dict[str, dict[str, Any]] = {
    "reference": {},
    "more-active": {"support": "fewer-active"},
    "weights-between": {
        "task_options": {"weights": [0.5, 0.6, 0.9, 1.0]}, "elsewhere": {"weights": [0.7, 0.8]}
    },
    "weights-beyond": {
        "task_options": {"weights": [0.5, 0.6, 0.7, 0.8]}, "elsewhere": {"weights": [0.9, 1.0]}
    },
    "continuous-weights": {"task_options": {"weights": "continuous"}},
    "product": {"task": "product-v1"},
    "deep-teacher": {"task_options": {"hidden": [16, 16, 16]}},
    "hypernetwork": {"net": "hypernetwork", "depth": None},
}  # fmt: skip
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


def gap(table: Table, variant: str) -> float:
    """Score on what was trained minus on what was asked; NotMet if that net is missing or did not learn."""
    part = table[table.variant == variant]
    trained = trial.one(trial.final(part, "r2", "test"), variant)
    if trained < LEARNED:
        raise NotMet(f"{variant} was not learned: {trained:.2f} on trained combinations, below {LEARNED}")
    return trained - asked(part, variant)


def asked(part: Table, variant: str) -> float:
    """The score that a variant is about: elsewhere if it is scored there, else on held-out combinations."""
    stream = "elsewhere" if "elsewhere" in VARIANTS[variant] else "held_out"
    return trial.one(trial.final(part, "r2", stream, ""), variant)


class Beyond(TrialStudy):
    """What the paper leaves open: more modules, other weights, other ways to compose, another student."""

    id = "beyond"
    version = 1
    title = "How far does composition reach?"
    question = "Does a network that composes also handle more modules, other weights, or modules that do not add up?"
    source = SOURCE
    varied = ("variant",)
    running_time = {"smoke": "1 minute", "laptop": "4 minutes on two cores", "paper": "about 3 GPU-hours"}
    knobs = (
        Knob("task", "which world; lookup-v1 is the control, for all variants", *("hyperteacher-v1",) * 3),
        Knob("variants", "what is changed", ["reference", "more-active", "weights-between"], *(list(VARIANTS),) * 2),
        Knob("modules", "M, modules of the teacher", 8, 16, 16),
        Knob("at_most", "K, most modules active at once", 2, 3, 3),
        Knob("held_out", "share of the combinations that is held out", *(0.25,) * 3),
        Knob("encoding", "how a combination is shown", *("identity",) * 3),
        Knob("support", "how training combinations are chosen", *("random",) * 3),
        Knob("width", "hidden units a layer", 96, 384, 1024),
        Knob("depth", "hidden layers", 2, 3, 4),
        Knob("hypernetwork_width", "hidden units of the net that the hypernetwork writes", 16, 64, 1024),
        *recipe_knobs(
            Recipe(steps=800, evaluations=1), Recipe(evaluations=2), Recipe.published(), TRAINED_BY
        ),
    )  # fmt: skip
    # No combination tells anything about another. Few enough to be learned by heart.
    controls = {"lookup": {"task": "lookup-v1", "modules": 6}}
    claims = tuple(
        Claim(
            variant, f"It composes with {WORDS[variant]}: the gap is at most .05", SOURCE, "at most", 0.05,
            lambda t, v=variant: gap(t, v), f"R2 on what was trained minus on what is asked, {variant}", "lookup",
        )
        for variant in VARIANTS
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        settings = dict(settings)
        chosen, hyper = settings.pop("variants"), settings.pop("hypernetwork_width")
        check_choices("variants", chosen, VARIANTS)
        base = {"seed": seed, "net": "mlp", **settings}
        specs = []
        for variant in chosen:
            changes = dict(VARIANTS[variant])
            if settings["task"] != "hyperteacher-v1":  # a control is one world for all variants
                changes.pop("task", None)
                if variant == "deep-teacher":
                    changes.pop("task_options", None)
            if variant == "more-active":
                if settings["at_most"] >= settings["modules"]:
                    raise UserError(
                        f"more-active asks for one module more than at_most={settings['at_most']}, and modules="
                        f"{settings['modules']} has none left; at_most={settings['modules'] - 1} would do"
                    )
                changes["at_most"] = settings["at_most"] + 1
            if variant == "hypernetwork":
                changes["width"] = hyper
            specs.append(base | {"variant": variant} | changes)
        return specs

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        def elsewhere(run: Trained) -> Measured:
            """Scores in a world like the one trained in, but for the options that the variant changes."""
            changes = spec.get("elsewhere")
            if not changes:
                return Measured([])
            world = trial.build_task(spec | {"task_options": spec.get("task_options", {}) | changes})
            found = stream_scores(world, run.support.held_out, run.nets[0], key_for("held_out/elsewhere", spec["seed"]))
            step = run.recipe.steps
            rows = [trial.row("score", "elsewhere", metric, value, step=step) for metric, value in found.items()]
            return Measured(rows)

        return trial.measure(spec, context, more=elsewhere)

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        parts = []
        for outcome, verb in (("supported", "composes with"), ("refuted", "does not compose with")):
            names = [WORDS[v] for v in VARIANTS if outcomes.get(v) == outcome and v != "reference"]
            if names:
                parts.append(f"{verb} {charts.listed(names)}")
        return f"It {'; it '.join(parts)}." if parts else "Nothing is settled at this scale."

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        if table.empty:
            return []
        names = [variant for variant in VARIANTS if variant in set(table.variant)]
        rows = []
        for variant in names:
            for seed, part in table[table.variant == variant].groupby("seed"):
                try:
                    pair = (trial.one(trial.final(part, "r2", "test"), variant), asked(part, variant))
                except NotMet:
                    continue
                rows += [
                    {"variant": WORDS[variant], "series": series, "seed": int(seed), "value": value}
                    for series, value in zip(("trained", "asked"), pair, strict=True)
                ]
        if not rows:
            return []
        spec = charts.dots(rows, "variant", [WORDS[v] for v in names], ["trained", "asked"], "R²", top=1.0)
        return [
            Figure(
                "What was trained against what is asked",
                "R² on trained combinations and on what each variant asks for, a point a seed. Where both lie "
                "together, composition reaches that far." + charts.arrows(spec),
                spec,
            )
        ]


studies.register("beyond")(Beyond())
