"""What all grid worlds have in common: scores, streams, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from every_name import WORLDS, every, registered_world
from gridworlds import GOALS, KEY, SUBSETS, T, rows_of

from recombine import Product, Subsets, UserError, supports, tasks
from recombine.keys import STREAMS, key_for
from recombine.tasks import Batch, Goal, Preference, PreferenceIndifferent, PreferenceLookup

GRIDS = [name for name in tasks.registry if issubclass(tasks.registry[name], tasks.Episodes)]


# -- scores -------------------------------------------------------------------------------------------------------


def logits(actions) -> np.ndarray:
    return 5.0 * np.eye(5)[actions]


def scores(world, answer, target) -> dict[str, float]:
    statistics = world.score(np.asarray(answer), Batch(None, target=np.asarray(target)))
    return {metric.name: metric(statistics) for metric in world.metrics}


def test_scores_by_hand():
    world = Preference(Subsets(4, 2), samples=2)
    target = np.full((1, 2, 8), -1)
    target[0, 0, :3], target[0, 1, :2] = [1, 2, 0], [3, 0]
    for wrong, expected in (((), (1, 1)), ((1,), (0.5, 0.8)), ((5,), (1, 1)), ((0, 9), (0, 0.6))):
        said = np.maximum(target, 0).reshape(1, 16)
        said[0, list(wrong)] = (said[0, list(wrong)] + 1) % 5
        said = said.reshape(1, 2, 8)
        for answer in (logits(said), said):  # logits, or the actions themselves
            found = scores(world, answer, target)
            assert (found["episode_accuracy"], found["step_accuracy"]) == pytest.approx(expected), wrong
    none = scores(world, np.zeros((1, 2, 8, 5)), target)
    assert none["episode_accuracy"] == 0 and none["step_accuracy"] == pytest.approx(0.4)


def test_the_loss_is_the_mean_cross_entropy_of_counted_steps():
    world = Preference(Subsets(4, 2))
    rng = np.random.default_rng(0)
    said, target = rng.normal(size=(3, 1, 8, 5)).astype(np.float32), np.full((3, 1, 8), -1)
    target[0, 0, :4], target[1, 0, :1], target[2, 0] = [1, 2, 3, 0], 0, rng.integers(0, 5, 8)
    counted = target >= 0
    p = np.exp(said) / np.exp(said).sum(-1, keepdims=True)
    expected = -np.log(np.take_along_axis(p, np.maximum(target, 0)[..., None], -1)[..., 0][counted]).mean()
    batch = Batch(None, target=jnp.asarray(target))
    assert float(world.loss(jnp.asarray(said), batch)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", GRIDS)
def test_perfect_imitation_scores_one_and_doing_the_same_always_does_not(name):
    made = tasks.registry[name]
    world = made(made.default_space(), seed=2)
    batch = world.sample(KEY, rows_of(world.space))
    target, actions = np.asarray(batch.target), world.words["target"]
    assert scores(world, np.eye(actions)[target], target) == {"episode_accuracy": 1, "step_accuracy": 1}
    assert (world.reward(batch.target, batch) == 1).all()
    for action in range(actions):
        said = np.broadcast_to(np.eye(actions)[action], (*target.shape, actions))
        right = scores(world, said, target)["episode_accuracy"]
        assert right < 0.5 and (world.reward(jnp.asarray(said), batch) == 1).mean() == pytest.approx(right)


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", every(tasks.registry, at_once=WORLDS))
def test_no_two_streams_share_an_item(name):
    """An item is all that is seen in an episode, or one input, or the code where there is no input.

    Held-out tasks are drawn from the held-out side. Where a combination always has the same item, streams of the
    training side repeat each other, and the held-out side must not.
    """
    task = registered_world(name)
    one_factor = len(task.space.columns) == 1
    # names of COGS stand in a few sentences each: no share held out at random leaves all of them trained
    loose = {"compositional": False, "connected": False} if name.startswith("cogs") else {}
    support = supports.gap(task.space) if one_factor else supports.random(task.space, **loose)
    draw = jax.jit(lambda key, rows: task.sample(key, rows))
    where: dict[bytes, str] = {}
    for stream in STREAMS:
        side = support.side(stream)
        assert (side is support.held_out) == (stream == "held_out") or side.size < task.space.size
        batch = draw(key_for(stream, 0), jnp.asarray(side.sample(7, T)))
        items = batch.code if batch.inputs is None else batch.inputs.reshape(T * task.samples, -1)
        shared = "trained" if task.repeats and stream != "held_out" else stream
        for item in np.asarray(items):
            assert where.setdefault(item.tobytes(), shared) == shared, f"{stream} and {where[item.tobytes()]}"


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
    assert world.encoding is not None
    assert world.encoding(jnp.asarray(constituents)).shape == (T, world.shapes().code.shape[1])
    assert world.words.get("code") == world.encoding.vocabulary
