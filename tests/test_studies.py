"""Every registered study passes the public checker, control worlds included."""

from __future__ import annotations

import dataclasses

import pytest

from recombine.lab.run import run_study
from recombine.lab.study import DEFAULT_SEEDS
from recombine.recipe import Recipe
from recombine.studies import registry
from recombine.studies.supports import SUPPORTS, build_recipe, build_support
from recombine.testing import check_study


@pytest.mark.parametrize("name", list(registry))
def test_study(name):
    check_study(registry[name])


def test_supports_at_paper_scale_is_the_published_setting():
    """Six supports, M=16, K=3, a quarter held out, 4 x 1024, AdamW at 3e-4, 300,000 steps, 3 seeds."""
    study = registry["supports"]
    cells = study.cells(study.settings("paper"), DEFAULT_SEEDS)
    assert len(cells) == 6 * 3 and {cell.spec["support"] for cell in cells} == set(SUPPORTS)
    for cell in cells:
        spec = cell.spec
        assert (spec["modules"], spec["at_most"], spec["held_out"], spec["encoding"]) == (16, 3, 0.25, "identity")
        assert (spec["width"], spec["depth"]) == (1024, 4)
        assert dataclasses.replace(build_recipe(spec), evaluations=0) == Recipe.published(evaluations=0)
    published = Recipe.published()
    assert (published.steps, published.tasks, published.samples) == (300_000, 128, 16)
    assert (published.learning_rate, published.weight_decay, published.schedule) == (3e-4, 3e-3, "constant")


def test_each_support_of_the_study_has_the_groups_its_claims_read():
    study = registry["supports"]
    specs = {cell.spec["support"]: cell.spec for cell in study.cells(study.settings("laptop"), 1)}
    assert {"cross-block", "within-block"} <= set(build_support(specs["disconnected"]).groups)
    unpopular = build_support(specs["unpopular"])
    assert {"with rarest (m15)", "without rarest"} <= set(unpopular.groups)
    assert unpopular.certificate().usage["m15"] == 1


def test_a_diverged_seed_enters_no_answer_and_one_evaluation_gives_no_growth():
    tiny = {"supports": ["disconnected"], "steps": 5, "evaluations": 5, "width": 8, "warmup": 0.0, "modules": 6}
    for changes in ({"learning_rate": 1e30}, {"learning_rate": 1e9, "width": 64}, {"evaluations": 1}):
        result = run_study(registry["supports"], "smoke", seeds=1, changes=tiny | changes, quiet=True)
        assert not result.failures
        assert all(not interval.seeds for question, interval, _ in result.answers if "growth" in question.id)
        assert {verdict.outcome for verdict in result.verdicts} == {"undecided"}
