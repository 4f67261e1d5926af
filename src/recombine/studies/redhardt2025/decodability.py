"""decodability: does linear decodability of a task's constituents predict whether a network composes?

    recombine run decodability                  seconds after the studies that it reads; else as long as they take
    expected: it does, at a deep layer; at a shallow one it can stay high while the score falls

The claim is that of Figures 5 and 9 of Redhardt, Akram, Schug 2025, which print R^2 and p in images only; the
thresholds are ours and were written before any run. Every trial of scaling-data, scaling-model, encodings and supports
is a point: the held-out score against the decodability of each layer on held-out combinations. Which layer to read is a
choice, and a choice made on the same points flatters itself; so the rule is chosen on three studies and scored on the
fourth, in turn.
Our note: on a disconnected support the first layer stays decodable while the score falls, so decodability at a shallow
layer is no evidence of composition.

Trials that those studies have run already, in folders beside this one, are read and not run again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...context import Context, Measured
from ...errors import UserError, unknown
from ...lab.cells import Cell, Spec
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Settings, Study, Texts, studies
from ...lab.verdicts import Claim, Measurement, at_least
from .decodability_readings import (
    RULES,
    as_text,
    at_published_layer,
    figures,
    foreseen,
    mean_correlation,
    shallow_on_disconnected,
)
from .paper import source

LENDERS = ["scaling-data", "scaling-model", "encodings", "supports"]
#: two studies with trials enough for a correlation, in worlds and nets that share one compiled program
SMALL: dict[str, dict[str, Any]] = {
    "scaling-data": {"modules": [8], "held_out": [0.2, 0.3, 0.4, 0.5, 0.6], "width": 32, "steps": 300},
    "supports": {
        "support": ["random", "balanced", "unpopular", "disconnected", "missing"],
        "modules": 8,
        "at_most": 2,
        "width": 32,
        "tasks": 96,
        "steps": 300,
        "evaluations": 1,
    },
}


# -- cells: those of other studies, each with the name of its study beside it ------------------------------------------
def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    options, scale = study.base(settings)["options"], settings["scale"]
    control = {"control": settings["control"]} if settings.get("control") else {}
    specs = []
    for name in options["studies"]:
        changes = dict(options["changes"].get(name, {}))
        if options["world"]:
            changes["world"] = options["world"]
        lender = studies[name]
        for spec in lender.grid(lender.settings(scale, changes), seed):
            specs.append(pooled(lender, scale, spec) | control)
    return specs


def pooled(lender: Study, scale: str, spec: Spec) -> Spec:
    """A cell of another study as one of this: where it is, by what all of them have beside it, and whose it is."""
    trial = spec["trial"]
    shared = {"support": trial["support"]["name"], "encoding": trial["world"].get("encoding"), "recipe": "default"}
    lent = {"study": lender.id, "version": lender.version, "scale": scale, "at": spec["at"]}
    return {**spec, "at": {**shared, **spec["at"], "lender": lender.id}, "lent": lent}


def own(spec: Spec) -> Spec:
    """The cell as its own study has it."""
    kept = {part: value for part, value in spec.items() if part not in ("lent", "control")}
    return kept | {"at": spec["lent"]["at"]}


def measure(spec: Spec, context: Context) -> Measured:
    lender = studies[spec["lent"]["study"]]
    if lender.version != spec["lent"]["version"]:
        raise UserError(f"this cell is for another version of the study {lender.id!r}")
    return lender.measured(own(spec), context)


def same_cell_in(cell: Cell) -> tuple[Cell, str] | None:
    """The cell of the study that it is from; none in a control, whose scores are others."""
    lent = cell.spec["lent"]
    if "control" in cell.spec:
        return None
    return Cell(lent["study"], lent["version"], own(cell.spec)), f"{lent['study']}-{lent['scale']}"


def refuse(settings: Settings) -> None:
    """Only studies whose cells are plain trials can be read."""
    names = settings["options.studies"]
    known = [name for name, one in studies.items() if one.world is not None and one.measure is None]
    for name in names:
        if name not in known:
            raise unknown("study whose trials can be read", name, known)
        if names.count(name) > 1:
            raise UserError(f"studies names {name!r} twice")


def label(spec: Spec) -> str:
    name = spec["lent"]["study"]
    return f"{name}: {studies[name].label(own(spec))}"


def summary(record: Record) -> str:
    return studies[record.cell.spec["lent"]["study"]].summary(record)


study = Study(
    id="decodability",
    title="Does decodability predict composition?",
    question="If a task's constituents can be read off a layer by a linear map, does the network compose?",
    source=source("Fig. 5 and 9"),
    minutes=Scale(
        2,
        "seconds after the four studies that it reads, else their sum, about 11 minutes on two cores",
        "seconds after the four studies that it reads, else their sum",
        "seconds after the four studies that it reads, else their sum",
    ),
    metric="r2",
    options={
        "studies": Scale(list(SMALL), LENDERS, LENDERS, LENDERS),  # whose trials are read
        "world": "",  # one for all of them, if it is not their own
        "changes": Scale(SMALL, {}, {}, {}),  # of their settings, by study
    },
    # nothing fails, so no counter-example can be found
    controls={"indifferent": {"world": "indifferent-v1", "studies": ["supports"]}},
    claims=[
        Claim(
            "predicts",
            foreseen,
            at_least(0.5),
            "By a layer rule chosen on other studies, decodability predicts the held-out score",
            "unrelated",
            supported="decodability predicts the held-out score, by a layer rule chosen on other studies",
            refuted="decodability does not predict the held-out score by a layer rule chosen on other studies",
        ),
        Claim(
            "predicts-at-published-layer",
            at_published_layer,
            at_least(0.5),
            "At the layer that the paper reads, decodability predicts the score",
            "unrelated",
        ),
        Claim(
            "shallow-layer-misleads",
            shallow_on_disconnected,
            at_least(0.9),
            "Where a net fails on a disconnected support, its first layer, linear in what it is shown, stays decodable",
            "indifferent",
            source="ours",
            supported="a shallow layer stays decodable where the network fails",
        ),
    ],
    measurements=[
        Measurement(
            f"{outcome}-{rule.replace(' ', '-')}",
            partial(mean_correlation, rule=rule, outcome=outcome),
            f"Correlation with the {words}: {rule}",
            f"Spearman correlation with the {words}, mean over studies",
        )
        for outcome, words in (("score", "held-out score"), ("gap", "gap between trained and held out"))
        for rule in RULES
    ],
    charts=[figures],
    texts=Texts(
        "Correlations",
        "Decodability against held-out score over all trials and seeds, by layer rule: Spearman, R² of a line, p.",
        as_text,
    ),
    otherwise="No claim on decodability is settled at this scale.",
    depends_on=LENDERS,
    cells_of=cells_of,
    measure=measure,
    refuse=refuse,
    label_of=label,
    summary_of=summary,
    same_cell_in=same_cell_in,
)
