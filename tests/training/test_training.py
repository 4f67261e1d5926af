"""Training: the same numbers however the steps are driven, and nothing lost on the way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from started import Stopped, started, stop_at

import recombine as rc
from recombine.nets import Blueprint, Step
from recombine.training import Recipe, checkpoints, train
from recombine.training.members import StageRun
from recombine.training.step import stepper

SMALL = rc.nets.MLP(width=32, depth=2)
SHORT = Recipe(steps=40, tasks=16, evaluations=4)


def same(a, b) -> bool:
    return eqx.tree_equal(a, b)


def close(a, b, atol=1e-5) -> bool:
    return all(np.allclose(x, y, atol=atol) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_the_example_of_the_readme(space, task, support):
    run = rc.train(task, support, rc.nets.MLP(width=64, depth=2), rc.Recipe(steps=400), seeds=3)
    assert float(run.score("held_out")) > 0.2
    assert set(run.score("held_out").groups) == {"1 active", "2 active"}
    readings = rc.probes.decodability(run, layer=2)
    assert readings.value().mean > readings.value("r2_shuffled").mean
    assert len(run.history) == 3 * 10
    for _, history in run.history.groupby("seed"):
        assert history.loss.iloc[-1] < history.loss.iloc[0]


def test_same_seed_same_net_and_other_seed_other_net(task, support):
    a, b = (train(task, support, SMALL, SHORT, seeds=[0, 1]) for _ in range(2))
    assert same(a.nets[0], b.nets[0]) and a.members[0].history[-1]["loss"] == b.members[0].history[-1]["loss"]
    assert not same(a.nets[0], a.nets[1])


def test_calls_of_any_length_give_the_same_state(task, support):
    advance = stepper(SHORT.shape(), True)
    whole = advance(*started(SMALL, task, support, SHORT), 12)
    parts, *given = started(SMALL, task, support, SHORT)
    for count in (1, 4, 7):
        parts = advance(parts, *given, count)
    assert same(whole, parts)


def test_one_call_per_step_gives_the_same_numbers(task, support):
    states = [stepper(SHORT.shape(), in_scan)(*started(SMALL, task, support, SHORT), 12) for in_scan in (True, False)]
    assert close(states[0].trained, states[1].trained)


def test_members_under_vmap_equal_members_in_threads(task, support):
    threads, vmapped = (train(task, support, SMALL, SHORT, seeds=3, ensemble=e) for e in ("threads", "vmap"))
    for a, b in zip(threads.members, vmapped.members, strict=True):
        assert close(a.net, b.net, atol=1e-4)
        assert a.history[-1]["held_out/r2"] == pytest.approx(b.history[-1]["held_out/r2"], abs=1e-3)


def test_recipes_that_differ_in_rates_share_a_program():
    assert stepper(Recipe(learning_rate=1e-3, steps=10, b2=0.9).shape(), True) is stepper(Recipe().shape(), True)
    assert stepper(Recipe(tasks=7).shape(), True) is not stepper(Recipe().shape(), True)


def test_a_diverged_member_is_reported_and_enters_no_mean(task, support):
    run = train(task, support, SMALL, Recipe(steps=60, tasks=16, learning_rate=1e12, schedule="constant"))
    assert run.members[0].diverged_at is not None
    with pytest.raises(rc.UserError, match="every member diverged"):
        run.score("held_out")
    good = train(task, support, SMALL, SHORT, seeds=[5])
    both = rc.Trained(task, support, SMALL, SHORT, [run.members[0], good.members[0]])
    score = both.score("held_out")
    assert score.diverged == [0] and score.seeds == [5] and np.isfinite(float(score))
    assert float(score) == float(good.score("held_out"))


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_killed_run_continues_from_its_checkpoint_bit_for_bit(task, support, tmp_path, monkeypatch, seeds):
    monkeypatch.setattr("recombine.training.members.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("recombine.training.drive.CALL_SECONDS", 0.001)
    how = {"seeds": seeds, "ensemble": "vmap"}
    undisturbed = train(task, support, SMALL, SHORT, **how)

    with pytest.raises(Stopped):
        train(task, support, SMALL, SHORT, checkpoint=tmp_path, progress=stop_at(22), **how)
    (file,) = tmp_path.glob("*.safetensors")
    steps = []
    watch = lambda seed, step, *_: steps.append(step)  # noqa: E731
    resumed = train(task, support, SMALL, SHORT, checkpoint=tmp_path, progress=watch, **how)
    assert steps[0] >= 20, "it began again instead of continuing"  # saved at the evaluation of step 20 or after it
    assert same(undisturbed.nets, resumed.nets)
    strip = lambda rows: [{k: v for k, v in row.items() if k != "seconds"} for row in rows]  # noqa: E731
    for a, b in zip(undisturbed.members, resumed.members, strict=True):
        assert strip(a.history) == strip(b.history)
    assert not file.exists()


@pytest.mark.parametrize("damage", ["truncate", "flip", "other run"])
def test_a_damaged_or_foreign_checkpoint_is_set_aside(tmp_path, task, support, damage):
    path = tmp_path / "seed-0.safetensors"
    run = StageRun(task, support, SMALL, SHORT, tmp_path, ("held_out",))
    state, _ = run.start(0)
    saved = run.checkpoint_of([0])
    assert saved is not None and saved.path == path
    checkpoints.Checkpoint(path, "another mark" if damage == "other run" else saved.mark).save(state, [], 1.0)
    data = bytearray(path.read_bytes())
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        data[-10] ^= 0xFF
        path.write_bytes(data)
    with pytest.warns(UserWarning, match="set aside"):
        assert saved.load(state) is None
    assert not path.exists() and path.with_suffix(".damaged").exists()


def test_a_checkpoint_whose_state_has_another_layout_is_set_aside(tmp_path, task, support):
    """Same run, same shapes: by the names of its arrays alone."""
    path = tmp_path / "seed-0.safetensors"
    saved = checkpoints.Checkpoint(path, "mark")
    saved.save({"optimizer": {"decay": jnp.ones(3)}, "step": jnp.zeros(())}, [], 1.0)
    assert saved.load({"optimizer": {"decay": jnp.zeros(3)}, "step": jnp.ones(())}) is not None
    for other in ({"optimizer": {"all": jnp.zeros(3)}, "step": jnp.ones(())}, {"optimizer": {"decay": jnp.zeros(3)}}):
        saved.save({"optimizer": {"decay": jnp.ones(3)}, "step": jnp.zeros(())}, [], 1.0)
        with pytest.warns(UserWarning, match="set aside.*other names"):
            assert saved.load(other) is None
        assert not path.exists()


def test_bad_calls_are_refused(task, support):
    for arguments, message in (({"seeds": 0}, "seeds=0"), ({"seeds": [1, 1]}, "different"), ({"ensemble": "x"}, "'x'")):
        with pytest.raises(rc.UserError, match=message):
            train(task, support, SMALL, SHORT, **arguments)
    other = rc.supports.random(rc.Subsets(7, 2))
    with pytest.raises(rc.UserError, match="Subsets"):
        train(task, other, SMALL, SHORT)
    with pytest.raises(rc.UserError, match="unknown stream"):
        train(task, support, SMALL, SHORT).score("heldout")


# -- what a net says of a step --------------------------------------------------------------------------------------


class PulledNet(rc.nets.Net):
    """A net that predicts zero, whatever its weights, and is pulled toward a goal by a part of its loss."""

    weights: jax.Array
    goal: jax.Array

    def __call__(self, batch, key=None):
        zero = jnp.zeros((*batch.inputs.shape[:2], 16)) + 0 * self.weights.sum()
        return zero, {"output": zero}

    def pull(self, batch):
        return 0.5 * ((self.weights - self.goal) ** 2).sum() * (len(batch.code) / 16)  # the batch has 16 tasks

    def losses(self, task, batch, moment, memory):
        step = super().losses(task, batch, moment, memory)
        return step._replace(parts={**step.parts, "pull": self.pull(batch)}, notes={"first": self.weights[0]})

    def group(self, path, leaf):
        return "frozen" if path == "goal" else super().group(path, leaf)


class FreeNet(PulledNet):
    """The same net without its pull."""

    def losses(self, task, batch, moment, memory):
        return rc.nets.Net.losses(self, task, batch, moment, memory)


START, GOAL = jnp.asarray([0.0, 0.5, -1.0]), jnp.asarray([1.0, 0.5, -1.5])


@dataclass(frozen=True)
class Pulled(Blueprint):
    name: ClassVar[str] = "pulled"
    free: bool = False

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        return (FreeNet if self.free else PulledNet)(START, GOAL)


STEADY = Recipe(tasks=16, learning_rate=0.01, schedule="constant", warmup=0.0, weight_decay=0.0, nesterov=False)


def test_a_part_of_the_loss_moves_the_weights_as_predicted(task, support):
    advance = stepper(STEADY.shape(), True)

    def after(steps: int, free: bool = False):
        return advance(*started(Pulled(free), task, support, STEADY), steps)

    free, one, many = after(1, free=True), after(1), after(400)
    assert (free.trained["weights"] == START).all(), "nothing but the pull depends on the weights"
    # Adam's first step has the size of the learning rate and the sign of the gradient, weights - goal
    np.testing.assert_allclose(one.trained["weights"], START - 0.01 * np.sign(START - GOAL), atol=1e-6)
    np.testing.assert_allclose(many.trained["weights"], GOAL, atol=0.02)
    # it is part of the loss that is reported
    assert float(one.loss_sum) == pytest.approx(float(free.loss_sum) + 0.5 * (1 + 0.25), rel=1e-5)


def test_what_is_frozen_is_in_no_state_and_stays_as_it_was(task, support):
    state, frozen, *_ = started(Pulled(), task, support, STEADY)
    assert set(state.trained) == {"weights"} and set(frozen) == {"goal"}
    assert not [leaf for leaf in jax.tree.leaves(state) if leaf.shape == GOAL.shape and (leaf == GOAL).all()]
    (net,) = train(task, support, Pulled(), dataclasses.replace(STEADY, steps=5), progress=False).nets
    assert (net.goal == GOAL).all() and (net.weights != START)[GOAL != START].all()
    assert rc.nets.count_parameters(net) == 3


def test_history_has_the_parts_and_notes_of_training_and_of_every_stream(task, support):
    recipe = dataclasses.replace(STEADY, steps=2, evaluations=2)
    run = train(task, support, Pulled(), recipe, progress=False, watch=("held_out",))
    first, second = run.members[0].history
    pull = [0.5 * 1.25, 0.5 * (0.99**2 + 0.49**2)]  # before the first and before the second step
    for row, before in zip((first, second), pull, strict=True):
        assert row["train/pull"] == pytest.approx(before, rel=1e-5)
        assert row["loss"] == pytest.approx(row["train/loss"] + row["train/pull"], rel=1e-5)
    # a stream is looked at after the step, on a block of 256 tasks
    assert first["held_out/pull"] == pytest.approx(256 / 16 * pull[1], rel=1e-5)
    assert first["held_out/total"] == pytest.approx(first["held_out/loss"] + first["held_out/pull"], rel=1e-5)
    assert (first["train/first"], first["held_out/first"]) == pytest.approx((0.0, 0.01), abs=1e-6)
    assert {"held_out/r2", "held_out/r2_pooled"} <= set(first)
    quiet = dataclasses.replace(recipe, history="losses")
    rows = train(task, support, Pulled(), quiet, progress=False, watch=("held_out",)).members[0].history
    assert "held_out/total" in rows[0] and "held_out/r2" not in rows[0]


class SayingNet(PulledNet):
    """Says what a test wants; `at` counts the steps that are behind."""

    says: str = eqx.field(static=True)

    def losses(self, task, batch, moment, memory):
        good = 0.5 * ((self.weights - 2) ** 2).sum()
        now = jnp.where(memory == 3, jnp.nan, 0.0)
        parts, notes = {"good": good}, {"first": self.weights[0]}
        if self.says == "a note":
            notes["bad"] = now
        elif self.says == "parts that cancel":  # infinite, and their sum is not a number
            parts |= {"up": jnp.where(memory == 3, jnp.inf, 0.0), "down": jnp.where(memory == 3, -jnp.inf, 0.0)}
        elif self.says == "a part":
            parts["bad"] = now
        elif self.says == "the gradient":  # sqrt has none at 0, and its value is fine
            parts["bad"] = jnp.sqrt(jnp.where(memory == 3, 0.0, 1.0) * self.weights[1] ** 2)
        return Step(parts, notes | {"plain": 0.5}, memory + 1)  # a number of Python's is one, too

    def memory(self, task, batch):
        return jnp.zeros((), jnp.int32)


@dataclass(frozen=True)
class Saying(Pulled):
    says: str = "nothing"

    def fresh(self, task, key, precision):
        return SayingNet(START, GOAL, self.says)


@pytest.mark.parametrize("says", ["a note", "a part", "parts that cancel", "the gradient"])
def test_what_is_not_finite_anywhere_in_a_step_marks_the_member_as_diverged(task, support, says):
    recipe = dataclasses.replace(STEADY, steps=6, evaluations=3)
    fine, bad = (train(task, support, Saying(says=one), recipe, progress=False).members[0] for one in ("nothing", says))
    assert fine.diverged_at is None and len(fine.history) == 3
    assert bad.diverged_at == 3, "the first step, counted from 0, at which something was not finite"
    assert [row["step"] for row in bad.history] == [2], "no row after that"


@pytest.mark.parametrize(
    ("parts", "notes", "message"),
    [
        ({}, {}, "no parts"),
        ({"a": 0.0}, {"a": 0.0}, "the name 'a' is taken"),
        ({"total": 0.0}, {}, "'total'"),
        ({"a": np.zeros(3)}, {}, r"'a' has shape \(3,\).*scalar"),
    ],
)
def test_a_step_that_cannot_be_logged_is_refused(task, support, parts, notes, message):
    class Other(PulledNet):
        def losses(self, task, batch, moment, memory):
            return Step({k: jnp.asarray(v) for k, v in parts.items()}, {k: jnp.asarray(v) for k, v in notes.items()})

    class Made(Pulled):
        def fresh(self, task, key, precision):
            return Other(START, GOAL)

    with pytest.raises(rc.UserError, match=message):
        train(task, support, Made(), STEADY, progress=False)


# -- memory -----------------------------------------------------------------------------------------------------------


class CountingNet(PulledNet):
    """Remembers how often it was shown something, item by item, and a key."""

    def losses(self, task, batch, moment, memory):
        seen = memory["seen"] + 1
        again = jax.random.fold_in(memory["key"], 1)
        return Step(
            {"pull": self.pull(batch)}, {"seen": seen.mean(), "done": moment.done}, {"seen": seen, "key": again}
        )

    def memory(self, task, batch):
        return {"seen": jnp.zeros(len(batch.code)), "key": jax.random.key(7)}


@dataclass(frozen=True)
class Counting(Pulled):
    def fresh(self, task, key, precision):
        return CountingNet(START, GOAL)


@pytest.mark.parametrize("seeds", [1, 2])
def test_memory_is_carried_from_step_to_step_and_fresh_in_every_look_at_a_stream(task, support, seeds):
    recipe = dataclasses.replace(STEADY, steps=4, evaluations=2)
    run = train(task, support, Counting(), recipe, seeds=seeds, ensemble="vmap", progress=False, watch=("held_out",))
    for member in run.members:
        first, second = member.history
        assert (first["train/seen"], second["train/seen"]) == (1.5, 3.5)  # means of 1, 2 and of 3, 4
        assert (first["train/done"], second["train/done"]) == (0.125, 0.625)  # of 0, 1/4 and of 2/4, 3/4
        assert (first["held_out/seen"], second["held_out/seen"]) == (1.0, 1.0)
        assert (first["held_out/done"], second["held_out/done"]) == (0.5, 1.0)


def test_a_memory_with_keys_in_it_is_continued_from_a_checkpoint(task, support, tmp_path):
    recipe = dataclasses.replace(STEADY, steps=4)
    run = StageRun(task, support, Counting(), recipe, tmp_path, ())
    state, _ = run.start(0)
    saved = run.checkpoint_of([0])
    saved.save(state, [[]], 1.0)
    found, _, _ = saved.load(state)
    assert (jax.random.key_data(found.memory["key"]) == jax.random.key_data(state.memory["key"])).all()


def test_a_memory_that_does_not_begin_with_the_tasks_is_refused(task, support):
    class Other(PulledNet):
        def memory(self, task, batch):
            return {"held": jnp.zeros((5, 2))}

    class Made(Pulled):
        def fresh(self, task, key, precision):
            return Other(START, GOAL)

    with pytest.raises(rc.UserError, match=r"'held' of shape \(5, 2\).*16"):
        train(task, support, Made(), STEADY, progress=False)
