"""The cells of plan-saves-data: a net is trained on what was chosen, and scored on what was set aside."""

from __future__ import annotations

import math

import numpy as np

from ...errors import require_int
from ...lab.cells import Spec
from ...lab.store import Record
from ...lab.study import Settings, Study
from ...lab.summaries import summary_of_trial
from ...training import Items, Trained
from ...trials import Context, Measured, Trial
from ...trials.keeping import per_combination
from ...trials.trial import build_space
from .choosing import budgets, choose, set_aside
from .families import measure_own

#: the largest share of the combinations that is trained
MOST = {"hyperteacher": 0.25, "preference": 0.6, "bumps": 0.7}
SCORED = 256  # of the combinations set aside, at most


def refuse(settings: Settings) -> None:
    require_int("points", settings["options.points"], at_least=2, at_most=50)


def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    """One cell per family, way to choose and number of combinations, which follow from the space of the family."""
    found = []
    for spec in study.specs(settings, seed):
        options, family = spec["options"], spec["at"]["family"]
        for n in budgets(build_space(spec["trial"]["world"]), options["points"], MOST[family]):
            found.append(spec | {"at": spec["at"] | {"n": n}, "options": options | {"n": n}})
    study.require_possible(found)
    return found


def measure(spec: Spec, context: Context) -> Measured:
    """Trains on what was chosen, and scores what was set aside."""
    options, data = spec["options"], spec["trial"]
    space, seed = build_space(data["world"]), data["seed"]
    aside = set_aside(space, seed)
    ranks = space.rank(choose(space, options["method"], options["n"], seed, aside))
    trial = Trial.from_json({**data, "support": {"name": "listed", "ranks": sorted(map(int, ranks))}})

    def scored(run: Trained, asked: Items | None) -> Measured:
        scores = per_combination(run.task, run.nets[0], space.unrank(aside[:SCORED]), options["metric"], seed)
        coverage = run.support.certificate().coverage
        pairs = next((one.share for one in coverage if one.strength == 2), math.nan)
        found = {"mean": scores.mean(), "worst": np.quantile(scores, 0.05), "pairs_seen": pairs}
        return Measured([{"metric": name, "value": float(value)} for name, value in found.items()])

    return measure_own(trial, context, scored)


def summary(record: Record) -> str:
    found = {row["metric"]: row["value"] for row in record.rows}
    if not found:
        return summary_of_trial(record, "")
    return f"held out {found['mean']:.3f}, worst 5 % {found['worst']:.3f} ({record.facts['seconds']:.0f} s)"
