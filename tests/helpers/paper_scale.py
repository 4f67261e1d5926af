"""What a study of Redhardt, Akram, Schug 2025 must be at paper scale."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas

from recombine.lab.study import Study
from recombine.lab.study_table import StudyTable
from recombine.training import train
from recombine.trials import Trial
from recombine.trials.trial import build_space

PUBLISHED_SEEDS = 3


def paper_trial(study: Study) -> Trial:
    """A trial of the paper grid with few combinations, so that its split is made quickly."""
    trials = [Trial.from_json(spec["trial"]) for spec in study.grid(study.settings("paper"), 0)]
    return min(trials, key=lambda trial: (build_space(trial.world).size, trial.support.get("held_out", 1.0)))


def assert_published_number_of_cells(study: Study, number: int) -> None:
    cells = study.cells(study.settings("paper"), PUBLISHED_SEEDS)
    assert len(cells) == number == len({cell.id for cell in cells})


def assert_one_step_can_be_taken(study: Study) -> None:
    trial = paper_trial(study)
    (stage,) = trial.build_stages()
    recipe = dataclasses.replace(stage.recipe, steps=1, evaluations=0)
    run = train(trial.build_task(), trial.build_support(), stage.net, recipe, watch=(), progress=False)
    (member,) = run.members
    assert member.diverged_at is None and np.isfinite(member.history[-1]["loss"])


def assert_trained_as_published(study: Study) -> None:
    """Table 3: AdamW without warm-up, constant rate, 128 tasks per step; 300,000 steps, or 3 million for imitation.

    Goals are trained as the configuration of the public code says: 200,000 steps, a rate of .001, decay .03.
    """
    trial = paper_trial(study)
    recipe = trial.build_stages()[-1].recipe
    world = trial.world["name"].split("-")[0]
    steps, rate, decay, samples = {
        "hyperteacher": (300_000, 3e-4, 3e-3, 16),
        "preference": (3_000_000, 1e-4, 1e-3, 1),
        "goal": (200_000, 1e-3, 0.03, 1),
    }[world]
    assert (recipe.tasks, recipe.schedule, recipe.warmup, recipe.b2) == (128, "constant", 0.0, 0.999)
    assert (recipe.steps, recipe.learning_rate, recipe.weight_decay) == (steps, rate, decay)
    assert recipe.samples == samples


def scores_table(points: list[dict], metric: str = "r2") -> StudyTable:
    """Final held-out scores of one seed, as studies have them."""
    common = {"reading": "score", "metric": metric, "stream": "held_out", "group": "", "seed": 0}
    return StudyTable(pandas.DataFrame([common | point for point in points]), metric)
