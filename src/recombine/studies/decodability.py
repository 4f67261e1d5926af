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

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import UserError
from ..keys import generator
from ..lab.cells import Cell, canonical
from ..lab.store import Record, Table, tidy
from ..lab.study import SCALES, Context, Figure, Knob, Measured, check_choices, studies
from ..lab.verdicts import Claim, NotMet, Question
from . import charts, trial
from .trial import TrialStudy

PAPER = "Redhardt, Akram, Schug 2025 (arXiv 2507.07207), Fig. 5 and 9"
LENDERS = ("scaling-data", "scaling-model", "encodings", "supports")
OWN = ("lender", "lender_version", "lender_scale", "outcome")
#: one number from the decodability of the hidden layers, first to last
RULES: dict[str, Callable[[np.ndarray], float]] = {
    "first layer": lambda d: d[0],
    "last layer but one": lambda d: d[max(len(d) - 2, 0)],  # the third of four, as published
    "last layer": lambda d: d[-1],
    "least of all layers": lambda d: d.min(),
    "mean of all layers": lambda d: d.mean(),
}
PUBLISHED_RULE = "last layer but one"
FEWEST = 5  # trials a study must have for a correlation to mean anything


# -- readings: table of one seed -> a number --------------------------------------------------------------------------
def points(table: Table) -> Table:
    """One row a trial: study, support, held-out score (below zero counted as zero), and a column a layer rule."""
    import pandas

    if table.empty:
        raise NotMet("nothing was measured")
    rows = []
    for name, part in table.groupby("lender"):
        metric = studies[str(name)].metric  # type: ignore[attr-defined]
        scores = trial.final(part, metric).set_index("cell")
        by_layer = trial.decoded(part).pivot_table(index="cell", columns="layer", values="value")
        by_layer = by_layer[trial.layers_in_order(by_layer.columns)]
        trained = trial.final(part, metric, "test").set_index("cell").value
        for cell, layers in by_layer.iterrows():
            if cell in scores.index:
                row = scores.loc[cell]
                deep = layers.dropna().to_numpy(float)
                rows.append({"study": name, "gap": float(trained[cell] - row.value),
                             "support": row.support, "encoding": row.encoding, "seed": int(row.seed),
                             "cell": cell, "score": max(0.0, float(row.value)),
                             **{rule: float(read(deep)) for rule, read in RULES.items()}})  # fmt: skip
    if not rows:
        raise NotMet("no trial has both a score and a probe")
    return pandas.DataFrame(rows)


def rank_correlation(found: Table, rule: str, outcome: str = "score") -> float:
    """Spearman correlation of a rule's decodability with the outcome; NaN where one of them does not vary."""
    import scipy.stats

    if len(found) < FEWEST or found[rule].nunique() < 2 or found[outcome].nunique() < 2:
        return float("nan")
    correlation: Any = scipy.stats.spearmanr(found[rule], found[outcome])
    return float(correlation.statistic)


def by_study(found: Table, rule: str, outcome: str = "score") -> dict[str, float]:
    """The correlation within each study that has one; NotMet if none has."""
    values = {str(name): rank_correlation(part, rule, outcome) for name, part in found.groupby("study")}
    values = {name: value for name, value in values.items() if value == value}
    if not values:
        raise NotMet(f"no study has {FEWEST} trials that differ in decodability and score")
    return values


def best_rule(found: Table) -> str:
    """The rule with the highest mean correlation over the studies of a table."""
    means = {rule: np.mean(list(by_study(found, rule).values())) for rule in RULES}
    return max(means, key=lambda rule: means[rule])


def foreseen(table: Table) -> float:
    """Mean over studies of the correlation on a study, by the rule that is best on the others."""
    found = points(table)
    names = sorted(set.intersection(*(set(by_study(found, rule)) for rule in RULES)))
    if len(names) < 2:
        raise NotMet("a rule cannot be scored on a study that it was not chosen on: it takes two studies")
    found = found[found.study.isin(names)]
    values = [
        rank_correlation(found[found.study == name], best_rule(found[found.study != name])) for name in names
    ]  # fmt: skip
    return float(np.mean(values))


def published(table: Table) -> float:
    """Mean over studies of the correlation at the layer that the paper reads."""
    return float(np.mean(list(by_study(points(table), PUBLISHED_RULE).values())))


