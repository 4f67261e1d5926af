"""The cells of plan-saves-data: a net is trained on what was chosen, and scored on what was set aside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import require_int
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.study import Settings, Study
from ...lab.summaries import summary_of_trial
from ...training import Items, Trained, train
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
    require_int("inits", settings["options.inits"], at_least=1, at_most=50)


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
    """Trains several nets on what was chosen, and scores what was set aside: readings are means over the nets."""
    options, data = spec["options"], spec["trial"]
    space, seed = build_space(data["world"]), data["seed"]
    aside = set_aside(space, seed)
    ranks = space.rank(choose(space, options["method"], options["n"], seed, aside))
    trial = Trial.from_json({**data, "support": {"name": "listed", "ranks": sorted(map(int, ranks))}})

    def scored(run: Trained, asked: Items | None) -> Measured:
        nets = [run.nets[0], *further(run)]
        rows = space.unrank(aside[:SCORED])
        scores = np.array([per_combination(run.task, net, rows, options["metric"], seed) for net in nets])
        coverage = run.support.certificate().coverage
        pairs = next((one.share for one in coverage if one.strength == 2), math.nan)
        worst = np.quantile(scores, 0.05, axis=1).mean()
        found = {"mean": scores.mean(), "worst": worst, "pairs_seen": pairs}
        return Measured([{"metric": name, "value": float(value)} for name, value in found.items()])

    def further(run: Trained) -> list[Any]:
        """More nets of other initial weights and data, in the same world and on the same combinations."""
        seeds = [1000 * (one + 1) + seed for one in range(1, options["inits"])]
        if not seeds:
            return []
        more = train(run.task, run.support, trial.build_stages(), seeds=seeds)
        return [member.net for member in more.members if member.diverged_at is None]

    return measure_own(trial, context, scored)


def summary(record: Record) -> str:
    found = {row["metric"]: row["value"] for row in record.rows}
    if not found:
        return summary_of_trial(record, "")
    return f"held out {found['mean']:.3f}, worst 5 % {found['worst']:.3f} ({record.facts['seconds']:.0f} s)"
