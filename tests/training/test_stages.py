"""Stages: each goes on from the last, on its own data and task, and nothing is lost between them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from one_weight import Multiple, OneWeight, OneWeightNet
from started import Stopped, stop_at

import recombine as rc
from recombine.nets import Blueprint, Wrapper
from recombine.training import Recipe, Stage, train
from recombine.training.members import StageRun

SMALL = rc.nets.MLP(width=32, depth=2)
SHORT = Recipe(steps=40, tasks=16, evaluations=4)
STILL = Recipe(steps=3, tasks=16, learning_rate=0.0, weight_decay=0.0, schedule="constant", evaluations=1)
RISING = Recipe(
    steps=15, tasks=4, optimizer="sign-sgd", learning_rate=0.1, schedule="constant", warmup=0.0, evaluations=15
)


def same(a, b) -> bool:
    return eqx.tree_equal(a, b)


def close(a, b, atol=1e-5) -> bool:
    return all(np.allclose(x, y, atol=atol) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def without_seconds(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name not in ("seconds", "stage")} for row in rows]


@pytest.fixture(scope="module")
def begun(task, support):
    return train(task, support, SMALL, SHORT, seeds=[0, 3], progress=False)


@pytest.mark.parametrize("ensemble", ["threads", "vmap"])
def test_going_on_without_learning_changes_nothing(task, support, ensemble):
    stages = [Stage(SMALL, SHORT), Stage(SMALL, STILL)]
    went_on = train(task, support, stages, seeds=[3, 0], ensemble=ensemble, progress=False)
    alone = train(task, support, SMALL, SHORT, seeds=[3, 0], ensemble=ensemble, progress=False)
    assert same(alone.nets, went_on.nets)
    assert went_on.score("held_out").values["r2"] == pytest.approx(alone.score("held_out").values["r2"], abs=1e-5)


def test_going_on_learns_more_and_the_first_stage_is_that_of_a_training_by_itself(task, support, begun):
    longer = train(task, support, [Stage(SMALL, SHORT), Stage(SMALL, SHORT)], seeds=[0], progress=False)
    rows = longer.members[0].history
    first, second = ([row for row in rows if row["stage"] == number] for number in (0, 1))
    assert without_seconds(first) == without_seconds(begun.members[0].history)
    assert second[0]["loss"] < first[0]["loss"] and second[-1]["loss"] < first[-1]["loss"]
    assert not close(longer.nets[0], begun.nets[0], atol=1e-3)
    assert longer.members[0].seconds >= first[-1]["seconds"] and len(longer.history) == 8


def test_a_stage_leaves_the_net_that_it_began_from_as_it_was(task, support, begun):
    kept = jax.tree.map(np.array, eqx.filter(begun.nets[0], eqx.is_array))
    run = StageRun(task, support, SMALL, SHORT, None, (), number=1, begun={0: begun.nets[0]})
    (after,) = run.together([0], lambda *_: None)
    assert not close(after.net, begun.nets[0], atol=1e-3)
    assert same(kept, jax.tree.map(np.array, eqx.filter(begun.nets[0], eqx.is_array))), "its buffers were given away"


def test_going_on_with_other_data_is_a_curriculum(task, space, support, begun):
    """The first stage trained on one split, the second trains on another: the rest of the space."""
    other = rc.supports.from_combinations(space, support.held_out.combinations())
    second = Stage(SMALL, Recipe(steps=300, tasks=16, evaluations=1), support=other)
    run = train(task, support, [Stage(SMALL, SHORT), second], seeds=[0], progress=False, watch=())
    assert run.support is other and float(run.score("test")) > begun.score("held_out").values["r2"][0]


def test_every_stage_has_its_own_split_task_and_items(space):
    """Single modules and the factor 1 first, then pairs and the factor 3: the net says what it is shown."""
    singles = rc.supports.from_combinations(space, space.enumerate()[:6])
    pairs = rc.supports.from_combinations(space, space.enumerate()[6:13])
    last = Stage(OneWeight(), RISING, task=Multiple(space, by=3.0), support=pairs)
    run = train(Multiple(space), singles, [Stage(OneWeight(), RISING), last], progress=False)
    (member,) = run.members
    active = [[row["train/active"] for row in member.history if row["stage"] == number] for number in (0, 1)]
    assert set(active[0]) == {1.0} and set(active[1]) == {2.0}
    assert run.support is pairs and float(run.task.by) == 3.0 and len(run.stages) == 2
    assert [stage.task.trained_on for stage in run.stages] == [6, 7] and run.task.trained_on == 7, "given its split"
    # the weight ends near 2: the answer is 2/3 of the last task's target, and twice that of the first
    assert float(member.net.weight) == pytest.approx(2.0, abs=0.11)
    assert float(run.score("held_out")) == pytest.approx(1 - 1 / 9, abs=0.1)


def test_two_stages_do_not_see_the_same_items(task, support):
    runs = [
        StageRun(task, support, SMALL, SHORT, None, (), number=number, begun={}).together([0], lambda *_: None)[0]
        for number in (0, 1)
    ]
    assert runs[0].history[0]["loss"] != runs[1].history[0]["loss"]


# -- what is handed over ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hand_over", ["raw", "scored"])
@pytest.mark.parametrize("way", ["ema", "best"])
def test_the_next_stage_starts_from_the_raw_net_or_from_the_one_that_is_scored(space, support, hand_over, way):
    change = {"ema": {"ema": 0.8}, "best": {"keep": "best"}}[way]
    first = dataclasses.replace(RISING, hand_over=hand_over, **change)
    (alone,) = train(Multiple(space), support, OneWeight(), first, progress=False).members
    stages = [Stage(OneWeight(), first), Stage(OneWeight(), STILL)]
    (after,) = train(Multiple(space), support, stages, progress=False).members
    handed = {"raw": alone.raw, "scored": alone.net}[hand_over]
    assert float(alone.raw.weight) != float(alone.net.weight)
    assert float(after.net.weight) == float(after.raw.weight) == float(handed.weight)


def test_members_that_diverged_go_no_further(task, support):
    wild = Recipe(steps=60, tasks=16, learning_rate=1e12, schedule="constant", evaluations=1)
    run = train(task, support, [Stage(SMALL, wild), Stage(SMALL, SHORT)], seeds=2, progress=False)
    assert all(member.diverged_at is not None for member in run.members)
    assert not any(row.get("stage") == 1 for member in run.members for row in member.history)
    with pytest.raises(rc.UserError, match="every member diverged"):
        run.score("held_out")


class FussyNet(OneWeightNet):
    """Says something undefined beside a loss that is fine, if it has no luck."""

    luck: jax.Array = 0.0
    fussy: bool = eqx.field(static=True, default=True)

    def losses(self, task, batch, moment, memory):
        step = super().losses(task, batch, moment, memory)
        return step._replace(notes={"fuss": jnp.where((self.luck < 0.5) & self.fussy, jnp.nan, 0.0)})

    def group(self, path, leaf):
        return "frozen" if path == "luck" else super().group(path, leaf)


@dataclass(frozen=True)
class Fussy(OneWeight):
    fussy: bool = True

    def fresh(self, task, key, precision):
        return FussyNet(jnp.asarray(0.1), luck=jax.random.uniform(key), fussy=self.fussy)


@pytest.mark.parametrize("ensemble", ["threads", "vmap"])
def test_some_diverge_and_are_not_healed_by_the_next_stage(space, support, ensemble):
    stages = [Stage(Fussy(), RISING), Stage(Fussy(fussy=False), RISING)]
    how = {"seeds": 6, "ensemble": ensemble, "progress": False, "watch": ()}
    run = train(Multiple(space), support, stages, **how)
    lost = [member.diverged_at == 0 for member in run.members]
    assert any(lost) and not all(lost) and [member.seed for member in run.members] == list(range(6))
    for member, diverged in zip(run.members, lost, strict=True):
        assert {row["stage"] for row in member.history} == (set() if diverged else {0, 1})
    assert run.score("held_out", groups=False).diverged == [seed for seed in range(6) if lost[seed]]


# -- nets that take over others ---------------------------------------------------------------------------------------


def test_a_net_that_cannot_take_over_the_last_one_is_refused_with_the_leaves_that_differ(task, support):
    tiny = Recipe(steps=1, tasks=4, evaluations=0)
    narrow, deep = rc.nets.MLP(width=16, depth=2), rc.nets.MLP(width=32, depth=3)
    with pytest.raises(rc.UserError, match=r"'mlp'.*biases\.0 float32\[32\] -> float32\[16\].*wraps it"):
        train(task, support, [Stage(SMALL, tiny), Stage(narrow, tiny)], progress=False)
    with pytest.raises(rc.UserError, match=r"biases\.3 \(none\) -> float32\[16\]"):
        train(task, support, [Stage(SMALL, tiny), Stage(deep, tiny)], progress=False)


class ScaledNet(Wrapper):
    """The net within, which stays as it is, times one number."""

    scale: jax.Array

    def __call__(self, batch, key=None):
        prediction, trace = self.net(batch, key)
        return self.scale * prediction, trace

    def losses(self, task, batch, moment, memory):
        return rc.nets.Net.losses(self, task, batch, moment, memory)

    def answer(self, batch, key=None, how=None):
        return self(batch, key)

    def group(self, path, leaf):
        return "frozen" if path.startswith("net.") else super().group(path, leaf)


@dataclass(frozen=True)
class Scaled(Blueprint):
    name: ClassVar[str] = "scaled"
    of: Blueprint = SMALL

    def layers(self):
        return self.of.layers()

    def build(self, task, key, precision="float32", start=None):
        within = self.of.build(task, key, precision) if start is None else start
        return ScaledNet(within, jnp.asarray(0.5))


@pytest.mark.parametrize("seeds, ensemble", [(1, "threads"), (2, "vmap")])
def test_a_stage_can_wrap_the_net_of_the_last_and_train_only_what_is_new(task, support, seeds, ensemble):
    how = {"seeds": seeds, "ensemble": ensemble, "progress": False}
    base = train(task, support, SMALL, SHORT, **how)
    run = train(task, support, [Stage(SMALL, SHORT), Stage(Scaled(), SHORT)], **how)
    for before, after in zip(base.nets, run.nets, strict=True):
        assert same(before, after.net), "a frozen net stays as it is, to the last bit"
        assert float(after.scale) != 0.5 and rc.nets.count_parameters(after) == 1


# -- interrupted ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("at", [22, 62], ids=["in the first stage", "in the second stage"])
def test_a_killed_run_of_two_stages_continues_bit_for_bit(task, support, tmp_path, monkeypatch, seeds, at):
    monkeypatch.setattr("recombine.training.members.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("recombine.training.drive.CALL_SECONDS", 0.001)
    stages = [
        Stage(SMALL, dataclasses.replace(SHORT, ema=0.9, keep="best")),
        Stage(SMALL, dataclasses.replace(SHORT, ema=0.8), support=rc.supports.random(task.space, held_out=0.5)),
    ]
    how = {"seeds": seeds, "ensemble": "vmap"}
    undisturbed = train(task, support, stages, progress=False, **how)

    class Stop(Exception):
        pass

    def stop(seed, step, steps, facts):
        assert steps == 80
        if step >= at:
            raise Stop

    with pytest.raises(Stop):
        train(task, support, stages, checkpoint=tmp_path, progress=stop, **how)
    assert {path.parent.name for path in tmp_path.glob("*/*.safetensors")} == {"stage-0", "stage-1"} or at < 40
    steps = []
    resumed = train(
        task, support, stages, checkpoint=tmp_path, progress=lambda seed, step, *_: steps.append(step), **how
    )
    assert steps[0] >= at - 2, "it began again instead of continuing"  # saved at the evaluation before it, or after
    for a, b in zip(undisturbed.members, resumed.members, strict=True):
        assert same(a.net, b.net) and same(a.raw, b.raw)
        assert without_seconds(a.history) == without_seconds(b.history)
    assert not tmp_path.exists() or not list(tmp_path.iterdir()), "what is done leaves nothing behind"


def test_a_checkpoint_of_other_stages_is_set_aside(task, support, tmp_path, monkeypatch):
    """The second stage is the same, and what it begins from is not."""
    monkeypatch.setattr("recombine.training.members.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("recombine.training.drive.CALL_SECONDS", 0.001)

    with pytest.raises(Stopped):
        train(task, support, [Stage(SMALL, SHORT)] * 2, checkpoint=tmp_path, progress=stop_at(62))
    other = dataclasses.replace(SHORT, learning_rate=1e-3)
    stages = [Stage(SMALL, other), Stage(SMALL, SHORT)]
    with pytest.warns(UserWarning, match="another run"):
        resumed = train(task, support, stages, checkpoint=tmp_path, progress=False)
    assert same(resumed.nets, train(task, support, stages, progress=False).nets)


# -- refused ----------------------------------------------------------------------------------------------------------


def test_bad_stages_are_refused(task, support):
    with pytest.raises(rc.UserError, match=r"recipe=.*Stage\(net, Recipe"):
        train(task, support, [Stage(SMALL, SHORT)], SHORT)
    for bad in ([], [SMALL], "mlp"):
        with pytest.raises(rc.UserError, match=r"must be a blueprint such as MLP.*stages"):
            train(task, support, bad)
    other = rc.supports.random(rc.Subsets(7, 2))
    with pytest.raises(rc.UserError, match=r"modules=7.*modules=6"):
        train(task, support, [Stage(SMALL, SHORT), Stage(SMALL, SHORT, support=other)])
