"""(g) Two stages with another task and another split."""

from __future__ import annotations

import equinox as eqx
import pytest

import recombine as rc
from recombine.errors import UserError
from recombine.nets import MLP
from recombine.training import Recipe, Stage

SPACE = rc.Subsets(5, 2)
FIRST, SECOND = (rc.tasks.Hyperteacher(SPACE, seed=seed, inputs=6, hidden=6, outputs=6) for seed in (1, 2))
HERE, THERE = rc.supports.random(SPACE, held_out=0.3, seed=0), rc.supports.missing(SPACE, elements=["m4"])
NET, LONG = MLP(64, 2), Recipe(steps=800, precision="float32", evaluations=2)
STILL = Recipe(steps=1, learning_rate=0.0, weight_decay=0.0, precision="float32", evaluations=1)


def test_each_stage_has_its_own_task_and_split_and_the_last_is_what_is_scored():
    stages = [Stage(NET, LONG, task=FIRST, support=HERE), Stage(NET, LONG)]
    run = rc.train(SECOND, THERE, stages, progress=False)
    assert run.task is SECOND and run.support is THERE and len(run.stages) == 2
    assert run.stages[0].task is FIRST and run.stages[0].support is HERE
    alone = rc.train(SECOND, THERE, NET, LONG, progress=False)
    before = rc.train(FIRST, HERE, NET, LONG, progress=False)
    assert float(run.score("test")) > 0.8
    # what the first stage learned is of use, or gone: it is not what a fresh net is
    assert not eqx.tree_equal(run.nets[0], alone.nets[0])
    assert run.history.stage.tolist() == [0, 0, 1, 1]
    first_rows = run.history[run.history.stage == 0]["loss"].tolist()
    assert first_rows == pytest.approx(before.history["loss"].tolist(), rel=1e-5)


def test_the_second_stage_begins_where_the_first_ended_for_every_seed():
    stages = [Stage(NET, LONG, task=FIRST, support=HERE), Stage(NET, STILL)]
    run = rc.train(SECOND, THERE, stages, seeds=[3, 1], progress=False)
    first = rc.train(FIRST, HERE, NET, LONG, seeds=[3, 1], progress=False)
    for after, before in zip(run.members, first.members, strict=True):
        assert after.seed == before.seed and eqx.tree_equal(after.net, before.net)


def test_what_a_stage_cannot_take_over_is_refused_by_name():
    with pytest.raises(UserError, match=r"'mlp' cannot take over.*kernels\.0 float32\[11, 64\] -> float32\[11, 32\]"):
        rc.train(FIRST, HERE, [Stage(NET, STILL), Stage(MLP(32, 2), STILL)], progress=False)
    with pytest.raises(UserError, match=r"recipe.*Stage"):
        rc.train(FIRST, HERE, [Stage(NET, STILL)], STILL)
    with pytest.raises(UserError, match=r"net=\[\].*MLP"):
        rc.train(FIRST, HERE, [])
    elsewhere = rc.supports.random(rc.Subsets(4, 2), seed=0)
    with pytest.raises(UserError, match=r"Subsets\(modules=4.*Subsets\(modules=5"):
        rc.train(FIRST, HERE, [Stage(NET, STILL), Stage(NET, STILL, support=elsewhere)])


def test_a_member_that_diverged_goes_no_further_and_the_others_do():
    broken = Recipe(steps=50, learning_rate=1e30, precision="float32", evaluations=1)
    run = rc.train(FIRST, HERE, [Stage(NET, broken), Stage(NET, STILL)], seeds=2, progress=False)
    assert [member.diverged_at is not None for member in run.members] == [True, True]
    with pytest.raises(UserError, match="every member diverged"):
        run.score("test")
