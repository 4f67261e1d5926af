"""Recipes: schedules, optimizers and averages against closed forms, and refusals that name the near value."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from started import started

import recombine as rc
from recombine.nets import Blueprint, Net, Step
from recombine.training import Recipe, train
from recombine.training.optimizers import gradients, least_square, optimizers
from recombine.training.schedules import learning_rate_at, schedules
from recombine.training.step import stepper
from recombine.training.updates import first_states, updated


def close(a, b, atol=1e-5) -> bool:
    return all(np.allclose(x, y, atol=atol) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


# -- schedules --------------------------------------------------------------------------------------------------------


def rates_of(recipe: Recipe, steps: int | None = None) -> list[float]:
    """The learning rate at each step and at the end."""
    rates = recipe.rates()[""]
    return [
        float(learning_rate_at(jnp.asarray(step), rates, recipe.schedule))
        for step in range((steps or recipe.steps) + 1)
    ]


@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear"])
def test_schedule_rises_peaks_and_falls(schedule):
    rate = rates_of(Recipe(steps=100, learning_rate=0.5, warmup=0.1, schedule=schedule))
    assert rate[0] == pytest.approx(0.05) and rate[9] == pytest.approx(0.5) and rate[10] == pytest.approx(0.5)
    if schedule == "constant":
        assert min(rate[9:]) == pytest.approx(0.5)
    else:
        assert rate[55] == pytest.approx(0.25, abs=1e-6) and rate[100] == pytest.approx(0, abs=1e-6)
        assert all(a >= b for a, b in zip(rate[10:], rate[11:], strict=False))


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_a_schedule_ends_at_its_floor(schedule):
    rate = rates_of(Recipe(steps=100, learning_rate=0.5, warmup=0.0, schedule=schedule, floor=0.2))
    share = [1 - t / 100 if schedule == "linear" else (1 + math.cos(math.pi * t / 100)) / 2 for t in range(101)]
    assert rate == pytest.approx([0.5 * (0.2 + 0.8 * s) for s in share], abs=1e-6)
    assert rate[0] == pytest.approx(0.5) and rate[100] == pytest.approx(0.1)


def test_noam_peaks_at_the_end_of_its_warm_up_and_falls_as_one_by_the_root_of_the_step():
    rate = rates_of(Recipe(steps=1000, learning_rate=0.3, warmup=0.1, schedule="noam"))
    assert int(np.argmax(rate)) == 99 and rate[99] == pytest.approx(0.3)
    assert rate[49] == pytest.approx(0.15), "half way up"
    # as published, factor f, width d and w steps of warm-up: f d^-.5 min(t^-.5, t w^-1.5) at step t = 1, 2, ...
    published = [0.3 * 100**0.5 * min((t + 1) ** -0.5, (t + 1) * 100**-1.5) for t in range(1001)]
    assert rate == pytest.approx(published, rel=1e-5)


def test_halving_halves_the_rate_after_each_half_life():
    rate = rates_of(Recipe(steps=100, learning_rate=0.8, warmup=0.0, schedule="halving", half_life=0.25))
    assert [rate[t] for t in (0, 25, 50, 100)] == pytest.approx([0.8, 0.4, 0.2, 0.05])
    assert all(b / a == pytest.approx(0.5 ** (1 / 25), rel=1e-5) for a, b in zip(rate, rate[1:], strict=False))


# -- optimizers -------------------------------------------------------------------------------------------------------


def wave(step: int) -> dict[str, jnp.ndarray]:
    """A gradient for each step."""
    return {"w": jnp.sin(jnp.arange(6.0).reshape(3, 2) * (step + 1)), "b": jnp.cos(jnp.arange(2.0) + step)}


def directions(recipe: Recipe, steps: int = 20) -> list[dict[str, np.ndarray]]:
    """What an optimizer makes of the gradients."""
    made = optimizers[recipe.optimizer](recipe.rates()[""], recipe.nesterov)
    state, found = made.init(wave(0)), []
    for step in range(steps):
        update, state = made.update(wave(step), state)
        found.append(jax.tree.map(np.asarray, update))
    return found


@pytest.mark.parametrize("nesterov", [False, True])
def test_adamw_is_that_of_optax_with_decay_on_matrices_only(nesterov):
    recipe = Recipe(steps=50, learning_rate=0.02, weight_decay=0.3, nesterov=nesterov, b2=0.99, schedule="cosine")
    parameters = {"w": jnp.ones((3, 2)), "b": jnp.ones(2)}
    groups = {"w": "decay", "b": "no_decay"}
    schedule = lambda step: learning_rate_at(step, recipe.rates()[""], "cosine")  # noqa: E731
    rates, shape = recipe.rates(), recipe.shape()
    theirs = optax.adamw(schedule, b1=0.9, b2=0.99, weight_decay=0.3, nesterov=nesterov, mask={"w": True, "b": False})
    a, b = parameters, parameters
    state_a, state_b = first_states(a, groups, rates, shape), theirs.init(b)
    for step in range(20):
        gradient = jax.tree.map(lambda p, step=step: jnp.sin(p * (step + 1)), parameters)
        a, state_a = updated(a, gradient, state_a, jnp.asarray(step), rates, shape, groups)
        update_b, state_b = theirs.update(gradient, state_b, b)
        b = optax.apply_updates(b, update_b)
    assert close(a, b, atol=1e-6)


@pytest.mark.parametrize("nesterov", [False, True])
def test_adam_atan2_is_the_plain_loop_of_its_definition(nesterov):
    recipe = Recipe(optimizer="adam-atan2", b1=0.8, b2=0.95, nesterov=nesterov)
    found = directions(recipe)
    for name in ("w", "b"):
        m = v = np.zeros_like(np.asarray(wave(0)[name], float))
        for step in range(20):
            g = np.asarray(wave(step)[name], float)
            m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g**2
            mean, power = (0.8 * m + 0.2 * g, step + 2) if nesterov else (m, step + 1)
            expected = np.arctan2(mean / (1 - 0.8**power), np.sqrt(v / (1 - 0.95 ** (step + 1))))
            np.testing.assert_allclose(found[step][name], expected, atol=1e-5)
    assert max(np.abs(d["w"]).max() for d in found) <= math.pi / 2


def test_adam_atan2_does_not_depend_on_the_size_of_the_gradient():
    made = optimizers["adam-atan2"](Recipe(nesterov=False).rates()[""], False)
    for size in (1e-12, 1.0, 1e12):  # an epsilon would be seen at the first
        update, _ = made.update(jnp.asarray([size, -size, 0.0]), made.init(jnp.zeros(3)))
        np.testing.assert_allclose(update, [math.pi / 4, -math.pi / 4, 0.0], atol=1e-6)


def test_sign_sgd_steps_by_the_sign_and_remembers_nothing():
    for step, found in enumerate(directions(Recipe(optimizer="sign-sgd"))):
        assert all((found[name] == np.sign(wave(step)[name])).all() for name in ("w", "b"))


# -- what is done to the gradient first -------------------------------------------------------------------------------


def test_clipping_bounds_what_the_optimizer_sees():
    huge, unit, small = ({"w": jnp.full((2, 2), v)} for v in (1e6, 0.5, 0.1))  # the second has norm 1
    for given, expected in ((huge, unit), (unit, unit), (small, small)):
        norm = jnp.sqrt((given["w"] ** 2).sum())
        assert close(gradients["clip"](given, norm, jnp.asarray(1.0)), expected)


def test_normalizing_gives_every_gradient_one_length_but_zero():
    for given in (1e6, 0.5, 1e-6, 0.0):
        gradient = {"w": jnp.full((2, 2), given), "b": jnp.full(3, -given)}
        norm = jnp.sqrt(sum((leaf**2).sum() for leaf in gradient.values()))
        found = gradients["normalize"](gradient, norm, jnp.asarray(3.0))
        length = math.sqrt(sum(float((leaf**2).sum()) for leaf in found.values()))
        assert length == pytest.approx(3.0 if given else 0.0, rel=1e-5)
        assert not given or close(jnp.sign(found["b"]), -jnp.ones(3))


def test_the_plain_gradient_is_left_as_it_is():
    gradient = {"w": jnp.asarray([3.0, -1e6])}
    assert gradients["plain"](gradient, jnp.asarray(1.0), jnp.asarray(1.0)) is gradient


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
def test_the_least_square_of_a_gradient_is_below_its_norm_and_finite_only_where_that_is(bad):
    rng = np.random.default_rng(0)
    good = {"w": jnp.asarray(rng.normal(size=(5, 4)), jnp.float32), "b": jnp.asarray(rng.normal(size=40), jnp.float32)}
    assert 0 < float(least_square(good)) <= sum(float((leaf**2).sum()) for leaf in good.values())
    assert float(least_square({"w": jnp.full((5, 4), -3.0)})) == pytest.approx(9 * 20), "it is reached"
    for name, leaf in good.items():
        for place in (0, leaf.size - 1):
            assert not jnp.isfinite(least_square(good | {name: leaf.ravel().at[place].set(bad).reshape(leaf.shape)}))
    opposite = {"w": jnp.asarray([[math.inf, -math.inf]]), "b": jnp.asarray([-math.inf]), "none": jnp.zeros((0, 2))}
    assert not jnp.isfinite(least_square(opposite))
    assert jnp.isfinite(least_square(good | {"none": jnp.zeros((0, 2))}))


# -- parameter groups -------------------------------------------------------------------------------------------------


class GroupedNet(Net):
    """A matrix, a vector and an array with a group of its own; the loss has the same slope everywhere."""

    matrix: jax.Array
    vector: jax.Array
    mask: jax.Array
    slope: float | str  # "steps": it grows from step to step

    def __call__(self, batch, key=None):
        zero = jnp.zeros((*batch.inputs.shape[:2], 1))
        return zero, {"output": zero}

    def losses(self, task, batch, moment, memory):
        slope = 1 + 4 * moment.done if self.slope == "steps" else self.slope
        return Step({"slope": slope * (self.matrix.sum() + self.vector.sum() + self.mask.sum())})

    def group(self, path, leaf):
        return "mask" if path == "mask" else super().group(path, leaf)


@dataclass(frozen=True)
class Grouped(Blueprint):
    name: ClassVar[str] = "grouped"
    slope: float | str = 0.0

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        return GroupedNet(jnp.ones((2, 2)), jnp.ones(2), jnp.ones((2, 2)), self.slope)


STEADY = Recipe(
    steps=8, tasks=4, learning_rate=0.1, schedule="constant", warmup=0.0, weight_decay=0.5, groups={"mask": {}}
)


def values_after(task, support, recipe: Recipe, slope: float | str, steps: int = 3) -> dict[str, float]:
    """By array: its value, the same in each place."""
    state = stepper(recipe.shape(), True)(*started(Grouped(slope), task, support, recipe), steps)
    assert all(np.ptp(np.asarray(leaf)) == 0 for leaf in state.trained.values())
    return {path: float(leaf.ravel()[0]) for path, leaf in state.trained.items()}


@pytest.mark.parametrize("name", list(optimizers))
def test_under_a_zero_gradient_only_what_decays_shrinks(task, support, name):
    recipe = dataclasses.replace(STEADY, optimizer=name, groups={"mask": {"weight_decay": 0.0}})
    after = values_after(task, support, recipe, slope=0.0)
    assert after == pytest.approx({"matrix": (1 - 0.1 * 0.5) ** 3, "vector": 1.0, "mask": 1.0})
    like_the_others = values_after(task, support, dataclasses.replace(recipe, groups={"mask": {}}), slope=0.0)
    assert like_the_others["mask"] == like_the_others["matrix"]


def test_a_group_has_a_rate_a_decay_an_optimizer_and_a_schedule_of_its_own(task, support):
    recipe = dataclasses.replace(STEADY, optimizer="sign-sgd", weight_decay=0.0, half_life=0.25)

    def of_mask(**own):
        return values_after(task, support, dataclasses.replace(recipe, groups={"mask": own}), slope=1.0)

    plain = of_mask()
    assert plain == pytest.approx({"matrix": 0.7, "vector": 0.7, "mask": 0.7})
    found = {
        "rate": of_mask(learning_rate=0.01),
        "decay": of_mask(weight_decay=0.5),
        "schedule": of_mask(schedule="halving"),
        "optimizer": of_mask(optimizer="adam-atan2"),
    }
    decayed, halved = 1.0, 1.0
    for step in range(3):
        decayed, halved = decayed - 0.1 * (1 + 0.5 * decayed), halved - 0.1 * 0.5 ** (step / 2)
    expected = {"rate": 0.97, "decay": decayed, "schedule": halved, "optimizer": 1 - 3 * 0.1 * math.pi / 4}
    assert {name: values["mask"] for name, values in found.items()} == pytest.approx(expected, abs=1e-5)
    for values in found.values():
        assert (values["matrix"], values["vector"]) == (plain["matrix"], plain["vector"]), "the others are as before"


def test_rates_of_groups_are_data_and_their_optimizers_are_not():
    recipe = dataclasses.replace(STEADY, groups={"mask": {"learning_rate": 0.1}})
    other = dataclasses.replace(STEADY, groups={"mask": {"learning_rate": 0.7}}, learning_rate=0.3)
    assert stepper(recipe.shape(), True) is stepper(other.shape(), True)
    third = dataclasses.replace(STEADY, groups={"mask": {"learning_rate": 0.1, "optimizer": "sign-sgd"}})
    assert stepper(recipe.shape(), True) is not stepper(third.shape(), True)


def test_groups_without_decays_of_their_own_share_an_optimizer(task, support):
    def shared(**own):
        recipe = dataclasses.replace(STEADY, groups={"mask": own})
        return sorted(started(Grouped(), task, support, recipe)[0].optimizer)

    assert shared() == shared(learning_rate=0.7, weight_decay=0.1, schedule="linear") == ["decay"]
    assert shared(b2=0.5) == shared(b1=0.5) == shared(optimizer="sign-sgd") == ["decay", "mask"]


@pytest.mark.parametrize("own", [{"b1": 0.5}, {"b2": 0.5}])
def test_a_group_has_decays_of_its_own(task, support, own):
    """As if all were trained by them; the others as if none were."""
    recipe = dataclasses.replace(STEADY, weight_decay=0.0, nesterov=False, b1=0.9, b2=0.95)
    mine = values_after(task, support, dataclasses.replace(recipe, groups={"mask": own}), slope="steps")
    all_by_own = values_after(task, support, dataclasses.replace(recipe, **own), slope="steps")
    all_by_theirs = values_after(task, support, recipe, slope="steps")
    assert mine["mask"] == pytest.approx(all_by_own["mask"], rel=1e-6)
    assert mine["matrix"] == pytest.approx(all_by_theirs["matrix"], rel=1e-6)
    assert abs(all_by_own["mask"] - all_by_theirs["mask"]) > 1e-3


def test_a_net_with_a_group_that_the_recipe_does_not_name_is_refused(task, support):
    with pytest.raises(rc.UserError, match=r"'grouped'.*'mask'.*groups=\{'mask': \{\}\}"):
        train(task, support, Grouped(), dataclasses.replace(STEADY, groups={}), progress=False)


# -- recipes as data --------------------------------------------------------------------------------------------------


def test_recipes_go_to_json_and_back_and_are_hashable():
    recipe = Recipe(steps=7, ema=0.9, groups={"mask": {"learning_rate": 0.1, "schedule": "noam"}})
    again = Recipe(**json.loads(json.dumps(recipe.to_json())))
    assert again == recipe and hash(again) == hash(recipe)
    assert Recipe(groups={"mask": {"learning_rate": 0.2}}) != Recipe(groups={"mask": {"learning_rate": 0.1}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"learning_rate": -1.0}, "learning_rate=-1"),
        ({"precision": "fp8"}, "float32"),
        ({"b2": 2.0}, "b2=2.0"),
        ({"tasks": True}, "tasks=True"),
        ({"warmup": float("nan")}, "warmup=nan"),
        ({"optimizer": "adam-atan"}, "'adam-atan'.*'adam-atan2'"),
        ({"schedule": "cosin"}, "'cosin'.*'cosine'"),
        ({"gradient": "clipp"}, "'clipp'.*'clip'"),
        ({"keep": "bets"}, "'bets'.*'best'"),
        ({"hand_over": "row"}, "'row'.*'raw'"),
        ({"history": "loses"}, "'loses'.*'losses'"),
        ({"ema": 1.0}, r"ema=1.*\.999"),
        ({"floor": 1.5}, "floor=1.5.*from 0 to 1"),
        ({"norm": float("inf")}, "norm=inf"),
        ({"keep": "best", "evaluations": 0}, "evaluations=0; 10 would do"),
        ({"groups": {"mask": {"learning_rat": 1.0}}}, "'mask' 'learning_rat'.*'learning_rate'"),
        ({"groups": {"mask": {"weight_decay": -1.0}}}, "weight_decay of group 'mask'=-1.0"),
        ({"groups": {"mask": {"optimizer": "adam"}}}, "'adam'.*'adamw'"),
        ({"groups": {"mask": {"schedule": "linar"}}}, "'linar'.*'linear'"),
        ({"groups": {"mask": 0.1}}, "'mask' has 0.1.*'learning_rate': 0.1"),
        ({"groups": 3}, "groups=3.*'mask'"),
    ],
)
def test_bad_recipes_are_refused(change, message):
    with pytest.raises(rc.UserError, match=message):
        Recipe(**change)


def test_every_schedule_and_optimizer_takes_a_step(task, support):
    for change in [{"schedule": name} for name in schedules] + [{"optimizer": name} for name in optimizers]:
        recipe = Recipe(steps=2, tasks=4, evaluations=1, gradient="normalize", **change)
        (member,) = train(task, support, rc.nets.MLP(8, 1), recipe, progress=False, watch=()).members
        assert member.diverged_at is None and math.isfinite(member.history[-1]["loss"])
