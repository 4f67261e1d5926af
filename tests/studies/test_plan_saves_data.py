"""plan-saves-data: readings of planted curves, ways to choose, scores of single combinations, its cells."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.driver.run import run_study
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.nets import Net
from recombine.spaces import Product, Subsets
from recombine.studies import registry
from recombine.studies.audit.choosing import METHODS, budgets, choose, set_aside
from recombine.studies.audit.combinations_needed import combinations_needed, ratio, ratio_in
from recombine.supports.certificate import components, element_usage
from recombine.tasks import registry as tasks
from recombine.trials.keeping import per_combination
from recombine.trials.trial import build_space

STUDY = registry["plan-saves-data"]
TINY = {"steps": 5, "width": 8, "precision": "float32"}


# -- readings -----------------------------------------------------------------------------------------------------
def curve_table(scores: dict[str, list[float]], n=(10, 20, 40, 80)) -> StudyTable:
    return STUDY.table(
        pandas.DataFrame(
            [
                {"family": "hyperteacher", "method": method, "metric": metric, "n": at, "value": value}
                for method, values in scores.items()
                for at, value in zip(n, values, strict=True)
                for metric in ("mean", "worst")
            ]
        )
    )


def test_half_the_combinations_for_the_same_score_is_a_ratio_of_half():
    table = curve_table({"random": [0.2, 0.4, 0.6, 0.8], "plan": [0.4, 0.6, 0.8, 1.0]})
    assert ratio(table, "mean") == pytest.approx(0.5, rel=0.05)
    assert ratio(table, "mean", "random", "random") == pytest.approx(1.0, rel=0.05)
    assert ratio_in(table, "hyperteacher", "mean") == ratio(table, "mean")
    with pytest.raises(PreconditionFailed, match="this family was not run"):
        ratio_in(table, "bumps", "mean")
    with pytest.raises(PreconditionFailed, match="every way reaches"):
        combinations_needed(table, "plan")
    both = curve_table({"random": [0.2, 0.4, 0.8, 1.0], "plan": [0.4, 0.6, 0.8, 1.0]})
    assert combinations_needed(both, "plan") == pytest.approx(40 * 2**0.5)


def test_a_way_that_never_gets_there_counts_as_twice_the_most_that_was_tried():
    table = curve_table({"random": [0.6, 0.7, 0.8, 0.9], "plan": [0.1, 0.1, 0.1, 0.1]})
    expected = np.exp(np.mean([np.log(160 / n) for n in (20, 40, 80)]))
    assert ratio(table, "worst") == pytest.approx(expected, rel=0.1)
    with pytest.raises(PreconditionFailed, match="takes more training"):
        ratio(curve_table({"random": [0.1] * 4, "plan": [0.2] * 4}), "mean")
    with pytest.raises(PreconditionFailed, match="risk has no scores in hyperteacher"):
        ratio(table, "worst", "plan", "risk")


# -- ways to choose -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("space", [Subsets(8, 3), Product(x=6, y=6)])
@pytest.mark.parametrize("method", METHODS)
def test_every_way_chooses_as_many_as_asked_and_none_twice(space, method):
    aside = set_aside(space, seed=1)
    rows = choose(space, method, 20, 1, aside)
    assert len({int(rank) for rank in space.rank(rows)}) == 20
    assert len(set(aside.tolist())) == math.ceil(0.2 * space.size) and not np.isin(space.rank(rows), aside).any()
    if method in ("plan", "random"):
        assert (element_usage(space, rows) > 0).all() and len(components(space, rows)) == 1


def test_numbers_of_combinations_rise_evenly_up_to_a_share_of_the_space():
    found = budgets(Subsets(12, 3), 4, 0.25)
    assert found[-1] == int(0.25 * Subsets(12, 3).size) and len(found) == 4
    steps = np.diff(np.log(found))
    assert steps.max() - steps.min() < 0.1  # they are whole numbers
    with pytest.raises(UserError, match="too small: .* combinations are to connect it"):
        budgets(Subsets(4, 2), 4, 0.25)


# -- scores of single combinations --------------------------------------------------------------------------------
class DrawsLeft(Net):
    """Draws the truth where x = 0 is asked for, and else nothing."""

    truth: jnp.ndarray

    def __call__(self, batch, key=None):
        left = batch.code[..., 0] > 0.5  # (tasks,) or (tasks, samples)
        return jnp.where(left.reshape(-1, 1, 1), self.truth, 0.0), {}


def test_each_combination_is_scored_by_itself():
    task = tasks["bumps-v1"](Product(x=6, y=6), encoding="one-hot")
    rows = task.space.enumerate()
    batch = task.sample(jax.random.key(0), jnp.asarray(rows[:1]))
    net = DrawsLeft(batch.target[0])  # the picture of (0, 0)
    scores = per_combination(task, net, rows, "skill", seed=0)
    assert scores.shape == (36,) and scores[0] == pytest.approx(1.0, abs=1e-5)
    assert (np.abs(scores[6:]) < 1e-5).all()  # nothing is drawn: the error of an empty picture
    assert (scores[1:6] < 0.999).all()


# -- cells --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("scale", "cells"), [("smoke", 3 * 2), ("laptop", 2 * 3 * 8), ("paper", 3 * 5 * 8)])
def test_one_cell_per_family_way_and_number(scale, cells):
    specs = STUDY.grid(STUDY.settings(scale), 0)
    assert len(specs) == cells == len({Cell(STUDY.id, STUDY.version, spec).id for spec in specs})
    for spec in specs:
        at = spec["at"]
        assert (spec["options"]["method"], spec["options"]["n"]) == (at["method"], at["n"])
        assert at["n"] <= 0.7 * build_space(spec["trial"]["world"]).size


def test_the_control_is_indifferent_in_every_family_that_has_one():
    changes = STUDY.control("indifferent") | {"family": ["hyperteacher", "preference"]}
    worlds = {spec["trial"]["world"]["name"] for spec in STUDY.grid(STUDY.settings("smoke", changes), 0)}
    assert worlds == {"indifferent-v1", "preference-indifferent-v1"}


def test_a_cell_trains_on_as_many_as_it_says_and_keeps_its_panel():
    spec = STUDY.grid(STUDY.settings("smoke", TINY), 0)[0]
    found = STUDY.measured(spec, Context())
    assert found.facts["trained_on"] == spec["at"]["n"]
    assert [row["metric"] for row in found.rows] == ["mean", "worst", "pairs_seen"]
    assert len(found.facts["panel"]["score"]) == found.facts["combinations"]


def test_its_nets_are_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("RECOMBINE_NETS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = run_study(STUDY, "smoke", seeds=1, changes=TINY | {"method": ["plan"]}, quiet=True, out=tmp_path / "run")
    assert not result.failures
    kept = {path.stem for path in (tmp_path / "run" / "nets").glob("*.safetensors")}
    assert kept == {record.facts["net"] for record in result.records} and len(kept) == 2


def test_a_net_that_diverged_has_no_rows():
    spec = STUDY.grid(STUDY.settings("smoke", TINY | {"learning_rate": 1e9}), 0)[0]
    found = STUDY.measured(spec, Context())
    assert found.rows == [] and found.facts["diverged_at"] is not None


@pytest.mark.parametrize(
    ("changes", "value", "remedy"),
    [
        ({"family": "bump"}, "'bump'", "did you mean 'bumps'"),
        ({"method": "plans"}, "'plans'", "did you mean 'plan'"),
        ({"method": ""}, "method=[]", "give at least one value"),
        ({"method": "plan,plan"}, "'plan'", "twice"),
        ({"points": "1"}, "points=1", "at least 2"),
        ({"points": "51"}, "points=51", "at most 50"),
        ({"world.space.modules": "4"}, "modules=4", "is too small"),
        ({"family": "preference", "preference:world.space.modules": "10"}, "modules=10", "features=9"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, value, remedy, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    with pytest.raises(UserError) as refused:
        STUDY.cells(STUDY.settings("laptop", changes), 1)
    assert value in str(refused.value) and remedy in str(refused.value)
