"""What all grid worlds have in common: scores, streams, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gridworlds import GOALS, KEY, SUBSETS, T, rows_of
from recombine import Product, Subsets, UserError, supports, tasks
from recombine.keys import STREAMS, key_for
from recombine.tasks import Goal, Preference, PreferenceIndifferent, PreferenceLookup

GRIDS = [name for name in tasks.registry if issubclass(tasks.registry[name], tasks.Episodes)]


# -- scores -------------------------------------------------------------------------------------------------------


def logits(actions) -> jax.Array:
    return 5 * jax.nn.one_hot(jnp.asarray(actions), 5)


def test_scores_by_hand():
    world = Preference(Subsets(4, 2), samples=2)
    target = np.full((1, 16), -1)
    target[0, :3], target[0, 8:10] = [1, 2, 0], [3, 0]
    for wrong, expected in (((), (1, 1)), ((1,), (0.5, 0.8)), ((5,), (1, 1)), ((0, 9), (0, 0.6))):
        said = np.maximum(target, 0)
        said[0, list(wrong)] = (said[0, list(wrong)] + 1) % 5
        found = world.score(logits(said), jnp.asarray(target))
        assert (float(found["episode_accuracy"]), float(found["step_accuracy"])) == pytest.approx(expected), wrong
    none = world.score(jnp.zeros((1, 16, 5)), jnp.asarray(target))
    assert float(none["episode_accuracy"]) == 0 and float(none["step_accuracy"]) == pytest.approx(0.4)


def test_the_loss_is_the_mean_cross_entropy_of_counted_steps():
    world = Preference(Subsets(4, 2))
    rng = np.random.default_rng(0)
    said, target = rng.normal(size=(3, 8, 5)).astype(np.float32), np.full((3, 8), -1)
    target[0, :4], target[1, :1], target[2] = [1, 2, 3, 0], 0, rng.integers(0, 5, 8)
    counted = target >= 0
    p = np.exp(said) / np.exp(said).sum(-1, keepdims=True)
    expected = -np.log(np.take_along_axis(p, np.maximum(target, 0)[..., None], -1)[..., 0][counted]).mean()
    assert float(world.loss(jnp.asarray(said), jnp.asarray(target))) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", GRIDS)
def test_perfect_imitation_scores_one_and_doing_the_same_always_does_not(name):
    made = tasks.registry[name]
    world = made(made.default_space(), seed=2)
    target = world.sample(KEY, rows_of(world.space)).target
    found = world.score(world.perfect(target), target)
    assert float(found["episode_accuracy"]) == float(found["step_accuracy"]) == 1
    for action in range(world.output_size):
        said = jnp.broadcast_to(jax.nn.one_hot(action, world.output_size), (*target.shape, world.output_size))
        assert float(world.score(said, target)["episode_accuracy"]) < 0.5


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tasks.registry)
def test_no_two_streams_share_an_item(name):
    """An item is all that is seen in an episode, or one input, or the code where there is no input.

    Held-out tasks are drawn from the held-out side. Where a combination always has the same item, streams of the
    training side repeat each other, and the held-out side must not.
    """
    made = tasks.registry[name]
    task = made(made.default_space(), seed=2)
    support = supports.random(task.space) if task.space.width > 1 else supports.gap(task.space)
    draw = jax.jit(lambda key, rows: task.sample(key, rows))
    where: dict[bytes, str] = {}
    for stream in STREAMS:
        side = support.side(stream)
        assert (side is support.held_out) == (stream == "held_out") or side.size < task.space.size
        batch = draw(key_for(stream, 0), jnp.asarray(side.sample(7, T)))
        items = batch.inputs.reshape(T * task.samples, -1) if task.input_size else batch.code
        told = "trained" if task.repeats and stream != "held_out" else stream
        for item in np.asarray(items):
            assert where.setdefault(item.tobytes(), told) == told, f"{stream} and {where[item.tobytes()]}"


# -- bad arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [Preference, PreferenceLookup, PreferenceIndifferent])
def test_more_modules_than_features_are_refused(made):
    with pytest.raises(UserError, match=r"modules=20.*features=16.*features=20 or modules=16"):
        made(Subsets(20, 3))
    made(Subsets(20, 3), features=20)


@pytest.mark.parametrize("name", GRIDS)
def test_few_shot_is_refused(name):
    made = tasks.registry[name]
    with pytest.raises(UserError, match="few-shot"):
        made(made.default_space(), encoding="few-shot")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Preference(GOALS), "Subsets"),
        (lambda: Preference(SUBSETS, features=0), "features=0"),
        (lambda: Preference(SUBSETS, objects=7), "objects=7"),
        (lambda: Goal(SUBSETS), "quadrant, interaction, maze, object"),
        (lambda: Goal(Product(quadrant=4, interaction=5, maze=5)), "quadrant, interaction, maze, object"),
        (lambda: Goal(Product(quadrant=5, interaction=5, maze=5, object=5)), "'quadrant'=5"),
        (lambda: Goal(Product(quadrant=4, interaction=5, maze=65, object=5)), "'maze'=65"),
        (lambda: Goal(GOALS, grid=8), "grid=8 is even.*9 would do"),
        (lambda: Goal(GOALS, grid=5), "grid=5"),
        (lambda: Goal(GOALS, length=0), "length=0"),
        (lambda: Goal(GOALS, encoding_options={"layers": 3}), "no options, got layers"),
        (lambda: Goal(GOALS, encoding="sentense"), "sentense"),
    ],
)
def test_odd_requests_are_refused_in_words(make, words):
    with pytest.raises(UserError, match=words):
        make()


@pytest.mark.parametrize("encoding", ["identity", "orthogonal", "language", "tokens", "interval-shuffle"])
def test_goals_can_be_told_by_any_encoding(encoding):
    world = Goal(GOALS, encoding=encoding)
    constituents = GOALS.multihot(np.asarray(rows_of(GOALS))).astype(np.float32)
    assert world.encoding is not None and world.encoding(jnp.asarray(constituents)).shape == (T, world.code_size)
    assert world.vocabulary == world.encoding.vocabulary
