"""Training: the same numbers however the steps are driven, and nothing lost on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import recombine as rc
from recombine import checkpoints
from recombine.intervals import over_seeds
from recombine.keys import key_for
from recombine.recipe import Recipe, learning_rate_at, optimizer
from recombine.training import _Run, fresh_state, stepper, train

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
    arguments = (task, support.train.sampler(), SHORT.rates(), key_for("train", 0))

    def start():
        return fresh_state(SMALL.build(task, key_for("init", 0)), SHORT)

    whole = advance(start(), *arguments, 12)
    parts = start()
    for count in (1, 4, 7):
        parts = advance(parts, *arguments, count)
    assert same(whole, parts)


def test_one_call_a_step_gives_the_same_numbers(task, support):
    arguments = (task, support.train.sampler(), SHORT.rates(), key_for("train", 0), 12)
    states = [
        stepper(SHORT.shape(), in_scan)(fresh_state(SMALL.build(task, key_for("init", 0)), SHORT), *arguments)
        for in_scan in (True, False)
    ]
    assert close(states[0].net, states[1].net)


def test_members_under_vmap_equal_members_in_threads(task, support):
    threads, vmapped = (train(task, support, SMALL, SHORT, seeds=3, ensemble=e) for e in ("threads", "vmap"))
    for a, b in zip(threads.members, vmapped.members, strict=True):
        assert close(a.net, b.net, atol=1e-4)
        assert a.history[-1]["held_out/r2"] == pytest.approx(b.history[-1]["held_out/r2"], abs=1e-3)


def test_adamw_is_that_of_optax_with_decay_on_matrices_only():
    recipe = Recipe(steps=50, learning_rate=0.02, weight_decay=0.3, nesterov=False, b2=0.99, schedule="cosine")
    parameters = {"w": jnp.ones((3, 2)), "b": jnp.ones(2)}
    schedule = lambda step: learning_rate_at(step, recipe.rates(), "cosine")  # noqa: E731
    mask = {"w": True, "b": False}
    ours, theirs = (
        optimizer(recipe.shape(), recipe.rates()),
        optax.adamw(schedule, b1=0.9, b2=0.99, weight_decay=0.3, mask=mask),
    )
    a, b, state_a, state_b = parameters, parameters, ours.init(parameters), theirs.init(parameters)
    for step in range(20):
        gradient = jax.tree.map(lambda p, step=step: jnp.sin(p * (step + 1)), parameters)
        update_a, state_a = ours.update(gradient, state_a, a)
        update_b, state_b = theirs.update(gradient, state_b, b)
        a, b = optax.apply_updates(a, update_a), optax.apply_updates(b, update_b)
    assert close(a, b, atol=1e-6)


@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear"])
def test_schedule_rises_peaks_and_falls(schedule):
    recipe = Recipe(steps=100, learning_rate=0.5, warmup=0.1, schedule=schedule)
    rate = [float(learning_rate_at(jnp.asarray(step), recipe.rates(), schedule)) for step in range(101)]
    assert rate[0] == pytest.approx(0.05) and rate[9] == pytest.approx(0.5) and rate[10] == pytest.approx(0.5)
    if schedule == "constant":
        assert min(rate[9:]) == pytest.approx(0.5)
    else:
        assert rate[55] == pytest.approx(0.25, abs=1e-6) and rate[100] == pytest.approx(0, abs=1e-6)
        assert all(a >= b for a, b in zip(rate[10:], rate[11:], strict=False))


def test_clipping_bounds_what_the_optimizer_sees():
    recipe = Recipe(clip=1.0)
    parameters = {"w": jnp.zeros((2, 2))}
    clipped = optimizer(recipe.shape(), recipe.rates())
    huge, unit = ({"w": jnp.full((2, 2), v)} for v in (1e6, 0.5))  # the second has norm 1
    (a, _), (b, _) = (clipped.update(g, clipped.init(parameters), parameters) for g in (huge, unit))
    assert close(a, b)


def test_recipes_that_differ_in_rates_share_a_program():
    assert stepper(Recipe(learning_rate=1e-3, steps=10, b2=0.9).shape(), True) is stepper(Recipe().shape(), True)
    assert stepper(Recipe(tasks=7).shape(), True) is not stepper(Recipe().shape(), True)


def test_a_diverged_member_is_reported_and_enters_no_mean(task, support):
    run = train(task, support, SMALL, Recipe(steps=60, tasks=16, learning_rate=1e12, schedule="constant", clip=0.0))
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
    monkeypatch.setattr("recombine.training.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("recombine.training.CALL_SECONDS", 0.001)
    how = {"seeds": seeds, "ensemble": "vmap"}
    undisturbed = train(task, support, SMALL, SHORT, **how)

    class Stop(Exception):
        pass

    def stop(seed, step, steps, facts):
        if step >= 22:
            raise Stop

    with pytest.raises(Stop):
        train(task, support, SMALL, SHORT, checkpoint=tmp_path, progress=stop, **how)
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
    run = _Run(task, support, SMALL, SHORT, tmp_path, ("held_out",))
    state = run.start(0)
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps=0"), ({"learning_rate": -1.0}, "learning_rate=-1"), ({"schedule": "cosin"}, "cosine"),
        ({"precision": "fp8"}, "float32"), ({"b2": 2.0}, "b2=2.0"), ({"tasks": True}, "tasks=True"),
        ({"warmup": float("nan")}, "warmup=nan"),
    ],
)  # fmt: skip
def test_bad_recipes_are_refused(change, message):
    with pytest.raises(rc.UserError, match=message):
        Recipe(**change)


def test_bad_calls_are_refused(task, support):
    for arguments, message in (({"seeds": 0}, "seeds=0"), ({"seeds": [1, 1]}, "different"), ({"ensemble": "x"}, "'x'")):
        with pytest.raises(rc.UserError, match=message):
            train(task, support, SMALL, SHORT, **arguments)
    other = rc.supports.random(rc.Subsets(7, 2))
    with pytest.raises(rc.UserError, match="Subsets"):
        train(task, other, SMALL, SHORT)
    with pytest.raises(rc.UserError, match="unknown stream"):
        train(task, support, SMALL, SHORT).score("heldout")


# -- training that goes on ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def begun(task, support):
    return train(task, support, SMALL, SHORT, seeds=[0, 3], progress=False)


@pytest.mark.parametrize("ensemble", ["threads", "vmap"])
def test_going_on_without_learning_changes_nothing(task, support, begun, ensemble):
    still = Recipe(steps=3, tasks=16, learning_rate=1e-12, weight_decay=0.0, schedule="constant", evaluations=1)
    went_on = train(task, support, SMALL, still, seeds=[3, 0], start=begun, ensemble=ensemble, progress=False)
    for before, after in zip(begun.nets[::-1], went_on.nets, strict=True):
        assert close(before, after, atol=1e-7)
    assert went_on.score("held_out").values["r2"] == pytest.approx(begun.score("held_out").values["r2"][::-1], abs=1e-5)


def test_going_on_learns_more_and_leaves_what_it_began_from_as_it_was(task, support, begun):
    kept = jax.tree.map(np.array, eqx.filter(begun.nets, eqx.is_array))
    longer = train(task, support, SMALL, SHORT, seeds=[0], start=begun, progress=False)
    assert longer.members[0].history[0]["loss"] < begun.members[0].history[0]["loss"]
    assert longer.members[0].history[-1]["loss"] < begun.members[0].history[-1]["loss"]
    assert not close(longer.nets[0], begun.nets[0], atol=1e-3)
    assert same(kept, jax.tree.map(np.array, eqx.filter(begun.nets, eqx.is_array))), "its buffers were given away"


def test_going_on_with_other_data_is_a_curriculum(task, space, begun):
    """The first stage trained on one split, the second trains on another: the rest of the space."""
    other = rc.supports.from_combinations(space, begun.support.held_out.combinations())
    recipe = Recipe(steps=300, tasks=16, evaluations=1)
    second = train(task, other, SMALL, recipe, seeds=[0], start=begun, progress=False, watch=())
    assert float(second.score("test")) > begun.score("held_out").values["r2"][0]


def test_a_seed_that_was_not_begun_is_refused(task, support, begun):
    with pytest.raises(rc.UserError, match=r"no healthy net for seeds \[1\]; it has \[0, 3\]"):
        train(task, support, SMALL, SHORT, seeds=[0, 1], start=begun)


# -- penalties ----------------------------------------------------------------------------------------------------


class Pulled(rc.nets.Net):
    """A net that predicts zero, whatever its weights, and is pulled toward a goal by a quadratic penalty."""

    weights: jax.Array
    goal: jax.Array

    def __call__(self, inputs, code):
        zero = jnp.zeros((*inputs.shape[:2], 16)) + 0 * self.weights.sum()
        return zero, {"output": zero}

    def penalty(self, task, batch, key):
        goal = jax.lax.stop_gradient(self.goal)
        return 0.5 * ((self.weights - goal) ** 2).sum() * (len(batch.code) / 16)  # the batch has 16 tasks


class Free(Pulled):
    """The same net without its penalty."""

    def penalty(self, task, batch, key):
        return None


def test_a_penalty_moves_the_weights_as_predicted(task, support):
    recipe = Recipe(tasks=16, learning_rate=0.01, schedule="constant", warmup=0.0, weight_decay=0.0, nesterov=False)
    start, goal = jnp.asarray([0.0, 0.5, -1.0]), jnp.asarray([1.0, 0.5, -1.5])
    advance = stepper(recipe.shape(), True)
    arguments = (task, support.train.sampler(), recipe.rates(), key_for("train", 0))

    def after(steps: int, made: type[Pulled]):
        return advance(fresh_state(made(start.copy(), goal.copy()), recipe), *arguments, steps)

    free, one, many = after(1, Free), after(1, Pulled), after(400, Pulled)
    assert (free.net.weights == start).all(), "nothing but the penalty depends on the weights"
    # Adam's first step has the size of the learning rate and the sign of the gradient, weights - goal
    np.testing.assert_allclose(one.net.weights, start - 0.01 * np.sign(start - goal), atol=1e-6)
    np.testing.assert_allclose(many.net.weights, goal, atol=0.02)
    # it is part of the loss that is reported
    assert float(one.loss_sum) == pytest.approx(float(free.loss_sum) + 0.5 * (1 + 0.25), rel=1e-5)
    assert (many.net.goal == goal).all()


def test_bfloat16_and_float32_give_the_same_score_within_seed_noise():
    space = rc.Subsets(8, 2)
    task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
    found = {}
    for precision in ("float32", "bfloat16"):
        recipe = Recipe(steps=500, precision=precision, evaluations=1)
        found[precision] = train(task, support, rc.nets.MLP(128, 2), recipe, seeds=4).score("held_out", groups=False)
    values = [np.array(score.values["r2"]) for score in found.values()]
    noise = max(v.std(ddof=1) for v in values)
    assert min(v.mean() for v in values) > 0.5, "neither learned, so nothing is compared"
    assert abs(over_seeds((values[0] - values[1]).tolist()).mean) < 2 * noise


def _python(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=os.environ | environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_memory_does_not_grow_with_steps():
    found = json.loads(
        _python("""
        import json, resource
        import recombine as rc
        space = rc.Subsets(8, 2)
        task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
        peaks = []
        for steps in (200, 400, 6000):
            rc.train(task, support, rc.nets.MLP(64, 2), rc.Recipe(steps=steps, evaluations=2), progress=False)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(json.dumps(peaks))
        """)
    )
    grown = (found[2] - found[1]) / 1024
    assert grown < 8, f"{grown:.0f} MB more after 5,600 further steps"


def test_second_start_takes_its_programs_from_the_cache(tmp_path):
    # at a precision that is given: the trial of `auto` is made once a machine, and only by the first of two processes
    code = """
        import json
        import jax
        import recombine as rc
        counts = {}
        def count(event, **facts):
            counts[event] = counts.get(event, 0) + 1
        jax.monitoring.register_event_listener(count)
        space = rc.Subsets(8, 2)
        task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
        recipe = rc.Recipe(steps=20, precision="float32")
        rc.train(task, support, rc.nets.MLP(200, 3), recipe, progress=False).score("held_out")
        print(json.dumps(counts))
    """
    first, second = (json.loads(_python(code, RECOMBINE_CACHE=str(tmp_path))) for _ in range(2))
    misses, hits = "/jax/compilation_cache/cache_misses", "/jax/compilation_cache/cache_hits"
    assert first.get(misses, 0) >= 2 and second.get(hits, 0) >= first[misses], (first, second)
    assert not second.get(misses)
