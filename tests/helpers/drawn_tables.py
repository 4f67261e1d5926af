"""Planted readings of nets that draw, and what a study of Liang, Qian, Ziyin, Fiete 2025 must be at paper scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas

from recombine.lab.record import tidy
from recombine.lab.study import Study
from recombine.lab.study_table import StudyTable
from recombine.testing.study_checks import Planted, planted_records
from recombine.training import train
from recombine.trials import Trial

Rows = list[dict[str, Any]]


def score_rows(common: dict[str, Any], test: float, held_out: float, localized: float = 0.0) -> Rows:
    """Final scores of a trial, as a study finds them in its table."""
    values = {("test", "error"): test, ("held_out", "error"): held_out, ("held_out", "localized"): localized}
    common = {"seed": 0, "group": "", "layer": "", "reading": "score", **common}
    return [common | {"stream": stream, "metric": metric, "value": v} for (stream, metric), v in values.items()]


def probe_rows(common: dict[str, Any], probe: str, metric: str, by_layer: dict[str, float]) -> Rows:
    common = {"seed": 0, "group": "", "reading": probe, "stream": "grid", **common}
    return [common | {"layer": layer, "metric": metric, "value": value} for layer, value in by_layer.items()]


def table_of(rows: Rows) -> StudyTable:
    return StudyTable(pandas.DataFrame(rows), "error")


def planted_table(study: Study, planted: Planted) -> StudyTable:
    """The laptop grid of a study with planted readings."""
    return study.table(tidy(planted_records(study, planted)))


def paper_trials(study: Study) -> list[Trial]:
    return [Trial.from_json(spec["trial"]) for spec in study.grid(study.settings("paper"), 0)]


def assert_trained_as_published(study: Study) -> None:
    """AdamW at 1e-3 without schedule, batches of 32, decay .01; 2,000 pictures for 50 epochs."""
    for trial in paper_trials(study):
        recipes = [stage.recipe for stage in trial.build_stages()]
        for recipe in recipes:
            assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.learning_rate) == (32, "constant", 0.0, 1e-3)
            assert recipe.weight_decay == 0.01 and not recipe.nesterov
        assert sum(recipe.steps for recipe in recipes) == 2000 * 50 // 32


def assert_one_step_can_be_taken(trial: Trial) -> None:
    """Trains one step of the last stage of a trial."""
    last = dict(trial.stages[-1])
    stages = [last | {"recipe": {**last["recipe"], "steps": 1, "evaluations": 0}}]
    trial = Trial.from_json(trial.to_json() | {"stages": stages})
    run = train(trial.build_task(), trial.build_support(), trial.build_stages(), watch=(), progress=False)
    (member,) = run.members
    assert member.diverged_at is None and np.isfinite(member.history[-1]["loss"])


def assert_says_so_without_records(study: Study) -> None:
    """A report without a single record has a headline and nothing else."""
    nothing = study.table(pandas.DataFrame())
    assert study.figures(nothing) == [] and study.image_grids([]) == []
    assert study.headline_for(nothing, {claim.id: "open" for claim in study.claims})