def shallow_on_disconnected(table: Table) -> float:
    """First-layer decodability across the blocks of `disconnected`; NotMet unless the net fails there."""
    part = table[(table.lender == "supports") & (table.support == "disconnected")]
    if part.empty:
        raise NotMet("disconnected was not run")
    part = part[part.recipe == "default"]
    metric = "r2"
    trained = trial.one(trial.final(part, metric, "test"), "disconnected")
    unseen = trial.one(trial.final(part, metric), "disconnected")
    if trained - unseen < 0.05:
        raise NotMet(f"the net composes on disconnected (gap {trained - unseen:.2f}), so there is nothing to explain")
    layers = trial.decoded(part)
    return trial.one(layers[layers.layer == "layer1"], "the first layer")


class DecodabilityStudy(TrialStudy):
    """Does decodability predict the held-out score? Over the trials of four studies, by layer and by support."""

    id = "decodability"
    version = 1
    title = "Does decodability predict composition?"
    question = "If a task's constituents can be read off a layer by a linear map, does the network compose?"
    source = PAPER
    running_time = {
        "smoke": "2 minutes",
        "laptop": "seconds after the four studies that it reads, else their sum, about 11 minutes on two cores",
        "paper": "seconds after the four studies that it reads, else their sum",
    }
    reads = LENDERS
    exhibits_title = "Correlations"
    exhibits_note = (
        "Decodability against held-out score over all trials and seeds, by layer rule: Spearman, R² of a line, p."
    )
    knobs = (
        Knob("studies", "whose trials are read", *(list(LENDERS),) * 3),
        Knob("scale", "at which scale of theirs", *SCALES),
        Knob("task", "a world for all of them; empty: their own", *("",) * 3),
        Knob("outcome", "measured, or unrelated: scores replaced by chance, a control", *("measured",) * 3),
    )
    controls = {
        # decodability has nothing to do with the score
        "unrelated": {"outcome": "unrelated"},
        # nothing fails, so no counter-example can be found
        "indifferent": {"task": "indifferent-v1", "studies": ["supports"]},
    }
    claims = (
        Claim(
            "predicts", "By a layer rule chosen on other studies, decodability predicts the held-out score", PAPER,
            "at least", 0.5, foreseen,
            "Spearman correlation on each study by the rule best on the others, mean over studies", "unrelated",
        ),
        Claim(
            "predicts-at-published-layer", "At the layer that the paper reads, decodability predicts the score", PAPER,
            "at least", 0.5, published, f"Spearman correlation at the {PUBLISHED_RULE}, mean over studies", "unrelated",
        ),
        Claim(
            "shallow-layer-misleads",
            "Where a net fails on a disconnected support, its first layer, linear in what it is shown, stays decodable",
            "ours", "at least", 0.9, shallow_on_disconnected,
            "R2 of the first layer's probe across blocks, where the cross-block gap is at least .05", "indifferent",
        ),
    )  # fmt: skip
    questions = tuple(
        Question(
            f"{outcome}-{rule.replace(' ', '-')}", f"Correlation with the {words}: {rule}",
            lambda t, r=rule, o=outcome: float(np.mean(list(by_study(points(t), r, o).values()))),
            f"Spearman correlation with the {words}, mean over studies",
        )
        for outcome, words in (("score", "held-out score"), ("gap", "gap between trained and held out"))
        for rule in RULES
    )  # fmt: skip

    def trials(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        check_choices("studies", settings["studies"], [name for name in studies if _is_lender(name)])
        check_choices("scale", [settings["scale"]], SCALES)
        check_choices("outcome", [settings["outcome"]], ("measured", "unrelated"))
        specs = []
        for name in settings["studies"]:
            study = studies[name]
            changes = {"task": settings["task"]} if settings["task"] else {}
            if changes and not any(knob.name == "task" for knob in study.knobs):
                raise UserError(f"the study {name!r} has no other worlds; leave task empty")
            specs += [
                {"lender": name, "lender_version": study.version, "lender_scale": settings["scale"],
                 "outcome": settings["outcome"], **spec}
                for spec in study.grid(study.settings(settings["scale"], changes), seed)
            ]  # fmt: skip
        return specs

    def grid(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        return self.trials(settings, seed)  # what is impossible was refused by the studies they come from

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        if studies[spec["lender"]].version != spec["lender_version"]:
            raise UserError(f"this cell is for another version of the study {spec['lender']!r}")
        found = studies[spec["lender"]].measure(_lent(spec), context)
        if spec["outcome"] == "unrelated":
            chance = float(generator(_number(spec)).uniform())
            rows = [row | {"value": chance} if row["reading"] == "score" else row for row in found.rows]
            return Measured(rows, found.facts)
        return found

    def lender(self, cell: Cell) -> tuple[Cell, str] | None:
        spec = cell.spec
        if spec["outcome"] != "measured":
            return None
        return Cell(spec["lender"], spec["lender_version"], _lent(spec)), f"{spec['lender']}-{spec['lender_scale']}"

    def label(self, spec: dict[str, Any]) -> str:
        return f"{spec['lender']}: {studies[spec['lender']].label(_lent(spec))}"

    def summary(self, record: Record) -> str:
        return studies[record.cell.spec["lender"]].summary(record)

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        found = []
        if outcomes.get("predicts") == "supported":
            found.append("decodability predicts the held-out score, by a layer rule chosen on other studies")
        elif outcomes.get("predicts") == "refuted":
            found.append("decodability does not predict the held-out score by a layer rule chosen on other studies")
        if outcomes.get("shallow-layer-misleads") == "supported":
            found.append("a shallow layer stays decodable where the network fails")
        return charts.title("; ".join(found)) + "." if found else "No claim on decodability is settled at this scale."

    def exhibits(self, records: Sequence[Record]) -> dict[str, str]:
        try:
            found = points(tidy(records))
            best_rule(found)
        except NotMet:
            return {}
        texts = {"by study": _correlations(found, "study"), "by support": _correlations(found, "support")}
        names = sorted(found.study.unique())
        if len(names) > 1:
            lines = [f"{name:<24} {best_rule(found[found.study != name])}" for name in names]  # fmt: skip
            texts["rule that is best on the other studies"] = "\n".join(["scored on                rule", *lines])
        return texts

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        try:
            found = points(table)
            rule = best_rule(found)
        except NotMet:
            return []
        figures = []
        for name, series in ((rule, "study"), ("first layer", "support")):
            rows = [
                {"x": row[name], "value": row["score"], "series": row[series], "seed": row["seed"],
                 "trial": f"{row['study']}, {row['encoding']}, {row['support']}"}
                for row in found.to_dict("records")
            ]  # fmt: skip
            figures.append(
                Figure(
                    f"Held-out score against decodability, {name}",
                    "Each point is a trained net: how well its constituents can be read off, and how well it does, "
                    f"both on combinations never trained. Colored by {series}."
                    + (" The rule is the best one over all of these points." if series == "study" else
                       " Points at the right that lie low are nets whose first layer knows and whose output does not."),
                    charts.scatter(rows, f"R² of the probe, {name}", "held-out score",
                                   sorted({row["series"] for row in rows})),
                )
            )  # fmt: skip
        return figures


def _correlations(found: Table, column: str) -> str:
    """A text table: a line a group and rule."""
    import scipy.stats

    lines = [f"{column:<20} {'rule':<22} {'trials':>6} {'Spearman':>9} {'R2':>6} {'p':>9}"]
    for name, part in (*found.groupby(column), ("all", found)):
        for rule in RULES:
            rho = rank_correlation(part, rule)
            if rho != rho:
                lines.append(f"{name!s:<20} {rule:<22} {len(part):>6} {'-':>9} {'-':>6} {'-':>9}")
                continue
            line: Any = scipy.stats.linregress(part[rule], part.score)
            lines.append(
                f"{name!s:<20} {rule:<22} {len(part):>6} {rho:>9.2f} {line.rvalue**2:>6.2f} {line.pvalue:>9.1e}"
            )
    return "\n".join(lines)


def _is_lender(name: str) -> bool:
    return isinstance(studies[name], TrialStudy) and name not in ("decodability", "required-tasks")


def _lent(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in OWN}


def _number(spec: dict[str, Any]) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(canonical(spec).encode()).digest()[:8], "little")


studies.register("decodability")(DecodabilityStudy())
