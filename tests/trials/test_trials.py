"""Trials as nested data: what they refuse, what they measure, and the panel that each of them keeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import recombine as rc
from recombine.context import Context
from recombine.errors import UserError
from recombine.spaces import Product
from recombine.trials import Trial, measure
from recombine.trials.panel import own_confidence, process_variance
from recombine.trials.trial import build_space

WORLD = {"name": "hyperteacher-v1", "space": {"modules": 6, "at_most": 2}, "inputs": 6, "outputs": 6}
RECIPE = {"steps": 60, "tasks": 32, "evaluations": 2, "precision": "float32"}
DATA = {
    "seed": 1,
    "world": WORLD,
    "support": {"name": "random", "held_out": 0.3},
    "stages": [{"net": {"name": "mlp", "width": 24, "depth": 2}, "recipe": RECIPE}],
    "probes": [{"name": "decodability"}],
    "keep": ["panel"],
}


def test_programs_that_draw_a_world_are_kept_too(tmp_path):
    """A world is compiled before anything is trained: a second process finds its programs on disk."""
    script = f"from recombine.trials import Trial; Trial.from_json({DATA!r}).build_task()"
    environment = os.environ | {"RECOMBINE_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    first = {path.name for path in tmp_path.rglob("*-cache")}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert len(first) > 5 and {path.name for path in tmp_path.rglob("*-cache")} == first


def test_a_trial_goes_through_json_unchanged():
    trial = Trial.from_json(json.loads(json.dumps(DATA)))
    assert Trial.from_json(json.loads(json.dumps(trial.to_json()))) == trial


@pytest.mark.parametrize(
    ("change", "value", "remedy"),
    [
        ({"wrold": WORLD}, "'wrold'", "'world'"),
        ({"stages": []}, "without stages", "'mlp'"),
        ({"stages": [{"net": {"name": "mlp"}, "recipy": {}}]}, "'recipy'", "'recipe'"),
        ({"stages": [{"net": {"width": 3}}]}, "{'width': 3}", "name"),
        ({"asks": [{"stream": ["test"]}]}, "'stream'", "'streams'"),
        ({"keep": ["panels"]}, "'panels'", "'panel'"),
        # before anything is trained: a split that cannot be made is a finding, and a wrong name is none
        ({"support": {"name": "randon"}}, "'randon'", "'random'"),
        ({"support": {"name": "random", "heldout": 0.3}}, "'heldout'", "'held_out'"),
        ({"probes": [{"name": "decodabilty"}]}, "'decodabilty'", "'decodability'"),
        ({"probes": [{"name": "decodability", "rows": "last"}]}, "'rows'", "'row'"),
        ({"world": "hyperteacher-v1"}, "'hyperteacher-v1'", "'name'"),
        ({"seed": -1}, "seed=-1", "at least 0"),
    ],
)
def test_what_is_no_trial_is_refused_by_name_with_what_would_do(change, value, remedy):
    with pytest.raises(UserError) as refused:
        Trial.from_json(DATA | change)
    assert value in str(refused.value) and remedy in str(refused.value)


@pytest.mark.parametrize(
    ("change", "value", "remedy"),
    [
        ({"world": WORLD | {"name": "hyperteacher"}}, "'hyperteacher'", "'hyperteacher-v1'"),
        ({"world": WORLD | {"input": 3}}, "'input'", "'inputs'"),
        ({"stages": [{"net": {"name": "mlp", "wdith": 3}}]}, "'wdith'", "'width'"),
        ({"stages": [{"net": {"name": "mlp"}, "recipe": {"step": 3}}]}, "'step'", "'steps'"),
    ],
)
def test_options_that_a_part_does_not_have_are_refused_with_the_near_one(change, value, remedy):
    trial = Trial.from_json(DATA | change)
    with pytest.raises(UserError) as refused:
        trial.build_task()
        trial.build_support()
        trial.build_stages()
    assert value in str(refused.value) and remedy in str(refused.value)


def test_a_world_of_factors_takes_other_numbers_of_levels():
    space = build_space({"name": "goal-v2", "space": {"maze": 1, "object": 2}})
    assert space == Product(quadrant=4, interaction=5, maze=1, object=2)
    with pytest.raises(UserError, match="'mase'; did you mean 'maze'"):
        build_space({"name": "goal-v2", "space": {"mase": 1}})


@pytest.fixture(scope="module")
def measured():
    return measure(Trial.from_json(DATA), Context())


def test_a_trial_gives_the_same_twice_and_all_that_was_asked_for(measured):
    again = measure(Trial.from_json(DATA), Context())
    assert again.rows == measured.rows
    readings = {row["reading"] for row in measured.rows}
    assert readings == {"history", "score", "decodability"}
    assert {row["stream"] for row in measured.rows if row["reading"] == "score"} == {"test", "held_out"}
    held_out = [r for r in measured.rows if r["reading"] == "score" and (r["stream"], r["group"]) == ("held_out", "")]
    assert {r["metric"]: r["value"] for r in held_out}["r2"] == measured.facts["held_out"]


def test_an_impossible_split_is_a_finding():
    impossible = measure(Trial.from_json(DATA | {"support": {"name": "random", "held_out": 0.97}}), Context())
    assert impossible.rows == [] and "impossible" in impossible.facts


def test_disconnected_says_what_its_score_is_about():
    trial = DATA | {"support": {"name": "disconnected"}, "keep": [], "probes": []}
    found = measure(Trial.from_json(trial), Context())
    cross = [r["value"] for r in found.rows if r["group"] == "cross-block" and r["metric"] == "r2"]
    assert found.facts["held_out"] == cross[0]


def test_the_panel_has_one_entry_per_combination(measured):
    panel = measured.facts["panel"]
    assert panel["metric"] == "r2_pooled"
    assert {len(panel[name]) for name in ("score", "untrained", "variance")} == {21}
    assert "confidence" not in panel  # a regression is not sure or unsure
    json.dumps(panel, allow_nan=False)
    scores, controls = np.array(panel["score"], float), np.array(panel["untrained"], float)
    assert np.median(scores) > np.median(controls)


def test_episodes_keep_how_sure_the_net_is_of_its_own_answers():
    world = {"name": "preference-v1", "space": {"modules": 4, "at_most": 2}, "features": 4, "objects": 1}
    trial = DATA | {"world": world, "probes": [], "keep": ["panel", "episode"]}
    facts = measure(Trial.from_json(trial), Context()).facts
    assert all(1 / 5 <= value <= 1 for value in facts["panel"]["confidence"])
    assert facts["episode"]["actor"] == "net"


def test_confidence_is_the_mean_probability_of_what_is_chosen():
    task = rc.tasks.Preference(rc.Subsets(4, 2), features=4, objects=1)
    chances = np.array([[[0.5, 0.2, 0.1, 0.1, 0.1], [0.8, 0.05, 0.05, 0.05, 0.05]]])
    assert own_confidence(task, np.log(chances))[0] == pytest.approx(0.65)
    assert own_confidence(task, np.array([[1, 2]])) is None


def test_the_variance_of_the_process_is_that_of_its_kernel():
    """Against the textbook formula k(c, c) - k(c, X) (k(X, X) + noise)^-1 k(X, c), with k = 1 + overlap."""
    support = rc.supports.random(rc.Subsets(6, 2), held_out=0.4, seed=0)
    space = support.space
    hot = space.multihot(space.enumerate()).astype(float)
    kernel = 1 + hot @ hot.T
    seen = np.flatnonzero(support.train.contains(space.enumerate()))
    gram = kernel[np.ix_(seen, seen)] + 0.01 * np.eye(len(seen))
    explained = np.einsum("cs,sc->c", kernel[:, seen], np.linalg.solve(gram, kernel[seen]))
    expected = (np.diag(kernel) - explained) / np.diag(kernel)
    np.testing.assert_allclose(process_variance(support), expected, atol=1e-9)
    assert process_variance(support)[seen].max() < 0.02
    missing = rc.supports.missing(space, elements=["m5"])
    held_out = missing.held_out.contains(space.enumerate())
    assert process_variance(missing)[held_out].min() > 0.2  # nothing is known of a module that was never trained
